"""Says in plain words what an edit made of a kernel, from what is left of it when it is optimised.

The kind of an edit says little: to fix the condition of a branch may remove a loop with all that is in
it, and most deletions only shift work about. So two variants, with the edit and without it, are
optimised, and what sets them apart is looked for, the most telling difference first.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from gevolve.ir.llvm.draft import Draft
from gevolve.ir.llvm.index import Index
from gevolve.ir.llvm.locations import Locations
from gevolve.ir.llvm.portrait import Portrait, feature
from gevolve.program import Change

_VAGUE = frozenset({"operation", "address"})
_PLAINLY = {
    "getelementptr": "address",
    "phi": "start of a block",
    "call": "operation",
    "br": "jump",
}
"""Words for opcodes that people do not know, or that say nothing."""
_PRECISIONS = ("double", "float", "half")
NAMED = 3
"""At most so many source lines are named in a sentence."""


class Drafted(NamedTuple):
    """A variant, as edits left it and as LLVM reads it."""

    draft: Draft
    text: str


def contrast(index: Index, places: Locations, before: Drafted, after: Drafted) -> Change | None:
    """What the second variant does that the first does not; None if nothing recognisable."""
    if before.text == after.text:
        return None
    old, new = Portrait(before.text), Portrait(after.text)
    raw = _Raw(index, places, before.draft, after.draft)
    return next(filter(None, _looks(old, new, raw)), None)


def _looks(old: Portrait, new: Portrait, raw: "_Raw") -> Iterator[Change | None]:
    """Every way to tell two variants apart, the most telling first."""
    yield _fewer(old, new, "barrier", "barrier removed", "removes", "the barrier", "barriers")
    yield _fewer(old, new, "atomic", "atomic removed", "removes", "the atomic", "atomics")
    yield _fewer_loops(old, new)
    yield _fewer_accesses(old, new, "store", "store removed", "removes")
    yield raw.loop()
    yield _fewer(old, new, "branch", "branch fixed", "decides once and for all", "the branch", "branches")  # fmt: skip
    yield _fewer_accesses(old, new, "load", "load removed", "saves")
    yield _lower_precision(old, new)
    yield _fewer(old, new, "warp exchange", "warp exchange removed", "removes", "the warp exchange", "warp exchanges")  # fmt: skip
    yield _fewer(old, new, "function", "function call removed", "saves", "the function call", "function calls")  # fmt: skip
    yield _fewer(old, new, "division", "division removed", "saves", "the division", "divisions")
    if new.count["operation"] < old.count["operation"]:
        yield raw.reuse()
        yield _fewer(old, new, "operation", "computation removed", "saves", "the operation", "operations")  # fmt: skip
    yield raw.barrier()
    yield _reordered(old, new)
    yield _more(old, new)


def _fewer(
    old: Portrait, new: Portrait, word: str, theme: str, verb: str, one: str, many: str
) -> Change | None:
    less = old.count[word] - new.count[word]
    if less <= 0:
        return None
    lines = _sorted(old.lines[word] - new.lines[word])
    return Change(
        theme, f"{verb} {one if less == 1 else f'{less} {many}'}{_at(lines)}", _first(lines)
    )


def _fewer_accesses(
    old: Portrait, new: Portrait, word: str, theme: str, verb: str
) -> Change | None:
    spaces = {key[1] for key in (old.spaces - new.spaces) if key[0] == word}
    where = spaces.pop() if len(spaces) == 1 else ""
    noun = f"{where.strip()}-memory {word}" if where else f"memory {word}"
    return _fewer(old, new, word, theme, verb, f"the {noun}", f"{noun}s")


def _fewer_loops(old: Portrait, new: Portrait) -> Change | None:
    if new.loops.total() >= old.loops.total():
        return None
    lines = _sorted(old.loops - new.loops)
    return Change("loop removed", f"leaves out the loop{_at(lines)}", _first(lines))


def _lower_precision(old: Portrait, new: Portrait) -> Change | None:
    for wide, narrow in pairwise(_PRECISIONS):
        if new.types[wide] < old.types[wide] and new.types[narrow] > old.types[narrow]:
            return Change("precision lowered", f"computes in {narrow} what was {wide}", "")
    return None


def _reordered(old: Portrait, new: Portrait) -> Change | None:
    if old.count != new.count or old.order == new.order:
        return None
    pairs = zip(old.order, new.order, strict=False)
    moved = next((one for one, other in pairs if one != other), old.order[-1])
    what = _PLAINLY.get(moved[1], f"{moved[1]} operation") if moved[0] in _VAGUE else moved[0]
    lines = [moved[2]] if moved[2] else []
    return Change("order changed", f"changes the order of work from the {what}{_at(lines)} on", _first(lines))  # fmt: skip


def _more(old: Portrait, new: Portrait) -> Change | None:
    added = new.count - old.count
    if not added:
        return None
    words = ", ".join(f"{count} {word}{'s' if count > 1 else ''}" for word, count in added.items())
    lines = _sorted(sum((new.lines[word] - old.lines[word] for word in added), type(new.count)()))
    return Change("work added", f"adds {words}{_at(lines)}", _first(lines))


class _Raw:
    """Two drafts of one program, in which whatever was not edited still has its id."""

    def __init__(self, index: Index, places: Locations, before: Draft, after: Draft) -> None:
        self._index, self._places = index, places
        self._before, self._after = before, after

    def loop(self) -> Change | None:
        """A loop that now ends when something else is so."""
        for number, function in enumerate(self._index.functions):
            dominance = self._index.dominance[number]
            for block in function.blocks:
                last = block.body[-1]
                if len(last.blocks) < 2 or not any(
                    dominance.dominates(target, block.id) for target in last.blocks
                ):
                    continue
                if self._slice(self._before, last.id) != self._slice(self._after, last.id):
                    line = str(self._places.of(last) or "")
                    at = f" at {line}" if line else ""
                    return Change("loop bound changed", f"changes when the loop{at} ends", line)
        return None

    def barrier(self) -> Change | None:
        """A barrier that is another one now."""
        for id_, instr in self._index.instr.items():
            old, new = self._before.get(id_), self._after.get(id_)
            if old and new and old.operands != new.operands and feature(instr) == "barrier":
                line = self._line(id_)
                at = f" at {line}" if line else ""
                return Change("barrier changed", f"lets threads wait at another barrier{at}", line)
        return None

    def _slice(self, draft: Draft, root: str) -> frozenset[str]:
        """What decides a branch, up to loads and calls: the texts of the instructions."""
        texts: set[str] = set()
        seen, stack = {root}, [root]
        while stack:
            instr = draft.get(stack.pop())
            if instr is None:
                continue
            texts.add(instr.text)
            if instr.opcode in {"load", "call"}:
                continue
            fresh = {o.local for o in instr.operands if o.local is not None} - seen
            seen |= fresh
            stack += sorted(fresh)
        return frozenset(texts)

    def reuse(self) -> Change | None:
        """A value that now stands for another one as well."""
        for block in sorted(self._before.touched | self._after.touched):
            for id_ in self._index.body[block]:
                old, new = self._before.get(id_), self._after.get(id_)
                if old is None or new is None:
                    continue
                for mine, other in zip(old.operands, new.operands, strict=True):
                    if mine.value == other.value or mine.local is None:
                        continue
                    line = self._line(mine.local) or self._line(id_)
                    at = f" at {line}" if line else ""
                    if other.local is None:
                        return Change(
                            "value fixed", f"takes {other.value} for what is computed{at}", line
                        )
                    source = self._line(other.local)
                    reused = f"the value of {source}" if source else "another value"
                    return Change("value reused", f"takes {reused} for what is computed{at}", line)
        return None

    def _line(self, id_: str) -> str:
        instr = self._before.get(id_) or self._after.get(id_)
        return str(self._places.of(instr) or "") if instr else ""


def _sorted(lines: "dict[str, int]") -> list[str]:
    """Known source lines, in order."""

    def place(line: str) -> tuple[str, int]:
        file, _, number = line.rpartition(":")
        return file, int(number)

    return sorted((line for line in lines if line), key=place)


def _first(lines: list[str]) -> str:
    return lines[0] if lines else ""


def _at(lines: list[str]) -> str:
    if not lines:
        return ""
    more = f" and {len(lines) - NAMED} more lines" if len(lines) > NAMED else ""
    return f" at {', '.join(lines[:NAMED])}{more}"
