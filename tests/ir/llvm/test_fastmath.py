"""Fast maths in a whole kernel: close and faster on numbers of usual size, wrong on tiny ones."""

from pathlib import Path

import numpy as np
import pytest

import gevolve
from gevolve.evaluate.pool import Pool
from gevolve.ir.llvm.codegen import to_ptx
from gevolve.patch import Patch


class Normalise(gevolve.KernelWorkload):
    source = str(Path(__file__).parent / "numbers.cu")
    least, most = 0.1, 10.0

    def case(self, rng, size):
        count = {"search": 2000, "held-out": 1000, "large": 5000}[size]
        x, y = rng.uniform(self.least, self.most, (2, count)).astype(np.float32)
        return gevolve.Case(x=x, y=y)

    def run(self, gpu, case):
        count = case.x.size
        out = gpu.empty(count)
        gpu.launch(
            "normalise", -(-count // 128), 128, gpu.array(case.x), gpu.array(case.y), out, count
        )
        return out.get()


class Tiny(Normalise):
    least, most = 1e-42, 1e-39


def judged(workload, patches):
    with Pool(workload, device="sim:t4", tolerance=0.01, patience=60.0) as pool:
        baseline = pool.prepare()
        for patch in patches:
            pool.submit(str(patch), patch)
        return baseline, dict(pool.results())


@pytest.fixture(scope="module")
def patches():
    found = Normalise().load().sweep(["fastmath"], None)
    assert [patch[0].args[1] for patch in found] == ["all", "ordered", "flush"]  # of one kernel
    return found


def test_is_close_and_faster(patches):
    baseline, found = judged(Normalise(), patches)
    unedited = baseline.evaluation
    every, ordered, flush = (found[str(patch)] for patch in patches)
    assert every.error <= baseline.rounding
    assert ordered.error <= baseline.rounding
    assert flush.error == 0.0  # nothing here is so small
    assert every.time < 0.8 * unedited.time
    assert ordered.time < 0.8 * unedited.time


def test_flushing_pays_beside_approximate_divisions(patches):
    relaxed = Patch(
        tuple(edit for patch in Normalise().load().sweep(["relax"], None)[:1] for edit in patch)
    )
    assert {edit.args[1] for edit in relaxed} == {"afn"}
    both = Patch((*relaxed, *patches[2]))
    _, found = judged(Normalise(), [relaxed, both])
    assert found[str(both)].ok
    assert found[str(both)].time < 0.95 * found[str(relaxed)].time


def test_numbers_that_are_flushed_are_wrong(patches):
    _, found = judged(Tiny(), patches)
    assert {one.verdict for one in found.values()} == {"wrong"}


def test_takes_in_what_other_edits_insert(patches):
    """Whatever the order of a patch, it comes last."""
    program = Normalise().load()
    relaxed = program.sweep(["relax"], None)[0]
    texts = {
        to_ptx(program.apply(Patch((*one, *other))).text)
        for one, other in ((relaxed, patches[0]), (patches[0], relaxed))
    }
    assert len(texts) == 1
    assert "div.approx.ftz.f32" in texts.pop()
