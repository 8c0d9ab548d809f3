"""Where an instruction comes from in the user's source, from LLVM's debug metadata."""

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import NamedTuple

from gevolve.ir.llvm.model import Instr, LlvmModule

_NODE = re.compile(r"^!(\d+) = (?:distinct )?!(DI\w+)\((.*)\)$", re.MULTILINE)
_FIELD = re.compile(r'(\w+): (?:!(\d+)|"((?:[^"\\]|\\.)*)"|(\w+))')
_ATTACHED = re.compile(r"!dbg !(\d+)")
_DEEP = 64
"""No chain of scopes or of inlined calls is followed further: metadata that is not LLVM's may have a circle."""


class Location(NamedTuple):
    """A line of a source file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{PurePath(self.file).name}:{self.line}"


class Locations:
    """Looks up the source line of instructions."""

    def __init__(self, module: LlvmModule) -> None:
        text = "\n".join(chunk for chunk in module.chunks if isinstance(chunk, str))
        self._nodes = {
            number: (
                kind,
                {name: node or string or word for name, node, string, word in _FIELD.findall(body)},
            )
            for number, kind, body in _NODE.findall(text)
        }

    def of(self, instr: Instr) -> Location | None:
        """The line that an instruction was made for: of inlined code, the line that called it."""
        match = _ATTACHED.search(instr.parts[-1])
        return self.node(match.group(1)) if match else None

    def spots(self, instr: Instr) -> Iterator[tuple[str, int, int]]:
        """The file, line and column that an instruction was written at; then those of the calls that inlined it."""
        match = _ATTACHED.search(instr.parts[-1])
        number = match.group(1) if match else ""
        for _ in range(_DEEP):
            if number not in self._nodes:
                return
            fields = self._nodes[number][1]
            file = self._file(fields.get("scope", ""))
            line, column = (int(fields.get(name, "0")) for name in ("line", "column"))
            if file and line and column:
                yield file, line, column
            number = fields.get("inlinedAt", "")

    def function(self, header: str) -> tuple[str, int, str] | None:
        """The file and line that a function is defined at, and its name there."""
        match = _ATTACHED.search(header)
        fields = self._nodes.get(match.group(1), ("", {}))[1] if match else {}
        file = self._file(fields.get("file", ""))
        line, name = int(fields.get("line", "0")), fields.get("name", "")
        return (file, line, name) if file and line and name else None

    def node(self, number: str) -> Location | None:
        """The line of a DILocation node."""
        kind, fields = self._nodes.get(number, ("", {}))
        line = fields.get("line", "0")
        if kind != "DILocation" or line == "0":
            return None
        file = self._file(fields.get("scope", ""))
        return Location(file, int(line)) if file else None

    def _file(self, scope: str) -> str:
        for _ in range(_DEEP):
            if scope not in self._nodes:
                return ""
            kind, fields = self._nodes[scope]
            if kind == "DIFile":
                return fields.get("filename", "")
            scope = fields.get("file") or fields.get("scope") or ""
        return ""
