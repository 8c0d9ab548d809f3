"""What was judged before must not show: caches of code, of any kind, change no evaluation."""

import msgspec
import numpy as np

from gevolve.evaluate.child.main import Problem
from gevolve.evaluate.worker.trial import Trial
from gevolve.patch import Patch
from gevolve.workload.locate import locate

COUNT = 12


def judged(patches):
    """The evaluations of patches, in their order, by what has judged nothing before."""
    workload = locate("tuned/hotspot")
    problem = Problem(
        workload, workload.load(), workload.device("sim:t4"), workload.cases("search")
    )
    trial = Trial(problem, "search", tolerance=None, patience=60.0)
    try:
        found = [trial.evaluate(patch, {}) for patch in patches]
    finally:
        trial.end_child()
    return [msgspec.structs.replace(one, seconds={}) for one in found]


def test_the_order_in_which_variants_are_judged_does_not_matter():
    program, rng = locate("tuned/hotspot").load(), np.random.default_rng(3)
    patches = list[Patch]()
    while len(patches) < COUNT:
        edits = [program.propose(str(kind), rng, {}) for kind in rng.choice(program.kinds, 2)]
        patches.append(Patch(tuple(edit for edit in edits if edit is not None)))
    found = judged(patches)
    assert found == judged(patches[::-1])[::-1]
    assert len({one.fingerprint for one in found}) > 3  # else there is little to mix up
    assert any(one.ok for one in found)
