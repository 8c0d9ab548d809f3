"""The tutorial's files and commands work as they are printed."""

import re
import shlex
import subprocess
import sys

import pytest

from gevolve.device.base import Limits
from gevolve.device.registry import open_device
from gevolve.workload.base import SPLITS
from gevolve.workload.error import AGREES, rough_error
from gevolve.workload.locate import locate
from tests.docs.pages import DOCS, save_files, shrink

TUTORIAL = DOCS / "tutorial.md"
FEWER = {"1000": "18", "5000": "20"}
"""Budgets for the test in place of the printed ones; too small to find a best variant to export."""


@pytest.fixture
def folder(tmp_path):
    """A folder with the files that the tutorial tells its reader to save."""
    save_files(TUTORIAL, tmp_path)
    return tmp_path


def test_its_workload_agrees_with_its_reference(folder):
    workload = locate(str(folder / "smooth.py"))
    device = open_device("sim")
    artefact = device.build(workload.load().text)
    for split in SPLITS:
        for case in workload.cases(split):
            gpu = device.open(artefact, Limits())
            got, want = workload.run(gpu, case), workload.reference(case)
            gpu.close()
            assert rough_error(got, want) <= AGREES


@pytest.mark.slow
def test_its_commands_run_one_after_the_other(folder):
    shrink(folder / "smooth.py")
    commands = re.findall(r"^    gevolve (?!--help)(.+)$", TUTORIAL.read_text(), re.MULTILINE)
    assert [command.split()[0] for command in commands] == [
        "run",
        "show",
        "show",
        "show",
        "export",
        "resume",
    ]
    for command in commands:
        words = [FEWER.get(word, word) for word in shlex.split(command)]
        if words[0] == "export":
            words += ["--variant", "v0"]
        done = subprocess.run(
            [sys.executable, "-m", "gevolve", *words],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        assert done.returncode == 0, done.stderr
    assert ".entry" in (folder / "smooth.ptx").read_text()
