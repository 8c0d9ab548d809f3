"""The costs of a variant are worked out apart: whatever it does, the run that it belongs to ends well."""

import os
import signal

import pytest

from gevolve.analyze import cost
from gevolve.errors import EvaluationError
from gevolve.run.run import Run
from gevolve.system.confine import enforced
from tests.analyze import runs


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return runs.make(tmp_path_factory.mktemp("costs") / "run", runs.edits("fast"))


def ends(*_):
    os.kill(os.getpid(), signal.SIGSEGV)


def writes(*_):
    os.close(os.open("/dev/zero", os.O_WRONLY))


CONFINED = pytest.mark.skipif("no file is written" not in enforced(), reason="no Landlock here")


@pytest.mark.parametrize(
    ("does", "says"),
    [(ends, "ended with SIGSEGV"), pytest.param(writes, "Permission denied", marks=CONFINED)],
)
def test_a_variant_that_ends_its_process_or_writes_is_only_told_of(folder, monkeypatch, does, says):
    monkeypatch.setattr(cost, "_costs", does)
    with Run.open(folder) as run, pytest.raises(EvaluationError, match=says):
        cost._costs_apart(run, "v0")
