"""Which kinds of edit paid: how many were tried, how many worked, how many reached the front.

The store does not say who descends from whom, but an edit carries a seed that no other has, so the
first variant that has it is the one that introduced it, and any later one inherited it.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from gevolve.patch import Edit


class Kinds:
    """Numbers all edits of a run, and counts them by kind."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        """Every edit in its text form, by number."""
        self._kinds: list[str] = []
        self._first: list[tuple[int, bool]] = []
        """The first variant that had it, and whether that worked."""
        self._tried: Counter[str] = Counter()
        self._worked: Counter[str] = Counter()
        self._numbers: dict[Edit, int] = {}

    def add(self, id_: int, edits: Iterable[Edit], *, ok: bool) -> list[int]:
        """Take note of a variant and whether it worked; gives the numbers of its edits."""
        found: list[int] = []
        for edit in edits:
            number = self._numbers.get(edit)
            if number is None:
                number = self._numbers[edit] = len(self.texts)
                self.texts.append(str(edit))
                self._kinds.append(edit.kind)
                self._first.append((id_, ok))
                self._tried[edit.kind] += 1
                self._worked[edit.kind] += ok
            elif id_ < self._first[number][0]:  # verdicts do not come in the order of ids
                self._worked[edit.kind] += ok - self._first[number][1]
                self._first[number] = (id_, ok)
            found.append(number)
        return found

    def table(self, reached: set[int], held: set[int]) -> list[dict[str, Any]]:
        """By kind: edits tried, those whose first variant worked, that reached the front, the best."""
        front, best = (Counter(self._kinds[number] for number in some) for some in (reached, held))
        rows: list[dict[str, Any]] = [
            {
                "kind": kind,
                "tried": tried,
                "worked": self._worked[kind],
                "front": front[kind],
                "best": best[kind],
            }
            for kind, tried in self._tried.items()
        ]
        return sorted(rows, key=lambda row: (-row["front"] / row["tried"], row["kind"]))
