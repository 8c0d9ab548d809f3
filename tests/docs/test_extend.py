"""The packages of the how-to page are installed, and a search uses all that they add."""

import json
import re
import tomllib

import pytest

from tests.docs.pages import DOCS, save_files
from tests.plugins import install, python
from tests.small.saxpy import SAXPY

PAGE = DOCS / "how-to" / "extend.md"
SECTIONS = dict(
    re.findall(
        r"^## ([^\n]+)\n(.*?)(?=^## |\Z)",
        PAGE.read_text(),
        re.MULTILINE | re.DOTALL,
    )
)
EXAMPLES = {title: text for title, text in SECTIONS.items() if "```toml" in text}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with the package of every section, as its two blocks say."""
    folder = tmp_path_factory.mktemp("site")
    for text in EXAMPLES.values():
        code, *_ = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        (table,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
        project = tomllib.loads(table)["project"]
        install(folder, project["name"], code, project["entry-points"])
    return folder


@pytest.mark.parametrize("title", EXAMPLES)
def test_an_example_is_short(title):
    code, *_ = re.findall(r"```python\n(.*?)```", EXAMPLES[title], re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 30


def test_the_search_climbs_and_goes_on_where_it_was(site):
    command = [
        "-m",
        "gevolve",
        "run",
        SAXPY,
        "--device",
        "sim",
        "--search",
        "climb",
        "--workers",
        "1",
        "--json",
    ]
    settings = ("--set", "population=8", "--set", "edits=['copy', 'delete', 'operand']")
    whole = python(site, *command, *settings, "--evals", "16", "--out", "whole")
    assert whole.returncode == 0, whole.stderr
    parts = python(site, *command, *settings, "--evals", "7", "--out", "parts")
    assert parts.returncode == 0, parts.stderr
    resumed = python(
        site, *["-m", "gevolve", "resume", "parts", "--evals", "16", "--workers", "1", "--json"]
    )
    found, again = json.loads(whole.stdout), json.loads(resumed.stdout)
    assert found["verdicts"] == again["verdicts"]
    assert found["front"] == again["front"]
    assert sum(found["verdicts"].values()) == 16


def test_the_device_is_listed_and_judges_by_its_own_measure(site):
    listed = python(site, "-m", "gevolve", "devices").stdout
    assert re.search(r"^footprint +Runs kernels on sim", listed, re.MULTILINE), listed
    options = "--device footprint --evals 6 --workers 1 --out sized --json"
    done = python(site, "-m", "gevolve", "run", SAXPY, *options.split())
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["baseline"]["time"] == int(found["baseline"]["time"]) > 50
    assert found["verdicts"]["ok"]


def test_the_device_passes_the_suite_for_devices(site, tmp_path):
    save_files(PAGE, tmp_path)
    done = python(
        site, "-m", "pytest", "-q", "-p", "no:cacheprovider", tmp_path / "test_footprint.py"
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
