"""Whole numbers divided as floats: right up to two million, faster, wrong beyond, and never called exact."""

from pathlib import Path

import numpy as np
import pytest

import gevolve
from gevolve.evaluate.pool import Pool
from gevolve.patch import Patch
from gevolve.search import Settings
from gevolve.search.individual import admit

ENOUGH = 2_000_000
COUNT = 20_000


class Divide(gevolve.KernelWorkload):
    source = str(Path(__file__).parent / "numbers.cu")
    most = ENOUGH

    def case(self, rng, size):
        count = COUNT // {"search": 1, "held-out": 2, "large": 1}[size]
        by = np.exp(rng.uniform(0, np.log(self.most), count)).astype(np.int32)
        over = rng.integers(0, self.most, count, np.int32)
        third = count // 3  # a multiple and the number before it are the hardest
        over[:third] = over[:third] // by[:third] * by[:third]
        over[third : 2 * third] = np.maximum(over[:third] - 1, 0)
        by[third : 2 * third] = by[:third]
        return gevolve.Case(over=over, by=by, large=over[::-1].astype(np.int64))

    def run(self, gpu, case):
        count = case.over.size
        out = gpu.empty(4 * count)
        arrays = gpu.array(case.over), gpu.array(case.by), gpu.array(case.large), out
        gpu.launch("divide", -(-count // 128), 128, *arrays, count)
        return out.get()


class Beyond(Divide):
    most = 50 * ENOUGH


def judged(workload, patches):
    with Pool(workload, device="sim:t4", tolerance=0.01, patience=60.0) as pool:
        unedited = pool.prepare().evaluation
        for patch in patches:
            pool.submit(str(patch), patch)
        return unedited, dict(pool.results())


@pytest.fixture(scope="module")
def patches():
    found = Divide().load().sweep(["quotient"], None)
    # All at once, and each: clang makes a quotient and a product of a remainder beside a quotient.
    assert [len(patch) for patch in found] == [3, 1, 1, 1]
    return found


def test_is_right_up_to_two_million_and_faster(patches):
    unedited, found = judged(Divide(), patches)
    assert {one.error for one in found.values()} == {0.0}
    assert all(one.time < unedited.time for one in found.values())
    assert found[str(patches[0])].time < 0.8 * unedited.time


def test_is_wrong_beyond(patches):
    """Large quotients by one, which may be within the tolerance, and then remainders by a whole divisor."""
    _, found = judged(Beyond(), patches)
    assert found[str(patches[0])].verdict == "wrong"
    assert all(one.verdict == "wrong" or one.error > 0 for one in found.values())


def test_is_called_inexact_whatever_it_shows(patches):
    _, found = judged(Divide(), patches[1:2])
    loose = tuple(Divide().load().loose_kinds)
    settings = Settings(rounding=1e-6, tolerance=0.01, approximations=loose)
    (text, one), *_ = found.items()
    alive = admit(Patch.parse(text), one, settings)
    assert alive is not None
    assert alive.error == 1e-6
