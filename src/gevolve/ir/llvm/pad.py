"""Pads the rows of a shared array, so that the lanes of a warp that walk a column use different banks."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

from gevolve.ir.edit_kind import Show, Skipped
from gevolve.ir.llvm.draft import LlvmDraft
from gevolve.ir.llvm.edit_kind import LlvmEdit
from gevolve.ir.llvm.model import Instr
from gevolve.ir.llvm.sites import LlvmSites
from gevolve.ir.llvm.source_form import SourceDraft, facts

_SIZES = {"i8": 1, "i16": 2, "half": 2, "i32": 4, "float": 4, "i64": 8, "double": 8}
_COMDAT = re.compile(r", comdat(?:\([^)]*\))?")
"""Names a group of copies of which the linker keeps one; a padded array has none."""
_NAME = re.compile(r'ptr addrspace\(3\) @("[^"]*"|[\w.$-]+)')
_ARRAY = re.compile(
    r"^@(?P<name>\"[^\"]*\"|[\w.$-]+) = (?P<words>[^\n]*?addrspace\(3\) global )"
    r"\[(?P<rows>\d+) x \[(?P<columns>\d+) x (?P<type>\w+)\]\] (?P<rest>[^\n]*)$",
    re.MULTILINE,
)
_OFFSET = re.compile(r"i64 (-?\d+)")


@dataclass(frozen=True)
class Pad(LlvmEdit):
    """The rows of a shared array of two dimensions become one element longer."""

    name = "pad"
    use: str
    """An instruction that computes an address in the array from its beginning."""

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        seen: set[str] = set()
        draft = LlvmDraft(sites.index)
        for instr in sites.hottest(lambda instr: _array_of(instr) is not None):
            name = _array_of(instr)
            if name is None or name in seen:
                continue
            seen.add(name)
            try:
                _Padding(draft, name)
            except Skipped:
                continue
            yield cls(instr.id)

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        del seed
        name = _array_of(draft.find(self.use, lambda instr: _array_of(instr) is not None))
        assert name is not None
        for instr in _Padding(draft, name).padded():
            draft.put(instr)

    def describe(self, show: Show) -> str:
        return f"make the rows of the shared array of {show(self.use)} one element longer"

    def rewrite(self, source: SourceDraft) -> str:
        instr = source.index.instr.get(self.use)
        name = None if instr is None else _array_of(instr)
        if name is None:
            raise Skipped(f"{self.use} is gone")
        return facts.padded(source, name)


def _array_of(instr: Instr) -> str | None:
    """The shared array that an instruction names."""
    found = next(
        (found for operand in instr.operands if (found := _NAME.search(_typed(operand)))), None
    )
    return None if found is None else found[1]


def _typed(operand: tuple[str, str, bool]) -> str:
    return f"{operand[0]} {operand[1]}"


class _Padding:
    """The longer array and the addresses in it; raises `Skipped` if they are not plain."""

    def __init__(self, draft: LlvmDraft, name: str) -> None:
        self._draft, self._old = draft, name
        declared = next(
            (one for one in _ARRAY.finditer(draft.index.plain) if one["name"] == name), None
        )
        if declared is None or declared["type"] not in _SIZES:
            raise Skipped(f"{name} is no array of rows")
        self._rows, self._columns = int(declared["rows"]), int(declared["columns"])
        self._type = declared["type"]
        self._new = f'"{name.strip(chr(34))}.padded"'
        self._line = (
            f"@{self._new} = {declared['words']}[{self._rows} x [{self._columns + 1} x {self._type}]]"
            f" {_COMDAT.sub('', declared['rest'])}"
        )
        self._users = [one for one in self._instrs() if self._names(one)]
        if any(self._new in _typed(operand) for one in self._instrs() for operand in one.operands):
            raise Skipped(f"{name} is padded already")
        for one in self._users:
            self._check(one)

    def padded(self) -> Iterator[Instr]:
        """All instructions that change."""
        self._draft.declare(self._new, self._line)
        changed = {one.id: self._renamed(one) for one in self._users}
        for id_ in self._derived():
            one = changed.get(id_) or self._draft.get(id_)
            assert one is not None
            changed[id_] = self._stepped(one)
        yield from changed.values()

    def _instrs(self) -> Iterator[Instr]:
        for function in self._draft.index.functions:
            for block in function.blocks:
                for id_ in self._draft.body(block.id):
                    one = self._draft.get(id_)
                    if one is not None:
                        yield one

    def _names(self, instr: Instr) -> bool:
        return any(
            (found := _NAME.search(_typed(operand))) is not None and found[1] == self._old
            for operand in instr.operands
        )

    def _check(self, instr: Instr) -> None:
        if instr.opcode not in ("getelementptr", "load", "store", "addrspacecast"):
            raise Skipped(f"{self._old} is used by a {instr.opcode}")
        if (
            instr.opcode == "getelementptr"
            and not self._is_row(instr)
            and not self._is_bytes(instr)
        ):
            raise Skipped(f"the rows of {self._old} do not show in {instr.id}")

    def _derived(self) -> list[str]:
        """The address computations that begin with the array, in order."""
        found = dict.fromkeys(one.id for one in self._users)
        front = list(found)
        while front:
            for user in self._draft.users(front.pop()):
                one = self._draft.get(user)
                moves = one is not None and one.opcode in (
                    "getelementptr",
                    "addrspacecast",
                    "phi",
                    "select",
                )
                if moves and user not in found:
                    found[user] = None
                    front.append(user)
        return list(found)

    def _is_row(self, instr: Instr) -> bool:
        return f"[{self._columns} x {self._type}]" in instr.parts[0]

    def _is_bytes(self, instr: Instr) -> bool:
        head = instr.parts[0].split(",")[0]
        return head.endswith(" i8") and instr.operands[1].local is None

    def _renamed(self, instr: Instr) -> Instr:
        """Its operands begin at the longer array; constant offsets from its beginning grow."""
        for number, operand in enumerate(instr.operands):
            found = _NAME.search(_typed(operand))
            if found is None or found[1] != self._old:
                continue
            text = operand.value.replace(f"@{self._old}", f"@{self._new}")
            if "getelementptr" in text:
                text = _OFFSET.sub(lambda step: f"i64 {self._offset(int(step[1]))}", text)
            instr = instr.with_operand(number, text)
        return instr

    def _stepped(self, instr: Instr) -> Instr:
        """A step by rows is longer; one by bytes is taken for so many rows and the rest."""
        if instr.opcode != "getelementptr":
            return instr
        if self._is_row(instr):
            head = instr.parts[0].replace(
                f"[{self._columns} x {self._type}]", f"[{self._columns + 1} x {self._type}]"
            )
            return instr._replace(parts=(head, *instr.parts[1:]))
        if self._is_bytes(instr):
            return instr.with_operand(1, str(self._offset(int(instr.operands[1].value))))
        return instr

    def _offset(self, old: int) -> int:
        size = _SIZES[self._type]
        row = round(old / (self._columns * size))
        return old + row * size
