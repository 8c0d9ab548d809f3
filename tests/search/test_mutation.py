import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gevolve.errors import OptionError
from gevolve.patch import Edit, Patch
from gevolve.search.credit import Credit, pick
from gevolve.search.mutation import drop, mutate, reseed
from gevolve.search.settings import PRESETS, Settings

NEW = Edit("copy", ("i9", "i10"), 7)
patches = st.lists(st.integers(0, 99), min_size=1, max_size=9).map(
    lambda seeds: Patch(tuple(Edit("delete", (f"i{n}",), s) for n, s in enumerate(seeds)))
)
seeds = st.integers(0, 2**32)


@given(patches, seeds)
def test_drop_removes_one_edit(patch, seed):
    child = drop(patch, np.random.default_rng(seed))
    assert len(child) == len(patch) - 1
    assert [e for e in patch if e in set(child)] == list(child)


@given(patches, seeds)
def test_reseed_changes_one_seed_and_nothing_else(patch, seed):
    child = reseed(patch, np.random.default_rng(seed))
    assert [(e.kind, e.args) for e in child] == [(e.kind, e.args) for e in patch]
    assert sum(a != b for a, b in zip(patch, child, strict=True)) <= 1
    assert all(0 <= e.seed < 1 << 32 for e in child)


@given(patches, seeds)
def test_mutate_does_one_of_three_things(patch, seed):
    child, kinds = mutate(patch, Settings(), lambda: NEW, np.random.default_rng(seed))
    change = len(child) - len(patch)
    assert change in (-1, 0, 1)
    assert kinds == (("copy",) if change == 1 else ())


@given(seeds)
def test_an_empty_patch_can_only_grow(seed):
    child, _ = mutate(Patch(), Settings(), lambda: NEW, np.random.default_rng(seed))
    assert child == Patch((NEW,))
    assert mutate(Patch(), Settings(), lambda: None, np.random.default_rng(seed))[0] == Patch()


@pytest.mark.parametrize("preset", PRESETS)
@given(seed=seeds)
def test_a_full_patch_does_not_grow(preset, seed):
    settings = Settings(**PRESETS[preset])
    full = Patch(tuple(Edit("delete", (f"i{n}",), 0) for n in range(settings.max_edits)))
    child, _ = mutate(full, settings, lambda: NEW, np.random.default_rng(seed))
    assert len(child) <= settings.max_edits


def test_pick_is_in_proportion():
    rng = np.random.default_rng(0)
    drawn = [pick({"a": 3.0, "b": 0.0, "c": 1.0}, rng) for _ in range(2000)]
    assert drawn.count("b") == 0
    assert drawn.count("a") / 2000 == pytest.approx(0.75, abs=0.04)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=200))
def test_credit_keeps_its_floor_and_sums_to_one(trials):
    credit = Credit("abc", 0.05)
    for kind, paid in trials:
        credit.record([kind], paid=paid)
    shares = credit.shares()
    assert sum(shares.values()) == pytest.approx(1)
    assert min(shares.values()) >= 0.05
    assert Credit.restore("abc", 0.05, credit.state()).shares() == shares


def test_credit_follows_what_pays_and_forgets():
    credit = Credit("ab", 0.05)
    assert credit.shares() == {"a": 0.5, "b": 0.5}
    for _ in range(100):
        credit.record("a", paid=True)
        credit.record("b", paid=False)
    assert credit.shares()["a"] > 0.8
    for _ in range(600):
        credit.record("a", paid=False)
        credit.record("b", paid=True)
    assert credit.shares()["b"] > 0.8


def test_a_floor_that_is_too_high_for_the_number_of_kinds():
    shares = Credit([str(n) for n in range(40)], 0.05).shares()
    assert shares == pytest.approx(dict.fromkeys(shares, 1 / 40))


@pytest.mark.parametrize(
    "wrong",
    [
        {"population": 3},
        {"crossover": 1.1},
        {"mutation": -0.1},
        {"append": 0.7, "drop": 0.4},
        {"tolerance": -1.0},
        {"tolerance": float("nan")},
        {"rounding": float("inf")},
        {"initial_edits": (3, 2)},
        {"initial_edits": (0, 2)},
        {"initial_edits": (1, 9), "max_edits": 8},
        {"clones": 0},
        {"patience": 0},
    ],
)
def test_settings_out_of_range_are_named(wrong):
    with pytest.raises(OptionError, match=next(iter(wrong))):
        Settings(**wrong)


def test_the_papers_figures():
    paper = Settings(**PRESETS["paper"])
    assert (paper.population, paper.crossover, paper.mutation) == (256, 0.8, 0.3)
    assert paper.initial_edits == (3, 3)
