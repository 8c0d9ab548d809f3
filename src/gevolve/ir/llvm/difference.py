"""Says in plain words how two variants of a kernel differ.

The kind of an edit says little: to fix the condition of a branch may remove a loop with all that is in
it, and most deletions only shift work about. So both variants, with the edit and without it, are
optimized and their features counted. The first difference of a list is reported, the most telling
first.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from gevolve.ir.llvm.draft import LlvmDraft
from gevolve.ir.llvm.features import FeatureCount, feature_of
from gevolve.ir.llvm.index import LlvmIndex
from gevolve.ir.llvm.locations import Locations
from gevolve.ir.sentences import at_lines, list_counts
from gevolve.program import Change

_VAGUE = frozenset({"operation", "address"})
_PLAIN_WORDS = {
    "getelementptr": "address",
    "phi": "start of a block",
    "call": "operation",
    "br": "jump",
}
"""Words for opcodes that people do not know, or that say nothing."""
_PRECISIONS = ("double", "float", "half")


class DraftedVariant(NamedTuple):
    """A variant, as edits left it and as LLVM reads it."""

    draft: LlvmDraft
    text: str


def describe_difference(
    index: LlvmIndex, locations: Locations, before: DraftedVariant, after: DraftedVariant
) -> Change | None:
    """What the second variant does that the first does not; None if nothing recognizable."""
    if before.text == after.text:
        return None
    old, new = FeatureCount(before.text), FeatureCount(after.text)
    drafts = _Drafts(index, locations, before.draft, after.draft)
    return next(filter(None, _differences(old, new, drafts)), None)


def _differences(
    old: FeatureCount, new: FeatureCount, drafts: "_Drafts"
) -> Iterator[Change | None]:
    """Every kind of difference, the most telling first; None where there is none of that kind."""
    yield _fewer(old, new, "barrier", "barrier removed", "removes", "the barrier", "barriers")
    yield _fewer(old, new, "atomic", "atomic removed", "removes", "the atomic", "atomics")
    yield _fewer_loops(old, new)
    yield _fewer_accesses(old, new, "store", "store removed", "removes")
    yield drafts.changed_loop()
    yield _fewer(old, new, "branch", "branch fixed", "decides once and for all", "the branch", "branches")  # fmt: skip
    yield _fewer_accesses(old, new, "load", "load removed", "saves")
    yield _lower_precision(old, new)
    yield _fewer(old, new, "warp exchange", "warp exchange removed", "removes", "the warp exchange", "warp exchanges")  # fmt: skip
    yield _fewer(old, new, "function", "function call removed", "saves", "the function call", "function calls")  # fmt: skip
    yield _fewer(old, new, "division", "division removed", "saves", "the division", "divisions")
    if new.count["operation"] < old.count["operation"]:
        yield drafts.reused_value()
        yield _fewer(old, new, "operation", "computation removed", "saves", "the operation", "operations")  # fmt: skip
    yield drafts.changed_barrier()
    yield _reordered(old, new)
    yield _more(old, new)


def _fewer(
    old: FeatureCount, new: FeatureCount, word: str, theme: str, verb: str, one: str, many: str
) -> Change | None:
    less = old.count[word] - new.count[word]
    if less <= 0:
        return None
    lines = _sorted(old.lines[word] - new.lines[word])
    noun = one if less == 1 else f"{less} {many}"
    return Change(f"{verb} {noun}{at_lines(lines)}", theme, lines)


def _fewer_accesses(
    old: FeatureCount, new: FeatureCount, word: str, theme: str, verb: str
) -> Change | None:
    spaces = {key[1] for key in (old.spaces - new.spaces) if key[0] == word}
    where = spaces.pop() if len(spaces) == 1 else ""
    noun = f"{where.strip()}-memory {word}" if where else f"memory {word}"
    return _fewer(old, new, word, theme, verb, f"the {noun}", f"{noun}s")


def _fewer_loops(old: FeatureCount, new: FeatureCount) -> Change | None:
    if new.loops.total() >= old.loops.total():
        return None
    lines = _sorted(old.loops - new.loops)
    return Change(f"leaves out the loop{at_lines(lines)}", "loop removed", lines)


def _lower_precision(old: FeatureCount, new: FeatureCount) -> Change | None:
    for wide, narrow in pairwise(_PRECISIONS):
        if new.types[wide] < old.types[wide] and new.types[narrow] > old.types[narrow]:
            return Change(f"computes in {narrow} what was {wide}", "precision lowered")
    return None


def _reordered(old: FeatureCount, new: FeatureCount) -> Change | None:
    if old.count != new.count or old.order == new.order:
        return None
    pairs = zip(old.order, new.order, strict=False)
    moved = next((one for one, other in pairs if one != other), old.order[-1])
    what = _PLAIN_WORDS.get(moved[1], f"{moved[1]} operation") if moved[0] in _VAGUE else moved[0]
    lines = _known(moved[2])
    sentence = f"changes the order of work from the {what}{at_lines(lines)} on"
    return Change(sentence, "order changed", lines)


def _more(old: FeatureCount, new: FeatureCount) -> Change | None:
    added = new.count - old.count
    if not added:
        return None
    lines = _sorted(sum((new.lines[word] - old.lines[word] for word in added), type(new.count)()))
    return Change(f"adds {list_counts(added)}{at_lines(lines)}", "work added", lines)


class _Drafts:
    """Two drafts of one program, in which whatever was not edited still has its id."""

    def __init__(
        self, index: LlvmIndex, locations: Locations, before: LlvmDraft, after: LlvmDraft
    ) -> None:
        self._index, self._locations = index, locations
        self._before, self._after = before, after

    def changed_loop(self) -> Change | None:
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
                    lines = _known(str(self._locations.of(last) or ""))
                    sentence = f"changes when the loop{at_lines(lines)} ends"
                    return Change(sentence, "loop bound changed", lines)
        return None

    def changed_barrier(self) -> Change | None:
        """A barrier that is another one now."""
        for id_, instr in self._index.instr.items():
            old, new = self._before.get(id_), self._after.get(id_)
            if old and new and old.operands != new.operands and feature_of(instr) == "barrier":
                lines = _known(self._line(id_))
                sentence = f"lets threads wait at another barrier{at_lines(lines)}"
                return Change(sentence, "barrier changed", lines)
        return None

    def _slice(self, draft: LlvmDraft, root: str) -> frozenset[str]:
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

    def reused_value(self) -> Change | None:
        """A value that now stands for another one as well."""
        for block in sorted(self._before.touched | self._after.touched):
            for id_ in self._index.body[block]:
                old, new = self._before.get(id_), self._after.get(id_)
                if old is None or new is None:
                    continue
                for mine, other in zip(old.operands, new.operands, strict=True):
                    if mine.value == other.value or mine.local is None:
                        continue
                    lines = _known(self._line(mine.local) or self._line(id_))
                    for_what = f"for what is computed{at_lines(lines)}"
                    if other.local is None:
                        return Change(f"takes {other.value} {for_what}", "value fixed", lines)
                    source = self._line(other.local)
                    reused = f"the value of {source}" if source else "another value"
                    lines += _known(source)
                    return Change(f"takes {reused} {for_what}", "value reused", lines)
        return None

    def _line(self, id_: str) -> str:
        instr = self._before.get(id_) or self._after.get(id_)
        return str(self._locations.of(instr) or "") if instr else ""


def _sorted(lines: "dict[str, int]") -> tuple[str, ...]:
    """The source lines that are known, in order."""

    def order(line: str) -> tuple[str, int]:
        file, _, number = line.rpartition(":")
        return file, int(number)

    return tuple(sorted((line for line in lines if line), key=order))


def _known(line: str) -> tuple[str, ...]:
    return (line,) if line else ()
