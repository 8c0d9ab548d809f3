"""What the docs say of names, options and files is so."""

import re
import runpy

import pytest

from gevolve.evaluate.verdict import Verdict
from tests import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def test_the_command_line_is_described_by_itself():
    made = runpy.run_path(str(ROOT / "scripts" / "cli_reference.py"))
    assert made["PAGE"].read_text() == made["reference"](), "run: python scripts/cli_reference.py"


def test_every_verdict_is_explained():
    page = (ROOT / "docs" / "reference" / "output.md").read_text()
    table = page.partition("## Verdicts")[2]
    assert set(re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)) == set(Verdict)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
    missing = [one for one in links if "://" not in one and not (page.parent / one).exists()]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_are_named_exist(page):
    named = re.findall(r"`((?:src|tests|docs|benchmarks|scripts)/[\w./-]+)`", page.read_text())
    assert [one for one in named if not (ROOT / one).exists()] == []
