from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gevolve.patch import Edit, Patch
from gevolve.search.crossover import CROSSOVERS, messy, shared
from gevolve.search.settings import PRESETS, Settings

# Few different edits, so that parents often share some.
edits = st.builds(
    Edit,
    st.sampled_from(["copy", "delete"]),
    st.tuples(st.sampled_from(["i1", "i2", "i3"])),
    st.integers(0, 2),
)
patches = st.lists(edits, max_size=8).map(lambda e: Patch(tuple(e)))
seeds = st.integers(0, 2**32)


@given(patches, patches, seeds)
def test_messy_deals_out_every_edit_once(a, b, seed):
    first, second = messy(a, b, np.random.default_rng(seed))
    assert Counter(first) + Counter(second) == Counter(a) + Counter(b)


@given(patches, patches, seeds)
def test_shared_gives_common_edits_to_both_and_each_other_edit_to_one(a, b, seed):
    first, second = map(Counter, shared(a, b, np.random.default_rng(seed)))
    both = set(a) & set(b)
    rest = (set(a) | set(b)) - both
    assert first + second == Counter(dict.fromkeys(both, 2)) + Counter(rest)


@given(patches, patches, seeds)
def test_shared_keeps_the_order_of_the_parents(a, b, seed):
    for child in shared(a, b, np.random.default_rng(seed)):
        for parent in (a, b):
            own = [e for e in dict.fromkeys(parent) if e in set(child)]
            if parent is a:
                assert [e for e in child if e in set(a)] == own
            else:
                alone = [e for e in own if e not in set(a)]
                assert [e for e in child if e not in set(a)] == alone


@given(patches, seeds)
def test_shared_of_a_patch_with_itself_is_that_patch(a, seed):
    single = Patch(tuple(dict.fromkeys(a)))
    assert shared(single, single, np.random.default_rng(seed)) == (single, single)


@pytest.mark.parametrize("kind", CROSSOVERS)
@given(a=patches, b=patches, seed=seeds)
def test_same_seed_same_children(kind, a, b, seed):
    cross = CROSSOVERS[kind]
    assert cross(a, b, np.random.default_rng(seed)) == cross(a, b, np.random.default_rng(seed))


def test_lengths_vary():
    a = Patch(tuple(Edit("copy", ("i1",), seed) for seed in range(5)))
    b = Patch(tuple(Edit("move", ("i1",), seed) for seed in range(5)))
    rng = np.random.default_rng(0)
    assert {len(messy(a, b, rng)[0]) for _ in range(300)} == set(range(11))
    assert {len(shared(a, b, rng)[0]) for _ in range(300)} == set(range(1, 10))


def test_presets_name_crossovers():
    assert {Settings(**preset).crossover_kind for preset in PRESETS.values()} == set(CROSSOVERS)
