"""A cursor over LLVM's printed text: passes types, values and attributes, and collects operands."""

import re

from gevolve.ir.llvm.model import Operand

CONSTANT_WORDS = frozenset({"true", "false", "null", "undef", "poison", "zeroinitializer", "none"})
EXPRESSIONS = frozenset(
    {"getelementptr", "ptrtoint", "ptrtoaddr", "inttoptr", "bitcast", "addrspacecast", "trunc"}
    | {"add", "sub", "mul", "xor", "splat", "dso_local_equivalent", "no_cfi"}
    | {"extractelement", "insertelement", "shufflevector"}
)

_SPACE = re.compile(r" +")
NAME = re.compile(r'[%@](?:[-a-zA-Z$._0-9]+|"[^"]*")')
_WORD = re.compile(r"[a-zA-Z_][\w.]*")
_STRING = re.compile(r'"[^"]*"')
_NUMBER = re.compile(r"[-+]?[0-9][-+\w.]*|c\"[^\"]*\"|f0x\w+|[-+]?(?:nan|inf|qnan|snan)\b\S*")
_BASE_TYPE = re.compile(
    r"(?:ptr(?: addrspace\(\d+\))?|void|half|bfloat|float|double|fp128|x86_fp80|ppc_fp128|label"
    r'|metadata|token|i\d+|%(?:[-a-zA-Z$._0-9]+|"[^"]*"))'
)
_CLOSERS = {"(": ")", "[": "]", "{": "}", "<": ">"}


def balanced(text: str, at: int) -> int:
    """The position after the bracket that closes the one at `at`; strings may hold brackets."""
    stack: list[str] = []
    while at < len(text):
        char = text[at]
        if char == '"':
            at = text.index('"', at + 1)
        elif char in _CLOSERS:
            stack.append(_CLOSERS[char])
        elif stack and char == stack[-1]:
            stack.pop()
            if not stack:
                return at + 1
        at += 1
    raise ValueError(f"no closing bracket in {text!r}")


def split_top(text: str) -> list[str]:
    """Split at the commas that are outside of all brackets and strings."""
    parts: list[str] = []
    at = start = 0
    while at < len(text):
        char = text[at]
        if char == '"':
            at = text.index('"', at + 1)
        elif char in _CLOSERS:
            at = balanced(text, at) - 1
        elif char == ",":
            parts.append(text[start:at].strip())
            start = at + 1
        at += 1
    tail = text[start:].strip()
    return [*parts, tail] if tail else parts


def element_type(aggregate: str, types: dict[str, str], index: int = 0) -> str:
    """The type of one element of a vector, array or struct type."""
    aggregate = types.get(aggregate, aggregate)
    if aggregate.startswith("<{"):
        return split_top(aggregate[2:-2])[index]
    if aggregate.startswith("{"):
        return split_top(aggregate[1:-1])[index]
    return aggregate[1:-1].split(" x ", 1)[1].strip()


class Cursor:
    """A cursor over the text of one instruction, which collects operands as it passes them."""

    def __init__(self, text: str, names: dict[str, str]) -> None:
        self.text = text
        self.at = 0
        self.names = names
        self.parts: list[str] = []
        self.operands: list[Operand] = []
        self.blocks: list[str] = []
        self._literal: list[str] = []
        self._from = 0

    def space(self) -> None:
        if match := _SPACE.match(self.text, self.at):
            self.at = match.end()

    def peek(self, token: str) -> bool:
        self.space()
        return self.text.startswith(token, self.at)

    def accept(self, token: str) -> bool:
        if self.peek(token):
            self.at += len(token)
            return True
        return False

    def word(self) -> str:
        self.space()
        match = _WORD.match(self.text, self.at)
        return match.group() if match else ""

    def take(self) -> str:
        word = self.word()
        self.at += len(word)
        return word

    def type(self) -> str:
        """Pass a type and return its text."""
        self.space()
        start = self.at
        if self.text[self.at] in "<[{":
            self.at = balanced(self.text, self.at)
        elif self.text.startswith("target(", self.at):
            self.at = balanced(self.text, self.at + 6)
        elif match := _BASE_TYPE.match(self.text, self.at):
            self.at = match.end()
        else:
            raise ValueError(f"no type at column {self.at} of {self.text!r}")
        return self.text[start : self.at]

    def value(self) -> str:
        """Pass a value and return its text, with the original name if it is a local one."""
        self.space()
        start = self.at
        if match := NAME.match(self.text, self.at):
            self.at = match.end()
        elif self.text[self.at] in "<[{":
            self.at = balanced(self.text, self.at)
        elif match := _NUMBER.match(self.text, self.at):
            self.at = match.end()
        else:
            word = self.take()
            if word == "asm":
                self._asm()
            elif word not in CONSTANT_WORDS:
                self.at = balanced(self.text, self.text.index("(", self.at))
        return self.text[start : self.at]

    def _asm(self) -> None:
        while match := _WORD.match(self.text, self.at + 1):
            self.at = match.end()
        for _ in range(2):
            found = _STRING.search(self.text, self.at)
            assert found is not None
            self.at = found.end()

    def operand(self, kind: str, *, fixed: bool = False) -> Operand:
        """Pass a value of a known type and make it a slot."""
        self.space()
        start = self.at
        value = self.value()
        name = self.names.get(value)
        operand = Operand(kind, f"%{name}" if name else value, fixed)
        self._cut(start)
        self.operands.append(operand)
        self.parts.append("".join(self._literal))
        self._literal = []
        return operand

    def typed(self, *, fixed: bool = False) -> Operand:
        """Pass a type and a value."""
        kind = self.type()
        return self.operand(kind, fixed=fixed)

    def block(self) -> None:
        """Pass a block's name."""
        self.space()
        match = NAME.match(self.text, self.at)
        assert match is not None
        self._cut(match.start())
        self.at = self._from = match.end()
        target = self.names[match.group()]
        self._literal.append("%" + target)
        self.blocks.append(target)

    def label(self) -> None:
        self.accept("label")
        self.block()

    def _cut(self, start: int) -> None:
        self._literal.append(self.text[self._from : start])
        self._from = self.at

    def attributes(self) -> None:
        """Pass parameter or return attributes, up to a type or a value."""
        while True:
            self.space()
            if match := _STRING.match(self.text, self.at):
                self.at = match.end()
                if self.accept("="):
                    self.at = self._end(_STRING)
                continue
            word = self.word()
            if not word or word in CONSTANT_WORDS or word in EXPRESSIONS or word == "asm":
                return
            self.take()
            if word == "align" and not self.text.startswith("(", self.at):
                self.space()
                self.at = self._end(_NUMBER)
            elif self.text.startswith("(", self.at):
                self.at = balanced(self.text, self.at)

    def flags(self) -> None:
        """Pass flags such as ``nuw`` or ``fast`` or a calling convention, up to a type."""
        while True:
            self.space()
            text, at = self.text, self.at
            if text[at] in "<[{" or text.startswith("target(", at):
                return
            match = _BASE_TYPE.match(text, at)
            if match and not re.match(r"[\w.]", text[match.end() : match.end() + 1]):
                return
            if found := _STRING.match(text, at):
                self.at = found.end()
                continue
            word = self.take()
            if not word:
                raise ValueError(f"no type after flags in {text!r}")
            if self.text.startswith("(", self.at):
                self.at = balanced(self.text, self.at)
            elif word in {"align", "cc"}:
                self.space()
                self.at = self._end(_NUMBER)

    def string(self) -> None:
        """Pass a quoted string."""
        self.space()
        self.at = self._end(_STRING)

    def metadata(self) -> None:
        """Pass a metadata argument of a call."""
        self.space()
        while self.text[self.at] not in ",)":
            bracket = self.text[self.at] in _CLOSERS
            self.at = balanced(self.text, self.at) if bracket else self.at + 1

    def _end(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self.text, self.at)
        assert match is not None
        return match.end()

    def finish(self) -> tuple[tuple[str, ...], tuple[Operand, ...], tuple[str, ...]]:
        self._literal.append(self.text[self._from :])
        self.parts.append("".join(self._literal))
        return tuple(self.parts), tuple(self.operands), tuple(self.blocks)


def split_after_parameters(header: str) -> tuple[str, str]:
    """A header before and after the place where attributes of the function begin."""
    name = re.search(r'@(?:[-a-zA-Z$._0-9]+|"[^"]*")\(', header)
    assert name is not None
    end = balanced(header, name.end() - 1)
    words = re.match(r"( (local_)?unnamed_addr)?( addrspace\(\d+\))?", header[end:])
    assert words is not None
    return header[: end + words.end()], header[end + words.end() :]
