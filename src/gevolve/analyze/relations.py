"""Which edits matter to each other: judged in pairs, then put into groups."""

from collections.abc import Iterable, Sequence
from itertools import combinations

from gevolve.run.findings import EditPair, Effect

SHARE = 0.05
"""Two edits are independent if what they save together is what they save one by one, up to this part
of what the whole patch saves."""


def relate(
    first: int, second: int, alone: Sequence[Effect], effect: Effect, *, margin: float
) -> EditPair:
    """How two edits get on: `alone` is what each edit does by itself, `effect` what the two do.

    Ratios that differ by no more than `margin` are taken to be the same.
    """
    one, other = alone[first].ratio, alone[second].ratio
    expected = None if one is None or other is None else one * other
    return EditPair(
        first=first,
        second=second,
        effect=effect,
        expected=expected,
        relation=_relation(expected, effect.ratio, margin),
    )


def _relation(expected: float | None, ratio: float | None, margin: float) -> str:
    if expected is None:  # one of them fails alone: it needs the other, or the pair fails as well
        return "independent" if ratio is None else "together"
    if ratio is None:
        return "clash"
    if abs(ratio - expected) <= margin:
        return "independent"
    return "together" if ratio < expected else "overlap"


def groups(
    count: int,
    pairs: Iterable[EditPair],
    alone: Sequence[Effect],
    without: Sequence[Effect],
    whole: float = 1.0,
) -> list[list[int]]:
    """Edits that belong together, by position; `whole` is the ratio of all of them.

    An edit that fails alone and with any one other needs more of them: it is put to those without
    which the patch fails. So do edits that do nothing alone and with any one other, and are missed all the same:
    those that are missed alike are put together.
    """
    linked = [{n} for n in range(count)]

    def link(one: int, other: int) -> None:
        joint = linked[one] | linked[other]
        for n in joint:
            linked[n] = joint

    for pair in pairs:
        if pair.relation != "independent":
            link(pair.first, pair.second)
    for lonely in range(count):
        if alone[lonely].ratio is None and len(linked[lonely]) == 1:
            for n in range(count):
                if n != lonely and without[n].ratio is None:
                    link(lonely, n)
    margin = SHARE * abs(1 - whole)
    hidden = [
        (n, ratio)
        for n in range(count)
        if len(linked[n]) == 1
        and abs((alone[n].ratio or 0.0) - 1) <= margin
        and (ratio := without[n].ratio) is not None
        and ratio > whole + margin
    ]
    for (one, first), (other, second) in combinations(hidden, 2):
        if abs(first - second) <= margin:
            link(one, other)
    return [sorted(group) for n, group in enumerate(linked) if min(group) == n]


def pairs_of(positions: Iterable[int]) -> list[tuple[int, int]]:
    """All pairs of some edits, in order."""
    return list(combinations(sorted(positions), 2))
