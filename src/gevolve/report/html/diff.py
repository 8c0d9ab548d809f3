"""What a patch changes in the text of a program, side by side, each line with the edits that did it.

Works on any IR: the patch is applied edit by edit, and each line of the variant remembers which
edits it went through.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gevolve.patch import Patch
    from gevolve.program import Program

CONTEXT = 3
"""Unchanged lines shown around a change."""
TRACED = 80
"""Of longer patches it is not said which edit changed which line: that takes a diff for each."""
ROWS = 1500
"""No more lines are shown than this."""

_NOISE = re.compile(r"(?:, |\s)![a-zA-Z_.]+ ![0-9]+|\s+loc\([^()]*\)")
"""What LLVM and MLIR attach for debuggers; it is no part of what the program does."""


class Line(NamedTuple):
    """A line of the variant, the line of the unedited program that it is, and who touched it."""

    text: str
    origin: int | None
    edits: tuple[int, ...] = ()


def bare(text: str) -> list[str]:
    """The lines of a program without what is for debuggers only."""
    return [_NOISE.sub("", line).rstrip() for line in text.splitlines()]


def changes(before: Sequence[str], after: Sequence[str]) -> list[tuple[str, int, int, int, int]]:
    """`SequenceMatcher.get_opcodes`, quick where most of both is the same."""
    head = 0
    least = min(len(before), len(after))
    while head < least and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < least - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    matcher = SequenceMatcher(
        None, before[head : len(before) - tail], after[head : len(after) - tail], autojunk=False
    )
    inner = [(tag, *(n + head for n in span)) for tag, *span in matcher.get_opcodes()]
    found: list[Any] = [("equal", 0, head, 0, head)] if head else []
    found += inner
    if tail:
        found.append(("equal", len(before) - tail, len(before), len(after) - tail, len(after)))
    return found


def trace(program: Program, patch: Patch) -> tuple[list[str], list[Line], dict[int, set[int]]]:
    """The unedited lines, the variant's lines, and which edits took unedited lines away."""
    base = bare(program.text)
    lines = [Line(text, number) for number, text in enumerate(base)]
    gone: dict[int, set[int]] = {}
    stops = range(1, len(patch) + 1) if len(patch) <= TRACED else [len(patch)]
    for stop in stops:
        now = bare(program.apply(patch[:stop]).text)
        who = (stop - 1,) if len(patch) <= TRACED else ()
        grown: list[Line] = []
        for tag, a, b, c, d in changes([line.text for line in lines], now):
            if tag == "equal":
                grown += lines[a:b]
                continue
            for line in lines[a:b]:
                if line.origin is not None:
                    gone.setdefault(line.origin, set()).update(line.edits, who)
            inherited = {edit for line in lines[a:b] for edit in line.edits}
            mark = tuple(sorted({*who, *inherited})) if d - c == b - a else who
            grown += [Line(text, None, mark) for text in now[c:d]]
        lines = grown
    return base, lines, gone


def side_by_side(program: Program, patch: Patch) -> dict[str, Any]:
    """Hunks of rows ``[number, text, number, text, edits]``; a side that has no line is None."""
    base, lines, gone = trace(program, patch)
    texts = [line.text for line in lines]
    rows: list[list[Any]] = []
    kept: list[bool] = []
    for tag, a, b, c, d in changes(base, texts):
        if tag == "equal":
            rows += [[i + 1, base[i], c + i - a + 1, texts[c + i - a], None] for i in range(a, b)]
            kept += [False] * (b - a)
            continue
        for k in range(max(b - a, d - c)):
            left = a + k if a + k < b else None
            right = c + k if c + k < d else None
            edits = set(gone.get(left, ())) if left is not None else set[int]()
            if right is not None:
                edits.update(lines[right].edits)
            rows.append(
                [
                    None if left is None else left + 1,
                    None if left is None else base[left],
                    None if right is None else right + 1,
                    None if right is None else texts[right],
                    sorted(edits),
                ]
            )
            kept.append(True)
    hunks = _hunks(rows, kept)
    return {"hunks": hunks, "lines": len(base), "changed": sum(kept)}


def _hunks(rows: list[list[Any]], changed: list[bool]) -> list[list[list[Any]]]:
    """The changed rows with some context, in runs."""
    near = [False] * len(rows)
    for number, is_changed in enumerate(changed):
        if is_changed:
            for other in range(max(0, number - CONTEXT), min(len(rows), number + CONTEXT + 1)):
                near[other] = True
    hunks: list[list[list[Any]]] = []
    shown = 0
    for number, row in enumerate(rows):
        if not near[number] or shown >= ROWS:
            continue
        if number == 0 or not near[number - 1]:
            hunks.append([])
        hunks[-1].append(row)
        shown += 1
    return hunks
