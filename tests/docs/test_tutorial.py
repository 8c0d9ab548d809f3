"""The tutorial's files and commands work as they are printed."""

import re
from pathlib import Path

import pytest

from gevo.device import Limits, open_device
from gevo.find import find
from gevo.workload import SPLITS

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"


@pytest.fixture
def folder(tmp_path):
    """A folder with the files that the tutorial tells its reader to save."""
    block = re.compile(r"^```\w+\n(?://|#) (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    for name, text in block.findall(TUTORIAL.read_text()):
        (tmp_path / name).write_text(text)
    return tmp_path


def test_its_workload_agrees_with_its_reference(folder):
    workload = find(str(folder / "blur.py")).workload
    device = open_device("sim")
    artefact = device.build(workload.program().text)
    for split in SPLITS:
        for case in workload.cases(split):
            gpu = device.open(artefact, Limits())
            got, want = workload.run(gpu, case), workload.reference(case)
            gpu.close()
            assert workload.error(got, want) <= workload.rounding
