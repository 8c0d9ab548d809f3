"""Exported models become functions again, in a fresh process: see `load_checks`."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT

SCRIPT = Path(__file__).with_name("load_checks.py")
CHECKS = re.findall(r"^@check\ndef (\w+)", SCRIPT.read_text(), re.MULTILINE)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for step in ("write", "use"):
        done = subprocess.run(
            [sys.executable, "-m", "tests.export.load_checks", step, folder],
            cwd=ROOT,
            capture_output=True,
            check=False,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS)
def test_check(check, outcomes):
    assert outcomes[check] == ""
