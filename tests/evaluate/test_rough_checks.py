"""Values are followed through PTX, not machine code: a variant may round otherwise there."""

import pytest

from gevolve.evaluate.pool import Pool
from gevolve.evaluate.verdict import Verdict
from gevolve.patch import Patch
from gevolve.workload.locate import locate

FAST = Patch.parse("fastmath b0 all #1")
"""It lets the assembler fuse products and sums."""
FAULTS = {
    "i40": "the store that fills the tile of powers",
    "i42": "the barrier after that",
    "i141": "the barrier before the tile of temperatures is written anew",
}


def judged(patch, tolerance):
    with Pool(locate("papers/hotspot"), device="sim:t4", tolerance=tolerance) as pool:
        pool.prepare()
        pool.submit("one", patch)
        return dict(pool.results())["one"]


@pytest.mark.parametrize("tolerance", [0.01, None])
def test_what_the_assembler_fuses_is_no_race(tolerance):
    found = judged(FAST, tolerance)
    assert found.ok, found.detail
    assert found.error < 1e-5


@pytest.mark.parametrize("instruction", FAULTS)
def test_faults_are_still_found(instruction):
    patch = Patch.parse(f"delete {instruction} #1; {FAST}")
    faults = {Verdict.RACE, Verdict.UNINITIALIZED, Verdict.WRONG, Verdict.NONFINITE}
    assert judged(patch, 0.01).verdict in faults
