"""Which kinds of edit paid: how many were tried, how many worked, how many reached the front.

The store does not say who descends from whom, but an edit carries a seed that no other has, so the
first variant that has it is the one that introduced it, and any later one inherited it.
"""

from collections.abc import Mapping
from typing import Any

from gevo.patch import Edit, Patch
from gevo.result import Entry


class Kinds:
    """Counts edits by kind as variants come in."""

    def __init__(self) -> None:
        self._first: dict[Edit, tuple[int, bool]] = {}

    def add(self, id_: int, patch: Patch, *, ok: bool) -> None:
        """Take note of a variant and whether it worked."""
        for edit in patch:
            first = self._first.get(edit)
            if first is None or id_ < first[0]:
                self._first[edit] = (id_, ok)

    def table(
        self, patches: Mapping[int, Patch], ever: set[int], best: Entry | None
    ) -> list[dict[str, Any]]:
        """By kind: edits tried, those whose first variant worked, that reached the front, the best."""
        reached = {edit for id_ in ever & patches.keys() for edit in patches[id_]}
        held = set(Patch.parse(best.patch)) if best else set[Edit]()
        counts: dict[str, list[int]] = {}
        for edit, (_, ok) in self._first.items():
            row = counts.setdefault(edit.kind, [0, 0, 0, 0])
            row[0] += 1
            row[1] += ok
            row[2] += edit in reached
            row[3] += edit in held
        names = ("tried", "worked", "front", "best")
        rows = [
            {"kind": kind, **dict(zip(names, row, strict=True))} for kind, row in counts.items()
        ]
        return sorted(rows, key=lambda row: (-row["front"] / row["tried"], row["kind"]))
