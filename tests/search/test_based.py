"""A search that begins at a variant: all that it asks for builds on it, and it goes on where it was."""

import json

from benchmarks.synthetic.landscape import Landscape
from gevolve.patch import Patch
from gevolve.search import Nsga2Search, Problem, Settings
from gevolve.search.based import BasedSearch

BASE = Patch.parse("copy o1 o2 #1; delete o3 #1")
SETTINGS = Settings(population=8)


def problem(program):
    return Problem(program, program.profile, program.judge(Patch(), 0.0), 5)


def advance(search, program, generations):
    judged = []
    for _ in range(generations):
        patches = search.ask()
        evaluations = [program.judge(patch[len(BASE) :], 0.0) for patch in patches]
        search.tell(evaluations)
        judged += zip(patches, evaluations, strict=True)
    return judged


def test_it_asks_for_what_a_search_of_the_variant_does_behind_the_base():
    program = Landscape(3, sites=20)
    plain = Nsga2Search(problem(program), SETTINGS)
    based = BasedSearch.start(Nsga2Search, problem(program), SETTINGS, BASE)
    assert based.ask() == [BASE + patch for patch in plain.ask()]


def test_it_goes_on_as_if_it_had_never_stopped():
    program = Landscape(3, sites=20)
    search = BasedSearch.start(Nsga2Search, problem(program), SETTINGS, BASE)
    judged = advance(search, program, 4)
    state = json.loads(json.dumps(search.state()))
    other = BasedSearch.restore(Nsga2Search, problem(program), SETTINGS, BASE, state, judged[::-1])
    assert other.ask() == search.ask()
    assert other.state() == search.state()


def test_what_is_struck_is_built_on_no_more():
    program = Landscape(3, sites=20)
    search = BasedSearch.start(Nsga2Search, problem(program), SETTINGS, BASE)
    judged = advance(search, program, 6)
    best = min((one for one in judged if one[1].ok), key=lambda one: one[1].time)[0]
    search.strike(Patch.parse("copy o9 o9 #1"))  # of another variant
    before = search.state()
    search.strike(best)
    assert search.state() != before
    own = frozenset(best[len(BASE) :])
    assert not any(own <= frozenset(patch) for patch in search.ask())
