"""Delta debugging: the least of a list that still passes a test, asked for in whole rounds.

Zeller and Hildebrandt's algorithm. Every round names all its candidates at once, so that they can be
judged side by side, and goes on with the first in order that passes, whichever was judged first.
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
        rests = [[n for n in left if n not in chunk] for chunk in chunks] if parts > 2 else []
        verdicts = passes([*chunks, *rests])
        found = next((n for n, needed in enumerate(verdicts) if needed), None)
        if found is None:
            if parts == len(left):
                break
            parts = 2 * parts
        else:
            left = verdicts[found] or []
            parts = 2 if found < len(chunks) else parts - 1
        parts = max(2, min(parts, len(left)))
    return left


def _chunks(items: Positions, count: int) -> list[Positions]:
    """So many parts of a list, as equal as can be."""
    ends = [len(items) * n // count for n in range(count + 1)]
    return [items[start:end] for start, end in pairwise(ends)]
