"""The opening: what it asks for, what it joins, and that it can be resumed anywhere."""

import numpy as np
import pytest

from gevolve.evaluate.verdict import Evaluation, Verdict
from gevolve.patch import Edit, Patch
from gevolve.search.ascent import Ascent
from gevolve.search.elsewhere import FAILS, Elsewhere
from gevolve.search.individual import SAME, Individual
from gevolve.search.joining import joined
from gevolve.search.opening import Opening
from gevolve.search.singles import ENOUGH, HOPELESS

START = 100.0


def edit(number):
    return Edit("e", (str(number),), 1)


def patch(*numbers):
    return Patch(tuple(edit(number) for number in numbers))


class World:
    """Each edit saves some time, alone; some pairs clash, and some edits fail or have an error."""

    def __init__(self, saves, clashes=(), errors=None):
        self.saves, self.clashes, self.errors = saves, clashes, errors or {}

    def judge(self, one):
        numbers = {int(e.args[0]) for e in one}
        if any(number not in self.saves for number in numbers):
            return None
        if any(clash <= numbers for clash in self.clashes):
            return None
        time = START - sum(self.saves[number] for number in numbers)
        error = max((self.errors.get(number, 0.0) for number in numbers), default=0.0)
        return Individual(one, Evaluation(verdict=Verdict.OK, time=time, error=error), time, error)


def unedited():
    return World({}).judge(Patch())


def play(opening, world, most=1000):
    asked = []
    while not opening.over and len(asked) < most:
        patches = opening.ask()
        assert patches
        assert patches == opening.ask()
        asked += patches
        opening.tell(patches, [world.judge(one) for one in patches])
    return asked


def open_with(patches, unedited, *options, **more):
    """The opening of a program: one for those that have an error, one for the others."""
    return (Opening if unedited.error else Ascent)(patches, unedited, *options, **more)


def reached(opening):
    """The best patch."""
    return opening._best[1] if isinstance(opening, Opening) else opening._best.patch


def best(opening):
    return {int(e.args[0]) for e in reached(opening)}


def test_joins_what_paid_of_a_slice_before_the_next():
    world = World({0: 5, 1: 3, 2: -4, 4: 1})  # 3 fails
    opening = open_with([patch(n) for n in range(5)], unedited(), 3)
    asked = play(opening, world)
    assert asked[:3] == [patch(0), patch(1), patch(2)]
    assert asked[3] == patch(0, 1)
    assert asked[4:6] == [patch(0, 1, 3), patch(0, 1, 4)]
    assert best(opening) == {0, 1, 4}
    assert {e.args[0] for e in opening.winners} == {"0", "1", "4"}


@pytest.mark.parametrize("budget", [24, 48, 96, 192])
def test_whenever_it_ends_most_of_what_was_seen_to_pay_is_joined(budget):
    rng = np.random.default_rng(budget)
    saves = {n: float(rng.integers(-4, 3)) / 4 for n in range(150) if rng.random() < 0.7}
    world = World(saves)
    opening = open_with([patch(n) for n in range(150)], unedited(), 12)
    asked = play(opening, world, budget)
    tried = {int(e.args[0]) for one in asked for e in one}
    seen = sum(max(0.0, saves.get(n, 0.0)) for n in tried)
    saved = START - min(one.time for one in map(world.judge, asked) if one)
    assert len(tried) >= budget / 2
    assert saved >= 0.7 * seen


def test_leaves_out_what_clashes():
    world = World({0: 5, 1: 4, 2: 3, 3: 1}, clashes=[{0, 1}])
    opening = open_with([patch(n) for n in range(4)], unedited(), 8)
    play(opening, world)
    assert best(opening) == {0, 2, 3}


def tried_alone(opening, saved):
    """All that an opening tries in slices where everything passes; `saved` gives the time that an edit saves."""
    tried = []
    while not opening.over:
        asked = opening.ask()
        if opening._stage == "single":
            tried += opening._rounds.pool
        one = Evaluation(verdict=Verdict.OK, time=1.0, error=0.0)
        opening.tell(asked, [Individual(p, one, START - sum(map(saved, p)), 0) for p in asked])
    return tried


def test_kinds_that_pay_come_first_and_hopeless_ones_are_given_up():
    def one(kind, n):
        return Patch((Edit(kind, (str(n),), 1),))

    patches = [one(kind, n) for n in range(40) for kind in ("bad", "good")]
    opening = open_with(patches, unedited(), 8, 70)
    tried = tried_alone(opening, lambda edit: edit.kind == "good")
    kinds = [p[0].kind for p in tried]
    assert kinds.count("good") == 40
    assert HOPELESS <= kinds.count("bad") < HOPELESS + 8
    assert kinds[8:30].count("good") > 2 * kinds[8:30].count("bad")


def test_forms_of_one_kind_are_given_up_one_by_one():
    def one(form, n):
        return Patch((Edit("hoist", (f"i{n}", form), 1),))

    patches = [one(form, n) for form in ("loop", "branch") for n in range(30)]
    opening = open_with(patches, unedited(), 8, 50)
    tried = tried_alone(opening, lambda edit: edit.form == "hoist branch")
    forms = [p[0].form for p in tried]
    assert forms.count("hoist branch") == 30
    assert HOPELESS <= forms.count("hoist loop") < HOPELESS + 8


def test_one_that_clashes_with_all_others_does_not_keep_them_apart():
    """They are joined in far fewer evaluations than one by one."""
    count = 24
    saves = {n: 2 + n / 100 for n in range(count)}
    clashes = [{5, n} for n in range(count) if n != 5]
    opening = open_with([patch(n) for n in range(count)], unedited(), 64)
    asked = play(opening, World(saves, clashes))
    assert best(opening) == {*range(count)} - {5}
    assert len(asked) < 4 * count


def test_exact_winners_come_before_those_with_an_error():
    world = World({0: 2, 1: 50, 2: 3}, errors={1: 0.5})
    opening = open_with([patch(n) for n in range(3)], unedited(), 8)
    asked = play(opening, world)
    with_error = [n for n, one in enumerate(asked) if edit(1) in one.edits and len(one) > 1]
    exact = [n for n, one in enumerate(asked) if edit(1) not in one.edits and len(one) > 1]
    assert max(exact) < min(with_error)
    assert best(opening) == {0, 1, 2}


def test_asks_for_nothing_twice_even_if_bundles_overlap():
    world = World(dict.fromkeys(range(6), 1))
    bundles = [patch(0, 1, 2), patch(2, 3), *(patch(n) for n in range(6)), patch(3, 2)]
    opening = open_with(bundles, unedited(), 4)
    asked = [frozenset(one) for one in play(opening, world)]
    assert len(asked) == len(set(asked))
    assert best(opening) == set(range(6))


def test_without_patches_it_is_over_at_once():
    assert open_with([], unedited(), 4).over
    assert open_with([Patch()], unedited(), 4).over


def test_without_a_winner_it_ends_after_the_sweep():
    opening = open_with([patch(n) for n in range(7)], unedited(), 4)
    assert len(play(opening, World({}))) == 7
    assert not opening.winners


@pytest.mark.parametrize("seed", range(20))
def test_goes_on_from_any_state(seed):
    rng = np.random.default_rng(seed)
    saves = {n: int(rng.integers(-3, 6)) for n in range(12) if rng.random() < 0.8}
    errors = {n: 0.1 for n in saves if rng.random() < 0.3}
    clashes = [{int(a), int(b)} for a, b in rng.integers(0, 12, (3, 2)) if a != b]
    world = World(saves, clashes, errors)
    patches = [patch(n) for n in range(12)] + [patch(0, 1, 2), patch(5, 6)]
    whole = open_with(patches, unedited(), 4)
    expected = play(whole, world)
    for cut in range(len(expected)):
        first = open_with(patches, unedited(), 4)
        asked = play(first, world, most=cut)
        seen = {frozenset(one) for one in asked}
        second = open_with(patches, unedited(), 4).resume(first.state(), seen)
        assert asked + play(second, world) == expected
    assert whole._best.time <= START


def test_joined_has_each_edit_once():
    assert joined(patch(1, 2), patch(2, 3)) == patch(1, 2, 3)


def test_of_what_is_struck_the_rest_is_built_on():
    world = World({n: n + 1 for n in range(8)})
    patches = [patch(n) for n in range(8)]
    opening = open_with(patches, unedited(), 4)
    alive: list[Individual] = [unedited()]
    asked: list[Patch] = []
    while best(opening) != {0, 1, 2, 3}:
        now = opening.ask()
        asked += now
        judged = [world.judge(one) for one in now]
        opening.tell(now, judged)
        alive += judged
    bad = patch(2)
    opening.strike(bad, [one for one in alive if edit(2) not in one.patch.edits], FAILS)
    assert best(opening) == {3}
    assert opening.ask()[0] == patch(3, 1, 0)
    again = open_with(patches, unedited(), 4)
    again.resume(opening.state(), {frozenset(one) for one in asked}, [(bad, FAILS)])
    rest = play(opening, world)
    assert rest == play(again, world)
    assert not any(edit(2) in one.edits for one in rest)
    assert best(opening) == {0, 1, 3, 4, 5, 6, 7}
    assert "2" not in {e.args[0] for e in opening.winners}


def test_what_is_exact_where_the_search_looks_alone_is_built_on_where_errors_are_allowed():
    world = World({n: n + 1 for n in range(8)})
    patches = [patch(n) for n in range(8)]
    opening = open_with(patches, unedited(), 4)
    elsewhere = Elsewhere()
    alive: list[Individual] = [unedited()]
    asked: list[Patch] = []

    def go_on(while_):
        while not opening.over and while_():
            now = opening.ask()
            asked.extend(now)
            judged = [elsewhere.corrected(world.judge(one)) for one in now]
            opening.tell(now, judged)
            alive.extend(judged)

    go_on(lambda: best(opening) != {0, 1, 2, 3})
    elsewhere.add(patch(2), 1e-4)
    opening.strike(patch(2), [elsewhere.corrected(one) for one in alive], 1e-4)
    assert best(opening) == {3}
    before = len(asked)
    go_on(lambda: opening.state().stage != "loose")
    assert best(opening) == {0, 1, 3, 4, 5, 6, 7}
    assert not any(edit(2) in one.edits for one in asked[before:])
    go_on(lambda: True)
    assert best(opening) == set(range(8))


class Training(World):
    """Each edit saves some time and some error, alone; the error starts at 0.1."""

    def judge(self, one):
        found = super().judge(one)
        numbers = {int(e.args[0]) for e in one}
        error = 0.1 - sum(self.errors.get(number, 0.0) for number in numbers)
        if found is None or error > 0.12:
            return None
        return Individual(one, found.evaluation, found.time, error)


def test_gains_in_error_are_joined_first_those_that_cost_no_time():
    world = Training(
        {0: 0, 1: 0, 2: -5, 3: 9, 4: -80, 5: 0},
        errors={0: 0.03, 1: 0.01, 2: 0.02, 4: 0.03, 5: 0.001},
    )
    opening = open_with([patch(n) for n in range(6)], world.judge(Patch()), 8, luck=0.002)
    asked: dict[str, list[Patch]] = {}
    while not opening.over:
        patches, stage = opening.ask(), opening._stage
        stage = "again" if stage == "dearer" and "leaner" in asked else stage
        asked.setdefault(stage, []).extend(patches)
        opening.tell(patches, [world.judge(one) for one in patches])
    numbers = {stage: {int(e.args[0]) for one in of for e in one} for stage, of in asked.items()}
    assert numbers["better"] == {0, 1}
    assert patch(0, 1) in asked["better"]
    assert numbers["dearer"] == {0, 1, 2}  # 4 takes too much time, 5 may be luck
    assert patch(0, 1, 2) in asked["dearer"]
    assert best(opening) == {3}
    assert {e.args[0] for e in opening.winners} == {"0", "1", "2", "3", "4"}


def test_what_accuracy_costs_in_time_is_saved_elsewhere():
    """The most accurate takes 6 more; 3 and 5 save 4 each, and 4 even more, but at the cost of all that was gained."""
    world = Training(
        {0: 0, 1: -6, 3: 4, 4: 20, 5: 4},
        errors={0: 0.03, 1: 0.02, 3: -0.0005, 4: -0.019, 5: -0.0005},
    )
    opening = open_with([patch(n) for n in range(6)], world.judge(Patch()), 8, luck=0.002)
    asked = play(opening, world)
    accurate = [one for one in map(world.judge, asked) if one and one.error <= 0.052]
    assert min(one.time for one in accurate) == START + 6 - 8


def test_a_gain_that_may_be_luck_is_not_worth_many_evaluations():
    """Errors of a sample of images differ by more than luck; then time is what the search is for."""
    world = Training({0: 1, 1: 0, 2: 5, 3: 5}, errors={0: 0.005, 1: 0.004, 2: -0.001, 3: -0.001})
    kinds = {0: "a", 1: "b", 2: "c", 3: "c"}
    patches = [Patch((Edit(kinds[n], (str(n),), 1),)) for n in kinds]
    stages = {}
    opening = Opening(patches, world.judge(Patch()), 8, luck=0.002)
    while not opening.over:
        asked, stage = opening.ask(), opening._stage
        stages[stage] = stages.get(stage, 0) + len(asked)
        plain = [patch(*(int(e.args[0]) for e in one)) for one in asked]
        opening.tell(
            asked,
            [
                Individual(one, found.evaluation, found.time, found.error)
                for one, found in zip(asked, map(world.judge, plain), strict=True)
            ],
        )
    assert "leaner" not in stages
    assert opening._turn == 0
    assert stages["loose"] > stages["better"]


def test_what_does_harm_alone_is_tried_on_top_of_a_gain():
    """A rate that falls: too small a rate alone, and what a large one needs; of all steps at once, or not at all."""

    class Rates(Training):
        def judge(self, one):
            found = super().judge(one)
            numbers = {int(e.args[0]) for e in one}
            gained = 0.03 if {0, 1, 2} <= numbers else 0.0
            return found and Individual(one, found.evaluation, found.time, found.error - gained)

    world = Rates(dict.fromkeys(range(4), 0), errors={0: 0.02, 1: -0.006, 2: -0.006, 3: -0.001})
    patches = [patch(0), patch(1, 2), patch(1), patch(2), patch(3)]
    opening = open_with(patches, world.judge(Patch()), 8, luck=0.002)
    asked = play(opening, world)
    assert min(world.judge(one).error for one in asked) == pytest.approx(0.1 - 0.02 + 0.012 - 0.03)


def test_what_is_best_alone_and_goes_with_nothing_is_not_the_only_start():
    """0 is best alone; the others add up to more, and none of them helps 0."""

    class Alone(Training):
        def judge(self, one):
            rest = Patch(tuple(e for e in one if e != edit(0)))
            found = super().judge(patch(0) if edit(0) in one.edits else rest)
            return found and Individual(one, found.evaluation, found.time, found.error)

    kinds = {0: "a", 1: "b", 2: "c", 3: "c"}

    def named(number):
        return Patch((Edit(kinds[number], (str(number),), 1),))

    def plain(one):
        return patch(*(int(e.args[0]) for e in one))

    world = Alone(dict.fromkeys(range(4), 0), errors={0: 0.03, 1: 0.028, 2: 0.02, 3: 0.01})
    opening = open_with([named(n) for n in range(4)], world.judge(Patch()), 8, luck=0.002)
    least = 1.0
    while not opening.over:
        asked = opening.ask()
        judged = [world.judge(plain(one)) for one in asked]
        least = min(least, *(one.error for one in judged))
        again = [
            Individual(p, one.evaluation, one.time, one.error)
            for p, one in zip(asked, judged, strict=True)
        ]
        opening.tell(asked, again)
    assert least == pytest.approx(0.1 - 0.058)


def test_of_a_program_with_an_error_it_joins_as_soon_as_there_is_enough_to_join():
    world = Training(dict.fromkeys(range(200), 0.5))
    opening = open_with([patch(n) for n in range(200)], world.judge(Patch()), 8)
    asked = play(opening, world)
    singles = [one for one in asked if len(one) == 1]
    assert len(singles) == ENOUGH
    first = asked[len(singles)]
    assert first == patch(0, 1), "the first few together, before each is tried beside the best"
    assert len(asked) < 2 * ENOUGH
    assert best(opening) == set(range(ENOUGH))


def test_kinds_that_only_gain_in_error_are_not_given_up():
    def one(kind, n):
        return Patch((Edit(kind, (str(n),), 1),))

    start = Training({}).judge(Patch())
    opening = open_with([one("rate", n) for n in range(40)], start, 8, 40)
    tried = 0
    while opening._stage == "single":
        asked = opening.ask()
        tried += len(asked)
        opening.tell(asked, [Individual(p, start.evaluation, START, 0.09) for p in asked])
    assert tried == ENOUGH > HOPELESS


def test_a_state_in_the_middle_of_gains_in_error_goes_on_alike():
    world = Training(dict.fromkeys(range(6), 0), errors=dict.fromkeys(range(6), 0.01))
    patches = [patch(n) for n in range(6)]
    whole = open_with(patches, world.judge(Patch()), 4)
    asked: list[Patch] = []
    while not whole.over:
        again = open_with(patches, world.judge(Patch()), 4).resume(
            whole.state(), {frozenset(one) for one in asked}
        )
        now = whole.ask()
        assert again.ask() == now
        asked += now
        whole.tell(now, [world.judge(one) for one in now])
    assert len(asked) > 8


class Company(World):
    """Edits that save nothing alone, or even cost time, and save much once all of them are there."""

    def __init__(self, saves, together, **others):
        super().__init__(saves, **others)
        self.together = [{edit(number) for number in numbers} for numbers in together]

    def judge(self, one):
        found = super().judge(one)
        if found is None:
            return None
        saved = 30 * sum(edits <= set(one) for edits in self.together)
        return Individual(one, found.evaluation, found.time - saved, found.error)


def action(kind, *places):
    return [Patch((Edit(kind, (place, "n"), 1),)) for place in places]


class Places(Company):
    """The same with edits that name their places."""

    def judge(self, one):
        numbered = Patch(tuple(Edit("e", (e.args[0][1:],), 1) for e in one))
        found = Company.judge(self, numbered)
        return found and Individual(one, found.evaluation, found.time, found.error)


def test_what_is_harmless_alone_is_added_to_the_best_by_groups():
    patches = [*action("a", "i0", "i1"), *action("b", "i2", "i3", "i4"), *action("c", "i5")]
    world = Places({0: 4, 2: -1, 3: 0, 4: 0, 5: -20}, [{0, 2, 3, 4}])
    opening = open_with(patches, unedited(), 8)
    asked = play(opening, world)
    assert {e.args[0] for e in reached(opening)} == {"i0", "i2", "i3", "i4"}
    assert not any(edit(1) in one.edits for one in asked[len(patches) :])  # it failed alone
    assert len(asked) < 20


def test_groups_are_added_again_after_a_gain():
    """One group pays only after another, which is tried after it."""
    patches = [*action("b", "i1", "i2"), *action("a", "i3"), *action("c", "i4")]
    world = Places({1: 0, 2: -1, 3: -1, 4: 3}, [{3, 4}, {1, 2, 3}])
    opening = open_with(patches, unedited(), 8)
    play(opening, world)
    assert opening._best.time == START - 61


@pytest.mark.parametrize(("saved", "taken"), [(0.1, {"i0"}), (0.4, {"i0", "i1", "i2"})])
def test_a_group_that_gains_next_to_nothing_is_left_out(saved, taken):
    """Each of its edits costs a little alone; together they save more than that."""

    class Slight(Places):
        def judge(self, one):
            found = super().judge(one)
            less = saved * ({"i1", "i2"} <= {e.args[0] for e in one})
            return found and Individual(one, found.evaluation, found.time - less, found.error)

    opening = open_with([*action("a", "i0"), *action("b", "i1", "i2")], unedited(), 8)
    play(opening, Slight({0: 9, 1: -0.01, 2: -0.01}, []))
    assert {e.args[0] for e in reached(opening)} == taken


def test_what_pays_beside_the_best_is_found_though_its_group_does_not():
    """An edit does nothing alone and much beside the best; the others that do the same cost more than that."""
    patches = [*action("a", "i0"), *action("b", "i1", "i2", "i3", "i4")]
    world = Places({0: 4, 1: -20, 2: 0, 3: -20, 4: -20}, [{0, 2}])
    opening = open_with(patches, unedited(), 8)
    play(opening, world)
    assert {e.args[0] for e in reached(opening)} == {"i0", "i2"}


class Barred(Places):
    """Edit 1 saves next to nothing, and where it is, 2 does not pay, which saves much where 0 is."""

    def __init__(self):
        super().__init__({0: 30, 1: 0.5, 2: -1, 3: -1, 4: 0}, [])

    def judge(self, one):
        found = super().judge(one)
        places = {e.args[0] for e in one}
        saved = 20 * ({"i0", "i2"} <= places and "i1" not in places)
        return found and Individual(one, found.evaluation, found.time - saved, found.error)


BARRED = [*action("a", "i0"), *action("b", "i1"), *action("c", "i3"), *action("d", "i2", "i4")]


def test_a_second_climb_begins_before_small_gains_that_bar_large_ones():
    opening = open_with(BARRED, unedited(), 2)
    asked = play(opening, Barred())
    assert {e.args[0] for e in reached(opening)} == {"i0", "i2"}
    assert opening._best.time == START - 49
    assert joined(BARRED[0], BARRED[1]) in asked  # the first climb went another way


def test_the_higher_of_both_summits_is_kept():
    """With nothing to be found on the second climb, the best is what it was."""
    world = Places({0: 30, 1: 0.5, 2: -1, 3: -1, 4: 0}, [])
    opening = open_with(BARRED, unedited(), 2)
    play(opening, world)
    assert {e.args[0] for e in reached(opening)} == {"i0", "i1"}


def test_what_is_struck_in_a_second_climb_is_not_its_end():
    opening, world = open_with(BARRED, unedited(), 2), Barred()
    alive = []
    while not opening.over:
        patches = opening.ask()
        judged = [world.judge(one) for one in patches]
        opening.tell(patches, judged)
        alive += [one for one in judged if one]
        if {e.args[0] for e in reached(opening)} == {"i0", "i2"}:
            alive = [one for one in alive if not {*reached(opening)} <= {*one.patch}]
            opening.strike(reached(opening), alive, FAILS)
    assert {e.args[0] for e in reached(opening)} == {"i0", "i1"}


def test_goes_on_from_any_state_of_a_second_climb():
    expected = play(open_with(BARRED, unedited(), 2), Barred())
    for cut in range(len(expected)):
        first = open_with(BARRED, unedited(), 2)
        asked = play(first, Barred(), most=cut)
        second = open_with(BARRED, unedited(), 2)
        second.resume(first.state(), {frozenset(one) for one in asked})
        assert asked + play(second, Barred()) == expected


def test_groups_leave_out_what_has_an_error():
    patches = action("a", "i0", "i1", "i2")
    world = Places({0: 0, 1: 0, 2: 0}, [{0, 1}], errors={2: 0.1})
    opening = open_with(patches, unedited(), 8)
    play(opening, world)
    assert {e.args[0] for e in reached(opening)} == {"i0", "i1"}


@pytest.mark.parametrize("seed", range(6))
def test_goes_on_from_any_state_of_groups(seed):
    rng = np.random.default_rng(seed)
    saves = {n: int(rng.integers(-3, 4)) for n in range(10) if rng.random() < 0.8}
    patches = [*action("a", *(f"i{n}" for n in range(5))), *action("b", "i5", "i6", "i7")]
    world = Places(saves, [{*[*saves][:3]}])
    expected = play(open_with(patches, unedited(), 4), world)
    for cut in range(len(expected)):
        first = open_with(patches, unedited(), 4)
        asked = play(first, world, most=cut)
        second = open_with(patches, unedited(), 4)
        second.resume(first.state(), {frozenset(one) for one in asked})
        assert asked + play(second, world) == expected


class Network(World):
    """Blocks that can be left out: each saves time and costs error, of which 0.02 may be lost.

    Block n has a twin, n + 100, that leaves it out in another way: both are as good as one, and the twin needs the
    block before it, whether that was left out or not.
    """

    START = 0.135

    def judge(self, one):
        numbers = {int(e.args[0]) for e in one}
        blocks = {n % 100 for n in numbers}
        needed = {n - 101 for n in numbers if n >= 100 and n - 100 not in numbers}
        time = START - sum(self.saves[n] for n in blocks - needed)
        error = self.START + sum(self.errors.get(n, 0.0) for n in blocks)
        if error > self.START + 0.02:
            return None
        evaluation = Evaluation(verdict=Verdict.OK, time=time, error=error)
        return Individual(one, evaluation, time, error)


def test_an_error_that_may_be_lost_goes_to_what_saves_most_for_it():
    """One that saves a little more than any other, and spends nearly all that may be lost, is left out."""
    count = 15
    saves = {n: 6.2 if n >= 7 else 4.9 for n in range(count)} | {7: 6.3}
    errors = dict.fromkeys(range(count), 0.0018) | {7: 0.016, 0: 0.03, 1: 0.03, 2: 0.03}
    world = Network(saves, errors=errors)
    patches = [patch(n) for n in range(count)]
    opening = open_with(patches, world.judge(Patch()), 32, luck=0.002)
    asked = play(opening, world)
    assert best(opening) == set(range(3, count)) - {7}
    assert len(asked) < 50


def test_ways_to_leave_out_the_same_are_told_apart_in_few_evaluations():
    count = 24
    saves = {n: 2 + n % 5 / 10 for n in range(count)}
    errors = {n: 0.0005 * (n % 4) for n in range(count)} | {5: 0.017, 9: 0.019}
    world = Network(saves, errors=errors)
    patches = [patch(n) for n in [*range(count), *range(101, 100 + count)]]
    opening = open_with(patches, world.judge(Patch()), 32, luck=0.002)
    asked = play(opening, world)
    left_out = START - world.judge(reached(opening)).time
    within = sorted((error, -saves[n]) for n, error in errors.items())
    by_hand, spent = 0.0, 0.0
    for error, saved in within:
        spent += error
        by_hand -= saved if spent <= 0.02 else 0.0
    assert left_out >= 0.95 * by_hand
    assert len(asked) < 120


def test_where_evaluations_are_dear_kinds_are_tried_by_what_they_save():
    def one(kind, n):
        return Patch((Edit(kind, (str(n),), 1),))

    start = Training({}).judge(Patch())
    saves = {"skip": 6.0, "part": 0.4, "taps": 0.5}
    patches = [one(kind, n) for n in range(60) for kind in saves]
    opening = open_with(patches, start, 16, luck=0.002)
    tried: list[str] = []
    while opening._stage == "single":
        asked = opening.ask()
        tried += [p[0].kind for p in asked]
        opening.tell(
            asked,
            [Individual(p, start.evaluation, START - saves[p[0].kind], 0.1) for p in asked],
        )
    assert tried.count("skip") > tried.count("part") + tried.count("taps")
    assert tried.count("part") >= 3
    assert tried.count("taps") >= 3


class Budget(World):
    """Errors add up, and 0.1 may be lost."""

    def judge(self, one):
        found = super().judge(one)
        error = sum(self.errors.get(int(e.args[0]), 0.0) for e in one)
        if found is None or error > 0.1:
            return None
        return Individual(one, found.evaluation, found.time, error)


def test_errors_are_weighed_the_same_where_the_unedited_program_has_none():
    world = Budget({0: 10, 1: 9, 2: 8, 3: 1}, errors={0: 0.1, 1: 0.01, 2: 0.01})
    opening = open_with([patch(n) for n in range(4)], unedited(), 8, luck=0.01)
    play(opening, world)
    assert best(opening) == {1, 2, 3}


def test_what_did_nothing_alone_is_tried_on_top_of_what_made_the_error_less():
    """As a rate that falls, which pays once the rate is large."""

    class Rates(Training):
        def judge(self, one):
            found = super().judge(one)
            if found is None:
                return None
            numbers = {int(e.args[0]) for e in one}
            less = 0.02 if {0, 3} <= numbers else 0.0
            return Individual(one, found.evaluation, found.time, found.error - less)

    world = Rates({0: 0, 1: 0, 2: -9, 3: -0.1, 4: 0}, errors={0: 0.03, 2: 0.001, 3: 0.001})
    opening = open_with([patch(n) for n in range(5)], world.judge(Patch()), 8, luck=0.002)
    asked = play(opening, world)
    assert patch(0, 3) in asked
    assert not {patch(0, 1), patch(0, 4)} & {*asked}, "they did nothing at all"
    assert patch(0, 2) not in asked, "it takes more time"
    found = [one for one in map(world.judge, asked) if one and one.time <= SAME * START]
    assert min(one.error for one in found) == pytest.approx(0.1 - 0.03 - 0.001 - 0.02)


class Momentum(Training):
    """Edits 1 and 2 take time and do harm, alone and each without the other, and pay together on top of edit 0."""

    def judge(self, one):
        found = super().judge(one)
        numbers = {int(e.args[0]) for e in one}
        gained = 0.03 if {0, 1, 2} <= numbers else 0.0
        return found and Individual(one, found.evaluation, found.time, found.error - gained)


def test_what_does_harm_alone_and_takes_time_is_tried_on_top_of_a_gain_and_the_time_is_saved_elsewhere():
    world = Momentum(
        {0: 0, 1: -4, 2: -4, 3: 6, 4: 6},
        errors={0: 0.03, 1: -0.006, 2: -0.006, 3: -0.0005, 4: -0.0005},
    )
    patches = [patch(0), patch(1, 2), *(patch(n) for n in (1, 2, 3, 4))]
    asked = play(open_with(patches, world.judge(Patch()), 8, luck=0.002), world)
    found = [one for one in map(world.judge, asked) if one and one.time <= START]
    assert min(one.error for one in found) == pytest.approx(0.1 - 0.03 + 0.012 - 0.03 + 0.001)


class Recipe(Training):
    """Momentum (edits 1 and 2) fails alone, and with rates that fall (3 and 4) it is far better than what is best alone (0)."""

    def judge(self, one):
        names = {e.kind + e.args[0] for e in one}
        momentum, falls, luck = {"m1", "m2"} <= names, {"d3", "d4"} <= names, "s0" in names
        if momentum and (luck or not falls):
            return None
        error = 0.1 - 0.04 * luck - 0.015 * falls - 0.04 * (momentum and falls)
        time = START + 5 * momentum - 8 * ("f5" in names)
        found = Evaluation(verdict=Verdict.OK, time=time, error=error)
        return Individual(one, found, time, error)


def recipe(*names):
    return Patch(tuple(Edit(name[0], (name[1:],), 1) for name in names))


RECIPES = [recipe("s0"), recipe("m1", "m2"), recipe("d3", "d4"), recipe("f5"), recipe("m1")]


def test_what_fails_alone_is_tried_with_what_else_several_edits_do_at_once():
    world = Recipe({})
    opening = open_with(RECIPES, world.judge(Patch()), 8, luck=0.002)
    asked = play(opening, world)
    assert recipe("d3", "d4", "m1", "m2") in asked
    found = [one for one in map(world.judge, asked) if one and one.time <= START]
    assert min(one.error for one in found) == pytest.approx(0.1 - 0.015 - 0.04)


def test_mixes_that_were_begun_are_gone_on_with_when_resumed():
    world = Recipe({})
    whole = open_with(RECIPES, world.judge(Patch()), 8, luck=0.002)
    asked: list[Patch] = []
    stages: set[str] = set()
    while not whole.over:
        past = whole.state()
        stages.add(past.stage)
        seen = {frozenset(one) for one in asked}
        again = open_with(RECIPES, world.judge(Patch()), 8, luck=0.002).resume(past, seen)
        now = whole.ask()
        assert again.ask() == now
        asked += now
        whole.tell(now, [world.judge(one) for one in now])
    assert {"mixed", "dearer"} <= stages


def test_nothing_is_mixed_where_nothing_of_several_edits_is_more_accurate():
    world = Training(dict.fromkeys(range(6), 1), errors={0: 0.03})
    patches = [patch(0), patch(1, 2), patch(3, 4), patch(5)]
    opening = open_with(patches, world.judge(Patch()), 8, luck=0.002)
    while not opening.over:
        assert opening.state().stage != "mixed"
        asked = opening.ask()
        opening.tell(asked, [world.judge(one) for one in asked])


@pytest.mark.parametrize(("cost", "within"), [(0.004, True), (0.02, False)])
def test_a_part_of_what_was_gained_is_given_for_time_where_it_takes_too_long(cost, within):
    """0 and 1 gain 0.05 and take 6 more; 3 saves 8 and costs more than luck: a quarter of the gain may be given for it."""
    world = Training({0: 0, 1: -6, 3: 8}, errors={0: 0.03, 1: 0.02, 3: -cost})
    opening = open_with([patch(n) for n in (0, 1, 3)], world.judge(Patch()), 8, luck=0.002)
    asked = play(opening, world)
    found = [one for one in map(world.judge, asked) if one and one.time <= START]
    least = min(one.error for one in found)
    assert least == pytest.approx(0.05 + cost if within else 0.07)


def test_time_that_was_saved_is_spent_on_accuracy_again():
    """2 takes 20 more, which is too much on top of 1, that takes 10, until 3 has saved 30."""
    world = Training({0: 0, 1: -10, 2: -20, 3: 30}, errors={0: 0.03, 1: 0.02, 2: 0.015, 3: -0.0005})
    opening = open_with([patch(n) for n in range(4)], world.judge(Patch()), 8, luck=0.002)
    asked = play(opening, world)
    found = [one for one in map(world.judge, asked) if one and one.time <= START]
    assert min(one.error for one in found) == pytest.approx(0.1 - 0.065 + 0.0005)
