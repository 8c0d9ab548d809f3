"""Parses LLVM-IR as LLVM prints it, and gives every argument, block and instruction its id."""

import re
from collections.abc import Iterator

from gevolve.errors import SourceError, UnsupportedError
from gevolve.ir.llvm.cursor import NAME, Cursor, balanced, split_top
from gevolve.ir.llvm.instructions import Declarations, read_instruction
from gevolve.ir.llvm.model import Block, LlvmFunction, LlvmModule

DROPPED = ("@llvm.lifetime.", "@llvm.experimental.noalias.scope.decl", "@llvm.dbg.")
"""Calls that say nothing about what the program computes, and that no edit could keep valid."""

_LABEL = re.compile(r'^((?:[-a-zA-Z$._0-9]+)|"[^"]*"):(?:\s*;.*)?$')
_RESULT = re.compile(r'^  (?:(%(?:[-a-zA-Z$._0-9]+|"[^"]*")) = )?(.*)$')


class _Context:
    """What parsing one instruction needs to know of the module, and the next free numbers."""

    def __init__(self, text: str) -> None:
        types = dict[str, str](re.findall(r"^(%\S+|%\"[^\"]*\") = type (.*)$", text, re.MULTILINE))
        immediates: dict[str, frozenset[int]] = {}
        for line in re.findall(r"^declare .*immarg.*$", text, re.MULTILINE):
            match = re.search(r'@(?:[-a-zA-Z$._0-9]+|"[^"]*")', line)
            assert match is not None
            params = split_top(line[match.end() + 1 : balanced(line, match.end()) - 1])
            immediates[match.group()] = frozenset(
                i for i, param in enumerate(params) if "immarg" in param
            )
        self.declared = Declarations(types, immediates)
        self.annotated = frozenset(re.findall(r'!\{ptr (@\S+), !"kernel", i32 1\}', text))
        self.numbers = {"a": 0, "b": 0, "i": 0}

    def fresh(self, kind: str) -> str:
        number = self.numbers[kind]
        self.numbers[kind] = number + 1
        return f"{kind}{number}"


def _joined(lines: list[str]) -> Iterator[str]:
    """The body's lines, with a switch's table on one line and debug records left out."""
    pending = ""
    for line in lines:
        if pending:
            pending += " " + line.strip()
            if line.startswith("  ]"):
                yield pending
                pending = ""
        elif line.startswith("  switch ") and line.rstrip().endswith("["):
            pending = line
        elif line and not line.startswith("    #dbg_") and not line.startswith("  ;"):
            yield line


def _header(line: str, context: _Context) -> tuple[str, str, list[tuple[str, str]], dict[str, str]]:
    """Name the arguments in a ``define`` line: (text, function name, arguments, old → new names)."""
    match = re.search(r'@(?:[-a-zA-Z$._0-9]+|"[^"]*")\(', line)
    assert match is not None
    start, end = match.end(), balanced(line, match.end() - 1) - 1
    args: list[tuple[str, str]] = []
    names: dict[str, str] = {}
    params: list[str] = []
    for param in split_top(line[start:end]):
        if param == "...":
            params.append(param)
            continue
        cursor = Cursor(param, {})
        kind = cursor.type()
        old = param.rsplit(" ", 1)[-1] if '"' not in param else NAME.findall(param)[-1]
        new = context.fresh("a")
        names[old] = new
        args.append((new, kind))
        params.append(param[: len(param) - len(old)] + "%" + new)
    text = line[:start] + ", ".join(params) + line[end:]
    return text, match.group()[1:-1].strip('"'), args, names


def _function(lines: list[str], context: _Context) -> LlvmFunction:
    header, name, args, names = _header(lines[0], context)
    blocks: list[tuple[str, list[tuple[str, str]]]] = []
    for line in _joined(lines[1:-1]):
        if label := _LABEL.match(line):
            new = context.fresh("b")
            names["%" + label.group(1)] = new
            blocks.append((new, []))
            continue
        if not blocks:  # LLVM does not print the entry's label if it is only a number
            new = context.fresh("b")
            names[f"%{sum(old[1:].isdecimal() for old in names)}"] = new
            blocks.append((new, []))
        if any(dropped in line for dropped in DROPPED):
            continue
        match = _RESULT.match(line)
        if match is None:
            raise SourceError(f"not an instruction as LLVM prints it: {line.strip()!r:.80}")
        new = context.fresh("i")
        if match.group(1):
            names[match.group(1)] = new
        blocks[-1][1].append((new, match.group(2)))
    return LlvmFunction(
        name,
        header,
        tuple(args),
        tuple(
            Block(
                block,
                tuple(read_instruction(id_, text, names, context.declared) for id_, text in body),
            )
            for block, body in blocks
        ),
        "ptx_kernel" in header.split("@", 1)[0] or f"@{name}" in context.annotated,
    )


def parse(text: str) -> LlvmModule:
    """Read a module in the form in which LLVM prints it."""
    if "blockaddress(" in text:
        raise UnsupportedError("indirect branches (blockaddress) are not supported")
    context = _Context(text)
    chunks: list[str | LlvmFunction] = []
    plain: list[str] = []
    body: list[str] = []
    for line in text.splitlines():
        if body:
            body.append(line)
            if line == "}":
                chunks.append(_function(body, context))
                body = []
        elif line.startswith("define "):
            chunks.append("\n".join(plain))
            plain = []
            body = [line]
        elif not line.startswith(";"):
            plain.append(line)
    chunks.append("\n".join(plain))
    return LlvmModule(tuple(chunks))
