import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.synthetic.landscape import KINDS, Landscape
from gevolve.errors import OptionError, StoreError, WorkloadError
from gevolve.evaluate.verdict import Evaluation, Verdict
from gevolve.patch import Edit, Patch
from gevolve.search import PRESETS, Individual, Nsga2Search, Problem, Settings, front
from gevolve.search.individual import admit, survivors

PAPER = Settings(**PRESETS["paper"])
SMALL = Settings(population=12, patience=2)


def start(program, options=SMALL, seed=0):
    baseline = program.judge(Patch(), options.tolerance)
    return Nsga2Search(Problem(program, program.profile, baseline, seed), options)


def advance(search, program, generations, tolerance=0.0):
    """Go on for some generations; returns everything asked and judged."""
    judged = []
    for _ in range(generations):
        patches = search.ask()
        evaluations = [program.judge(patch, tolerance) for patch in patches]
        search.tell(evaluations)
        judged += zip(patches, evaluations, strict=True)
    return judged


def restored(search, program, options, judged):
    baseline = program.judge(Patch(), options.tolerance)
    state = json.loads(json.dumps(search.state()))
    return Nsga2Search.restore(
        Problem(program, program.profile, baseline, 0), options, state, judged
    )


@given(st.integers(0, 2**63), st.integers(0, 9), st.sampled_from(["messy", "shared"]))
@settings(max_examples=20, deadline=None)
def test_a_restored_search_goes_on_as_if_it_had_never_stopped(seed, landscape, kind):
    options = replace(SMALL, crossover_kind=kind, tolerance=0.01)
    program = Landscape(landscape, sites=30)
    search = start(program, options, seed)
    judged = []
    for _ in range(8):
        other = restored(search, program, options, reversed(judged))
        assert other.population == search.population
        assert other.front == search.front
        assert other.ask() == search.ask()
        assert other.state() == search.state()
        judged += advance(search, program, 1, options.tolerance)
    alone = start(program, options, seed)
    assert advance(alone, program, 8, options.tolerance) == judged


def test_asking_twice_changes_nothing_and_neither_does_the_state_between():
    program = Landscape()
    search = start(program)
    before = search.state()
    assert search.ask() == search.ask()
    assert search.state() == before


def test_the_sequence_of_one_seed_is_pinned():
    """If this fails, runs of older versions can no longer be resumed: change it knowingly."""
    program = Landscape(3, sites=20)
    search = start(program, SMALL, seed=5)
    advance(search, program, 6)
    assert str(search.ask()[0]) == "move i13 i17 #1605f1b; operand i18 i11 #913d3e60"
    assert search.best.time == pytest.approx(0.9335596985488077)


def test_seeds_differ():
    program = Landscape()
    assert start(program, seed=1).ask() != start(program, seed=2).ask()


def test_nothing_is_asked_twice_and_no_patch_is_too_long():
    options = replace(SMALL, max_edits=4)
    program = Landscape(1, sites=20)
    asked = [patch for patch, _ in advance(start(program, options), program, 60)]
    essences = [frozenset(patch.edits) for patch in asked]
    assert len(set(essences)) == len(essences)
    assert max(map(len, asked)) <= 4
    assert Patch() not in asked


def test_the_paper_preset_starts_with_three_edits_each_that_passed_alone():
    program = Landscape()
    search = start(program, PAPER)
    first = advance(search, program, 1)
    assert len(first) == 256
    assert {len(patch) for patch, _ in first} == {1}
    passed = {patch[0] for patch, evaluation in first if evaluation.ok}
    assert 3 < len(passed) < 256
    second = search.ask()
    fresh = [patch for patch in second if len(patch) == 3 and passed.issuperset(patch)]
    assert len(fresh) >= 128


@given(st.integers(0, 50))
@settings(max_examples=10, deadline=None)
def test_what_lives_is_feasible_and_the_best_is_never_lost(seed):
    options = replace(SMALL, tolerance=0.02, rounding=1e-3)
    program = Landscape(seed, sites=40)
    search = start(program, options, seed)
    everyone = [Individual(Patch(), program.judge(Patch()), 1.0, 0.0)]
    for _ in range(15):
        for patch, evaluation in advance(search, program, 1, options.tolerance):
            if (one := admit(patch, evaluation, options)) is not None:
                everyone.append(one)
        alive = search.population
        assert 1 <= len(alive) <= options.population
        assert all(one.evaluation.ok and one.error <= options.tolerance for one in alive)
        assert min(one.time for one in alive) == min(one.time for one in everyone)
        exact = [one.time for one in alive if one.error == 0]
        assert min(exact) == min(one.time for one in everyone if one.error == 0)
        assert search.best.time == min(exact)
        assert search.front == front(everyone)


def test_rounding_counts_as_exact_and_the_tolerance_bounds():
    options = Settings(tolerance=0.1, rounding=0.01)

    def judged(**fields):
        return admit(Patch(), Evaluation(verdict=Verdict.OK, **fields), options)

    assert judged(time=1.0, error=0.01).error == 0
    assert judged(time=1.0, error=0.02).error == 0.02
    assert judged(time=1.0, error=0.2) is None
    assert judged(time=1.0, error=math.nan) is None
    assert judged(time=math.inf, error=0.0) is None
    assert judged() is None
    assert admit(Patch(), Evaluation(verdict=Verdict.WRONG, time=1.0, error=0.0), options) is None


@given(error=st.floats(0, 0.2), rounding=st.sampled_from([0.0, 1e-7, 0.01]))
def test_an_approximation_is_never_exact_whatever_the_cases_show(error, rounding):
    """Search cases may hide it; it then has the error of rounding at least, and the exact end is without it."""
    options = Settings(tolerance=0.1, rounding=rounding, approximations=("omit",))
    evaluation = Evaluation(verdict=Verdict.OK, time=1.0, error=error)
    loose = admit(Patch.parse("unroll i1 4 #1; omit i3 0 term #1"), evaluation, options)
    exact = admit(Patch.parse("unroll i1 4 #1"), evaluation, options)
    assert (loose is None) == (exact is None) == (error > 0.1)
    if loose is not None:
        assert exact.error == (error if error > rounding else 0)
        assert 0 < loose.error == max(exact.error, rounding or loose.error) <= options.bound
        assert exact.error or not loose.dominates(exact)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 3)), max_size=20))
def test_front_is_what_no_other_dominates_whatever_the_order(rows):
    people = [
        Individual(
            Patch((Edit("copy", (), n),) * length),
            Evaluation(verdict=Verdict.OK),
            float(time),
            float(error),
        )
        for n, (time, error, length) in enumerate(rows)
    ]
    found = front(people)
    assert found == front(reversed(people))
    assert [one.time for one in found] == sorted({one.time for one in found})
    kept = {(one.time, one.error) for one in found}
    free = {(a.time, a.error) for a in people if not any(other.dominates(a) for other in people)}
    assert kept == free


def test_clones_do_not_fill_the_population():
    def variant(n, artefact, time=1.0):
        evaluation = Evaluation(verdict=Verdict.OK, time=time, error=0.0, artefact=artefact)
        return Individual(
            Patch(tuple(Edit("copy", (), s) for s in range(n))), evaluation, time, 0.0
        )

    alive = survivors(
        [variant(5, "a", 0.5), variant(4, "a", 0.5), variant(3, "a", 0.5), variant(9, "b")], SMALL
    )
    assert [len(one.patch) for one in alive] == [3, 4, 9]
    unknown = [variant(n, "") for n in range(1, 6)]
    assert len(survivors(unknown, SMALL)) == 5, "without a hash nothing is known to be a clone"


class Tiny:
    """A program with three variants in all."""

    digest = text = "tiny"
    kinds = ("delete", "never")
    paper_kinds = ("delete",)
    loose_kinds = ()
    profile = None

    def sweep(self, kinds, profile):
        return []

    def propose(self, kind, rng, profile):
        return None if kind == "never" else Edit("delete", (f"i{rng.integers(2)}",), 0)

    def judge(self, patch, tolerance=0.0):
        return Evaluation(verdict=Verdict.OK, time=1.0 - len(set(patch)) / 10, error=0.0)


def test_a_search_that_has_seen_everything_asks_for_nothing():
    program = Tiny()
    search = start(program, replace(SMALL, append=1.0, drop=0.0))
    asked = [patch for patch, _ in advance(search, program, 5)]
    assert {frozenset(patch.edits) for patch in asked} == {
        frozenset({Edit("delete", ("i0",), 0)}),
        frozenset({Edit("delete", ("i1",), 0)}),
        frozenset({Edit("delete", ("i0",), 0), Edit("delete", ("i1",), 0)}),
    }
    assert search.ask() == []
    assert search.best.time == pytest.approx(0.8)


class Barren(Tiny):
    kinds = paper_kinds = loose_kinds = ()


def test_a_program_without_edits():
    assert start(Barren()).ask() == []
    assert start(Barren(), PAPER).ask() == []


class Hopeless(Landscape):
    """Every edit fails."""

    def judge(self, patch, tolerance=0.0):
        ok = Evaluation(verdict=Verdict.OK, time=1.0, error=0.0)
        return Evaluation(verdict=Verdict.CRASH) if patch.edits else ok


def test_a_program_that_every_edit_breaks_keeps_the_search_going():
    program = Hopeless()
    search = start(program)
    judged = advance(search, program, 20)
    assert len(judged) == 20 * SMALL.population
    assert [one.patch for one in search.front] == [Patch()]
    assert search.hypervolume == 0


def test_a_baseline_that_fails_is_refused():
    wrong = Evaluation(verdict=Verdict.WRONG, detail="case 0")
    with pytest.raises(WorkloadError, match=r"unedited program is judged wrong \(case 0\)"):
        Nsga2Search(Problem(Landscape(), None, wrong, 0), SMALL)


def test_telling_too_few_is_an_error():
    search = start(Landscape())
    search.ask()
    with pytest.raises(ValueError, match="12 patches were asked for, 1 told"):
        search.tell([Evaluation(verdict=Verdict.CRASH)])


def test_a_state_without_its_evaluations_is_refused():
    program = Landscape()
    search = start(program)
    judged = advance(search, program, 3)
    with pytest.raises(StoreError, match="do not match its generation 3"):
        restored(search, program, SMALL, judged[:-1])


def test_a_state_that_is_none_is_refused():
    program = Landscape()
    baseline = program.judge(Patch())
    with pytest.raises(StoreError, match="last generation cannot be read"):
        Nsga2Search.restore(Problem(program, None, baseline, 1), SMALL, {"seed": 1}, [])


def test_a_negative_seed_is_refused():
    with pytest.raises(OptionError, match="seed is -1"):
        start(Landscape(), seed=-1)


def random_search(program, seed, budget):
    """The best time among as many fresh variants as the search may judge."""
    rng = np.random.default_rng(seed)
    best = 1.0
    for _ in range(budget):
        kinds = (KINDS[rng.integers(len(KINDS))] for _ in range(rng.integers(1, 4)))
        patch = Patch(tuple(program.propose(kind, rng, program.profile) for kind in kinds))
        evaluation = program.judge(patch)
        best = min(best, evaluation.time or 1.0)
    return best


@pytest.mark.slow
def test_the_search_beats_random_search():
    """On nearly every landscape, and by more than twice the saving in all."""
    budget = 1000
    ours, theirs = [], []
    for seed in range(6):
        program = Landscape(seed)
        search = start(program, Settings(), seed)
        advance(search, program, budget // Settings().population)
        ours.append(1 - search.best.time)
        theirs.append(1 - random_search(program, seed, budget))
    assert sum(a > b for a, b in zip(ours, theirs, strict=True)) >= 5
    assert sum(ours) > 2 * sum(theirs)


def test_only_the_chosen_edit_kinds_are_drawn():
    program = Landscape(sites=30)
    options = replace(SMALL, edits=("-swap", "-move"))
    search = start(program, options)
    judged = advance(search, program, 4)
    drawn = {edit.kind for patch, _ in judged for edit in patch}
    assert drawn == {"copy", "delete", "replace", "operand"}
    assert set(search.shares) == drawn
    with pytest.raises(OptionError, match="edits has bend; the program knows copy"):
        start(program, replace(SMALL, edits=("bend",)))


def test_a_restored_search_draws_the_kinds_that_it_drew_before():
    program, larger = Landscape(sites=30), Landscape(sites=30)
    larger.kinds = (*KINDS, "added-since")
    search = start(program)
    judged = advance(search, program, 2)
    other = restored(search, larger, SMALL, judged)
    assert other.ask() == search.ask()
    smaller = Landscape(sites=30)
    smaller.kinds = KINDS[:-1]
    with pytest.raises(
        StoreError, match="edits of the kinds operand, which the program does not know"
    ):
        restored(search, smaller, SMALL, judged)
