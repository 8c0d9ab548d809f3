"""What the docs say of names, options and files is so."""

import re
import runpy

import numpy as np
import pytest

from gevolve.device.base import Limits
from gevolve.device.registry import open_device
from gevolve.evaluate.verdict import Verdict
from gevolve.workload.locate import locate
from tests import ROOT
from tests.docs.pages import DOCS, save_files

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
    """Those of the project, and Python files of the package without their first two folders."""
    text = page.read_text()
    named = re.findall(r"`((?:src|tests|docs|benchmarks|scripts)/[\w./-]+)`", text)
    named += [
        f"src/gevolve/{one}"
        for one in re.findall(r"`((?!src|tests|scripts|bench)\w+/[\w/]+\.py)`", text)
    ]
    assert [one for one in named if not (ROOT / one).exists()] == []


def test_the_include_path_is_relative_to_the_source(tmp_path):
    save_files(DOCS / "reference" / "workload.md", tmp_path)
    workload = locate(str(tmp_path / "scale.py"))
    device = open_device("sim")
    gpu = device.open(device.build(workload.load().text), Limits())
    (case, *_) = workload.cases("search")
    assert np.allclose(workload.run(gpu, case), workload.reference(case))
    gpu.close()


def test_tests_that_are_named_exist():
    text = "".join(page.read_text() for page in PAGES)
    named = re.findall(r"\b(tests/[\w/]+\.py)::(\w+)", text)
    assert named
    for file, test in named:
        assert re.search(rf"^(?:def|class) {test}\b", (ROOT / file).read_text(), re.MULTILINE)


def test_every_design_decision_is_listed():
    folder = DOCS / "design"
    listed = re.findall(r"\]\((\d\d\d-[\w-]+\.md)\) \| (.+) \|", (folder / "README.md").read_text())
    titles = [
        (path.name, path.read_text().splitlines()[0].split(maxsplit=2)[2])
        for path in sorted(folder.glob("0*.md"))
    ]
    assert listed == titles
