"""The watch against an oracle that compares every pair of accesses."""

from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gevolve.device.base import UNSURE
from gevolve.device.sim import Sim
from gevolve.errors import DeviceError
from gevolve.ir.llvm import load

BLOCKS, THREADS = 2, 64
READ, WRITE, COUNT = 1, 2, 3


@cache
def artefact() -> bytes:
    return Sim().build(load(Path(__file__).parent / "script.cu").text)


def watch(acts, syncs) -> set[str]:
    """The scopes of the races that are found."""
    gpu = Sim().open(artefact(), check="hazards")
    cells, out = gpu.zeros(4, np.int32), gpu.zeros(BLOCKS * THREADS, np.int32)
    table = np.zeros((BLOCKS, len(syncs), THREADS), np.int32)
    for block, thread, step, kind, cell in acts:
        table[block, step, thread] = kind | cell << 2  # cells from 4 on are shared
    given_to = gpu.array(table), gpu.array(np.array(syncs, np.int32)), cells, out, len(syncs)
    gpu.launch("script", BLOCKS, THREADS, *given_to)
    hazards = [hazard for hazard in gpu.usage().hazards if hazard.kind != UNSURE]
    gpu.close()
    assert all(hazard.kind == "race" for hazard in hazards)
    return {hazard.where[0].partition(",")[0] for hazard in hazards}


def races(acts, syncs) -> set[str]:
    """The same by definition."""
    found: set[str] = set()
    for a, b in combinations(sorted(acts, key=lambda act: act[2]), 2):
        (block, thread, step, kind, cell), (block2, thread2, step2, kind2, cell2) = a, b
        if cell != cell2 or {kind, kind2} in ({READ}, {COUNT}):
            continue
        if block != block2:
            found |= set() if cell & 4 else {"between blocks"}
            continue
        if thread == thread2:
            continue
        between = syncs[step:step2]
        if thread // 32 != thread2 // 32:
            found |= set() if 1 in between else {"in a block"}
        elif thread // 16 != thread2 // 16:
            found |= set() if {1, 2} & set(between) else {"in a warp"}
        else:
            found |= set() if {1, 2, 3} & set(between) else {"in a warp"}
    return found


@st.composite
def scripts(draw):
    syncs = draw(st.lists(st.sampled_from([0, 1, 1, 2, 3]), min_size=1, max_size=6))
    act = st.tuples(
        st.integers(0, BLOCKS - 1),
        st.sampled_from([0, 1, 16, 17, 32, 40]),
        st.integers(0, len(syncs) - 1),
        st.sampled_from([READ, WRITE, COUNT]),
        st.sampled_from([4, 5, 0]),  # two cells in shared memory and one in global
    )
    unique = st.lists(act, max_size=14, unique_by=lambda a: a[:3])
    return draw(unique), syncs


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(scripts())
def test_races_are_found_where_they_are(script):
    acts, syncs = script
    found, right = watch(acts, syncs), races(acts, syncs)
    assert found <= right
    assert bool(found) == bool(right)


@pytest.mark.parametrize(
    ("acts", "syncs", "scope"),
    [
        ([(0, 0, 0, WRITE, 4), (0, 40, 1, READ, 4)], [0, 0], "in a block"),
        ([(0, 0, 0, WRITE, 4), (0, 40, 1, READ, 4)], [2, 0], "in a block"),
        ([(0, 0, 0, WRITE, 4), (0, 40, 1, READ, 4)], [1, 0], ""),
        ([(0, 0, 0, WRITE, 4), (0, 17, 1, READ, 4)], [3, 0], "in a warp"),
        ([(0, 0, 0, WRITE, 4), (0, 17, 1, READ, 4)], [2, 0], ""),
        ([(0, 0, 0, WRITE, 4), (0, 1, 1, READ, 4)], [3, 0], ""),
        ([(0, 0, 0, WRITE, 0), (1, 0, 0, READ, 0)], [1], "between blocks"),
        ([(0, 0, 0, WRITE, 4), (1, 0, 0, READ, 4)], [1], ""),
        ([(0, 0, 0, COUNT, 0), (1, 0, 0, COUNT, 0)], [1], ""),
        ([(0, 0, 0, COUNT, 4), (0, 1, 0, COUNT, 4), (0, 1, 1, READ, 4)], [0, 0], "in a warp"),
        ([(0, 0, 0, READ, 4), (0, 40, 0, READ, 4), (0, 1, 1, WRITE, 4)], [2, 0], "in a block"),
    ],
)
def test_what_orders_two_accesses(acts, syncs, scope):
    assert races(acts, syncs) == watch(acts, syncs) == ({scope} if scope else set())


def test_unknown_checks_are_refused():
    with pytest.raises(DeviceError, match="sim has checks hazards, values, forward"):
        Sim().open(artefact(), check="luck")
