import json
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmarks.synthetic.landscape import Landscape
from gevolve.errors import OptionError
from gevolve.patch import Patch
from gevolve.search import Nsga2Search, Problem, Search, Settings, make_settings, search_kind
from gevolve.search import registry as searches
from gevolve.search.islands import Islands, varied

SMALL = Settings(population=8, patience=2, islands=3, exchange=2, tolerance=0.01)
Three = Islands.of(Nsga2Search)


def problem(program, seed=0):
    return Problem(program, program.profile, program.judge(Patch(), SMALL.tolerance), seed)


def advance(search, program, rounds):
    judged = []
    for _ in range(rounds):
        patches = search.ask()
        evaluations = [program.judge(patch, SMALL.tolerance) for patch in patches]
        search.tell(evaluations)
        judged += zip(patches, evaluations, strict=True)
    return judged


@given(st.integers(0, 2**63), st.integers(0, 9))
@example(2988738511823670261, 1)  # two islands judge the same edits in two orders
@settings(max_examples=6, deadline=None)
def test_restored_islands_go_on_as_if_they_had_never_stopped(seed, landscape):
    program = Landscape(landscape, sites=30)
    search = Three(problem(program, seed), SMALL)
    judged = []
    for _ in range(6):
        state = json.loads(json.dumps(search.state()))
        other = Three.restore(problem(program, seed), SMALL, state, reversed(judged))
        assert other.ask() == search.ask()
        assert other.state() == search.state()
        judged += advance(search, program, 1)
    assert advance(Three(problem(program, seed), SMALL), program, 6) == judged


def test_no_island_asks_for_what_another_had_judged():
    program = Landscape(1, sites=8)
    asked = [patch for patch, _ in advance(Three(problem(program), SMALL), program, 25)]
    assert len(set(asked)) == len(asked)
    assert len(asked) > 300


def test_islands_differ_and_the_first_is_the_search_itself():
    program = Landscape(2, sites=30)
    search = Three(problem(program, 7), SMALL)
    alone = Nsga2Search(problem(program, 7), SMALL)
    asked = search.ask()
    assert asked[: len(alone.ask())] == alone.ask()
    assert len(asked) >= 2.5 * SMALL.population
    assert varied(SMALL, 1) != varied(SMALL, 2)
    assert [varied(SMALL, n).sweep for n in range(3)] == [SMALL.sweep, 0, 0]


def test_what_the_user_has_set_stays():
    chosen = replace(SMALL, crossover_kind="messy", append=0.5, drop=0.5)
    kept = {(varied(chosen, n).append, varied(chosen, n).crossover_kind) for n in range(10)}
    assert kept == {(0.5, "messy")}


def test_the_best_of_one_island_reaches_the_others():
    program = Landscape(3, sites=40)

    def shared(exchange):
        """The patches that live on more than one island."""
        search = Three(problem(program), replace(SMALL, exchange=exchange))
        advance(search, program, 8)
        alive = [{one.patch for one in island.population} for island in search._islands]
        assert [island.front for island in search._islands] == [search._islands[0].front] * 3
        return {patch for n, some in enumerate(alive) for patch in some & alive[n - 1]} - {Patch()}

    assert shared(exchange=2)
    assert not shared(exchange=100)


def test_one_island_is_no_island():
    assert search_kind("nsga2", replace(SMALL, islands=1)) is Nsga2Search
    assert issubclass(search_kind("nsga2", SMALL), Islands)
    for wrong in (0, 2000):
        with pytest.raises(OptionError, match=f"islands is {wrong}"):
            Settings(islands=wrong)


def test_a_search_that_knows_no_islands_says_so(monkeypatch):
    class Lonely(Nsga2Search):
        observe = Search.observe

    monkeypatch.setitem(searches._BUILT_IN, "lonely", Lonely)
    chosen = {"islands": 2}
    with pytest.raises(OptionError, match="lonely, which knows no islands"):
        make_settings("lonely", "default", chosen, tolerance=0.0, rounding=0.0)
