"""What a tolerance buys: the fastest exact variant together with edits that lose some of the error that may be lost.

It goes on beside the opening and after it, whatever these try, so that a search that ends early shows it too. All of it
follows from the variants that were judged, in whatever order they came.
"""

from collections.abc import Collection, Iterator, Mapping

from gevolve.patch import Edit, Patch
from gevolve.search.individual import SAME, Individual
from gevolve.search.joining import grouped, joined, price

MARGIN = 0.7
"""What is joined may lose no more than this part, if errors add up: on other cases they are larger at times."""
MUCH = 0.8
"""What saved nothing is tried anew on a best that takes less than this part of the time of what it was tried on."""
PART = 4
"""One in so many places of a generation is for these, beside the others."""


def loosened(
    alive: Collection[Individual], judged: Collection[frozenset[Edit]], bound: float, luck: float
) -> Iterator[Patch]:
    """Patches that may be faster than all exact ones, the best bets first; some were judged before.

    `judged` has the edits of all that was, and `bound` is the error that may be lost; errors that differ by less than
    `luck` may come in any order. Edits that lose some come before the exact ones, what saves least first: an edit finds
    no term to leave out in what another has rewritten.
    """
    exact = [one for one in alive if one.error == 0]
    top = _fastest(exact)
    best = top.patch
    harmless = frozenset(edit for one in exact for edit in one.patch)
    known = {frozenset(one.patch): one for one in alive}
    costs = _costs(known, harmless)
    bets = sorted(_useful(costs), key=lambda edit: (price(*costs[edit], luck), str(edit)))
    fastest = _fastest(alive)
    lossy = Patch(tuple(edit for edit in fastest.patch if edit not in harmless))
    if fastest.error:  # edits that are harmless alone may have it together
        yield joined(lossy if lossy.edits else fastest.patch, best)
    fitting = _fitting(bets, costs, bound)
    count = len(fitting)
    while count:
        together = joined(Patch(tuple(fitting[:count][::-1])), best)
        yield together
        failed = frozenset(together) in judged and frozenset(together) not in known
        count = count // 2 if failed else 0
    base = fastest.patch if fastest.error and {*best} <= {*fastest.patch} else best
    taken = {_place(edit) for edit in base if edit not in harmless}
    yield from (joined(Patch((edit,)), base) for edit in bets if _place(edit) not in taken)
    yield from (joined(group, best) for group in _due(known, judged, harmless, top.time))


def _fastest(individuals: Collection[Individual]) -> Individual:
    """The fastest, and of equals the one with the shortest patch."""
    least = min(one.time for one in individuals)
    equals = (one for one in individuals if one.time == least)
    return min(equals, key=lambda one: (len(one.patch), str(one.patch)))


def _costs(
    known: Mapping[frozenset[Edit], Individual], harmless: frozenset[Edit]
) -> dict[Edit, tuple[float, float]]:
    """Of each edit that made a variant faster and inexact, the part of the time saved and the error lost, at best."""
    found: dict[Edit, tuple[float, float]] = {}
    for key, one in known.items():
        lossy = key - harmless
        base = known.get(key - lossy)
        if not one.error or len(lossy) != 1 or base is None or SAME * one.time >= base.time:
            continue  # what saves next to nothing would only spoil what it is joined with
        (edit,) = lossy
        cost = 1 - one.time / base.time, one.error - base.error
        found[edit] = max(cost, found.get(edit, cost), key=lambda c: (c[0] / (c[1] + 1e-12), c))
    return found


def _due(
    known: Mapping[frozenset[Edit], Individual],
    judged: Collection[frozenset[Edit]],
    harmless: frozenset[Edit],
    time: float,
) -> list[Patch]:
    """Edits that saved nothing where they were tried, all that do the same at once, if the best takes much less time now.

    What is hidden behind doubles or a load that is waited for shows when these are gone.
    """
    tried: dict[Edit, float] = {}
    idle: set[Edit] = set()
    for key in judged:
        lossy = key - harmless
        base, one = known.get(key - lossy), known.get(key)
        if base is None:
            continue
        tried |= {edit: min(base.time, tried.get(edit, base.time)) for edit in lossy}
        if one is not None and len(lossy) == 1 and one.error:
            idle |= lossy if base.time / SAME <= one.time <= SAME * base.time else frozenset()
    due = sorted((edit for edit in idle if time < MUCH * tried[edit]), key=str)
    return grouped(Patch((edit,)) for edit in due)


def _useful(costs: dict[Edit, tuple[float, float]]) -> list[Edit]:
    """Those without another of the same kind at the same place that saves more and loses no more."""
    best: dict[tuple[str, ...], list[Edit]] = {}
    for edit in sorted(costs, key=lambda edit: (-costs[edit][0], costs[edit][1], str(edit))):
        rivals = best.setdefault(_place(edit), [])
        if all(costs[edit][1] < costs[one][1] for one in rivals):
            rivals.append(edit)
    return [edit for rivals in best.values() for edit in rivals]


def _place(edit: Edit) -> tuple[str, ...]:
    """What of its kind an edit is about; there is little left of that for another one."""
    return edit.kind, *edit.args[:1]


def _fitting(bets: list[Edit], costs: dict[Edit, tuple[float, float]], bound: float) -> list[Edit]:
    """Those that may all be added if errors add up, one for each place."""
    left, places, found = MARGIN * bound, set[tuple[str, ...]](), list[Edit]()
    for edit in bets:
        if costs[edit][1] <= left and edit.args[:1] not in places:
            found.append(edit)
            places.add(edit.args[:1])
            left -= costs[edit][1]
    return found
