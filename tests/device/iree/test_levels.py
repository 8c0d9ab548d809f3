"""A run of both levels: the graph first, then kernels, on one front; its module has the edited kernels."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from gevolve.device.iree.library import installed
from gevolve.ir.levels import of_kernel
from gevolve.run.run import Run
from tests import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not installed() or importlib.util.find_spec("jax") is None,
        reason="IREE is not installed; pip install 'gevolve[iree,ml]'",
    ),
]
WORKLOAD = Path(__file__).with_name("levels_workload.py")


def gevolve(*words):
    done = subprocess.run(
        [sys.executable, "-m", "gevolve", *map(str, words)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("levels") / "run"
    budget = ("--evals", 10, "--population", 5, "--workers", 1)
    gevolve(
        "run",
        WORKLOAD,
        "--device",
        "iree:a100",
        "--levels",
        "graph,kernels",
        *budget,
        "--out",
        made,
    )
    return made


def test_graph_and_kernels_share_a_run(folder):
    with Run.open(folder) as run:
        rows = list(run.store.evaluations())
        assert len(rows) == 11
        edited = [row for row in rows if any(map(of_kernel, row.patch))]
        assert {row.generation for row in edited} == {1}
        assert all(row.generation < 1 for row in rows if row not in edited)
        assert any(row.evaluation.ok for row in edited)
        assert "--levels graph,kernels" in run.command
        (edit,) = edited[0].patch[-1:]
        name = edit.args[0]
        assert (
            run.program.describe(edit).sentence
            == f"the kernel {name} is optimized once more, by LLVM"
        )


def test_an_export_has_the_edited_kernel_or_says_that_it_has_not(folder):
    with Run.open(folder) as run:
        rows = run.store.evaluations()
        row = next(one for one in rows if any(map(of_kernel, one.patch)) and one.evaluation.ok)
    name = f"v{row.id}"
    module = folder.with_name("model.vmfb")
    done = gevolve("export", folder, "--variant", name, "--format", "vmfb", "--output", module)
    assert "1 of them edited" in done.stderr
    assert module.stat().st_size > 1000
    done = gevolve("export", folder, "--variant", name, "--output", folder.with_name("model.mlir"))
    assert "it is the graph alone" in done.stderr
