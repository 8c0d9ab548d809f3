"""The user's source while edits are written into it."""

import difflib
import re
from collections.abc import Callable, Iterable
from copy import deepcopy
from pathlib import PurePath

from gevolve.ir.edit_kind import Skipped
from gevolve.ir.llvm.index import LlvmIndex
from gevolve.ir.llvm.locations import Locations
from gevolve.ir.llvm.source_form.changes import Changes
from gevolve.ir.llvm.source_form.scan import Span, blanked, parameters


class SourceDraft:
    """A source file with the places that the instructions of a program come from."""

    def __init__(
        self,
        text: str,
        file: str,
        index: LlvmIndex,
        locations: Locations,
        edited: frozenset[str] = frozenset(),
    ) -> None:
        """`edited` has the ids that the edits to come name."""
        self.text = text
        self.code = blanked(text)
        """The text without comments and literals, offset by offset."""
        self.file = PurePath(file).name
        self.index = index
        self._locations = locations
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]
        self.changes = Changes(text)
        self.edited = edited
        self.kept: dict[int, tuple[str, bool]] = {}
        """By the offset of an access, the variable that keeps what it works on, and whether it is read instead."""

    def attempt(self, rewrite: Callable[["SourceDraft"], str]) -> str:
        """What an edit says that it did here; one that cannot do all of it changes nothing."""
        changes, kept = deepcopy(self.changes), dict(self.kept)
        try:
            return rewrite(self)
        except Skipped:
            self.changes, self.kept = changes, kept
            raise

    def place(self, id_: str) -> int:
        """The offset of what an instruction was made for."""
        instr = self.index.instr.get(id_)
        spots = [] if instr is None else list(self._locations.spots(instr))
        for spot in spots:
            if PurePath(spot[0]).name == self.file:
                return self._offset(*spot)
        where = (
            f"is in {PurePath(spots[0][0]).name}" if spots else "comes from no place in the source"
        )
        raise Skipped(f"{id_} {where}")

    def parameter(self, argument: str) -> Span:
        """The parameter that an argument is, in the definition of its function."""
        number = self.index.function_of[argument]
        function = self.index.functions[number]
        spot = self._locations.function(function.header)
        if spot is None:
            raise Skipped(f"{function.name} comes from no place in the source")
        file, line, name = spot
        spans = parameters(self.code, name, self._offset(file, line, 1))
        if len(spans) != len(function.args):
            raise Skipped(f"{name} has other parameters in the source")
        return spans[[arg for arg, _ in function.args].index(argument)]

    def definition(self, block: str) -> tuple[int, str]:
        """Where the name of the function that has this block stands in its definition, and the name."""
        function = self.index.functions[self.index.function_of[block]]
        spot = self._locations.function(function.header)
        if spot is None:
            raise Skipped(f"{function.name} comes from no place in the source")
        file, line, name = spot
        found = re.compile(rf"\b{re.escape(name)}\s*\(").search(
            self.code, self._offset(file, line, 1)
        )
        if found is None:
            raise Skipped(f"{name} is not where it should be")
        return found.start(), name

    def top(self) -> int:
        """Where the first function or declaration begins, below includes and macros."""
        found = re.search(r"\S", self.code)
        if found is None:
            raise Skipped("the source is empty")
        return self.text.rfind("\n", 0, found.start()) + 1

    def _offset(self, file: str, line: int, column: int) -> int:
        if PurePath(file).name != self.file:
            raise Skipped(f"it is in {PurePath(file).name}")
        if not (0 < line <= len(self._starts) and column > 0):
            raise Skipped(f"{self.file} has no line {line}")
        return self._starts[line - 1] + column - 1

    def line(self, offset: int) -> str:
        """The line of an offset, for people."""
        return f"{self.file}:{self.text.count(chr(10), 0, offset) + 1}"

    def result(self) -> str:
        """The source with everything changed."""
        return self.changes.result()

    def diff(self) -> str:
        """What changed, as patch(1) takes it."""
        before, after = (text.splitlines(keepends=True) for text in (self.text, self.result()))
        lines = difflib.unified_diff(before, after, f"a/{self.file}", f"b/{self.file}")
        return "".join(_ended(lines))


def _ended(lines: Iterable[str]) -> Iterable[str]:
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
