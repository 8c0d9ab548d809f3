"""Delta debugging: the least of a list that still passes a test, asked for in whole rounds.

Zeller and Hildebrandt's idea: leave out a half, a quarter and so on, down to single items. Every round names all its
candidates at once, so that they can be judged side by side. Where several parts may go, each alone, the first two, four
and so on up to all of them are left out together next; so a long list of which little is needed gets short in few
rounds, and one of which all is needed costs two questions an item and no more.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

Positions = list[int]
Passes = Callable[[list[Positions]], Sequence[Positions | None]]
"""Judges the candidates of a round: gives what is needed of each that passes, None for the others."""


def ddmin(positions: Sequence[int], passes: Passes) -> Positions:
    """Of these distinct numbers some that pass, and that fail without any one of them.

    All of them are taken to pass, and none of them to fail.
    """
    left = list(positions)
    parts = 2
    while len(left) > 1:
        chunks = _chunks(left, parts)
        verdicts = passes([_without(left, [chunk]) for chunk in chunks])
        spare = [n for n, needed in enumerate(verdicts) if needed]
        if not spare and parts == len(left):
            break
        gone = 0
        if spare:
            alone = verdicts[spare[0]] or []
            gone, left = _together(left, [chunks[n] for n in spare], passes) or (1, alone)
        parts = (parts - gone) * (2 if gone == len(spare) else 1)
        parts = max(2, min(parts, len(left)))
    return left


def _together(
    left: Positions, spare: list[Positions], passes: Passes
) -> tuple[int, Positions] | None:
    """How many of these parts may go together, and what is needed then; None if no two may."""
    counts = [1 << n for n in range(1, len(spare).bit_length()) if 1 << n < len(spare)]
    counts += [len(spare)] * (len(spare) > 1)
    rests = [(count, rest) for count in counts if (rest := _without(left, spare[:count]))]
    if not rests:
        return None
    verdicts = passes([rest for _, rest in rests])
    found = [(n, needed) for (n, _), needed in zip(rests, verdicts, strict=True) if needed]
    return found[-1] if found else None


def _without(items: Positions, parts: list[Positions]) -> Positions:
    gone = {n for part in parts for n in part}
    return [n for n in items if n not in gone]


def _chunks(items: Positions, count: int) -> list[Positions]:
    """So many parts of a list, as equal as can be."""
    ends = [len(items) * n // count for n in range(count + 1)]
    return [items[start:end] for start, end in pairwise(ends)]
