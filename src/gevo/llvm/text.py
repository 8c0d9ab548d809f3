"""Reads LLVM's own printed text into a small editable model, one instruction at a time.

llvmlite's values are read-only, so edits work on this model: an instruction is its literal text
with slots for typed operands. LLVM has already checked the text that comes in and checks what goes
out; this module only needs to know where the operands are and what type they have.

Every argument, block and instruction gets an id (``a0``, ``b0``, ``i0`` … through the module in
order), which is also its name in the text that is printed back.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from gevo.errors import UnsupportedError


class Operand(NamedTuple):
    """A use of a value: ``%id`` for a local one, otherwise the text of a constant or global."""

    type: str
    value: str
    fixed: bool = False
    """Whether LLVM demands just this constant here (struct indices, immediates, masks)."""

    @property
    def local(self) -> str | None:
        """The id of the local value that is used, if it is one."""
        return self.value[1:] if self.value.startswith("%") else None


class Instr(NamedTuple):
    """One instruction: literal text around its operands."""

    id: str
    opcode: str
    type: str
    """Of the result; ``void`` if there is none."""
    parts: tuple[str, ...]
    operands: tuple[Operand, ...]
    blocks: tuple[str, ...] = ()
    """Of a phi the incoming blocks, in the order of its operands; of a terminator the successors."""

    @property
    def text(self) -> str:
        pieces = [f"  %{self.id} = " if self.type != "void" else "  "]
        for part, operand in zip(self.parts, self.operands, strict=False):
            pieces += (part, operand.value)
        pieces.append(self.parts[-1])
        return "".join(pieces)

    def with_operand(self, index: int, value: str) -> "Instr":
        """A copy that uses another value there.

        A block that reaches a phi by several cases of one switch is listed once for each, and LLVM
        wants the same value every time.
        """
        operands = list(self.operands)
        changed = operands[index]._replace(value=value)
        if self.opcode == "phi":
            for number, block in enumerate(self.blocks):
                if block == self.blocks[index]:
                    operands[number] = changed
        operands[index] = changed
        return self._replace(operands=tuple(operands))


class Block(NamedTuple):
    """A basic block: its instructions in order, the last one a terminator."""

    id: str
    body: tuple[Instr, ...]


class Function(NamedTuple):
    """A function definition: the text of its first line, its arguments and blocks."""

    name: str
    header: str
    args: tuple[tuple[str, str], ...]
    """Each argument as (id, type)."""
    blocks: tuple[Block, ...]
    kernel: bool


class Module(NamedTuple):
    """A module: text that is left alone, with the function definitions between."""

    chunks: tuple[str | Function, ...]

    @property
    def functions(self) -> tuple[Function, ...]:
        return tuple(chunk for chunk in self.chunks if isinstance(chunk, Function))


CONSTANT_WORDS = frozenset({"true", "false", "null", "undef", "poison", "zeroinitializer", "none"})
EXPRESSIONS = frozenset(
    "getelementptr ptrtoint ptrtoaddr inttoptr bitcast addrspacecast trunc add sub mul xor splat "
    "dso_local_equivalent no_cfi extractelement insertelement shufflevector".split()
)
CASTS = frozenset(
    "trunc zext sext fptrunc fpext fptoui fptosi uitofp sitofp ptrtoint ptrtoaddr inttoptr bitcast "
    "addrspacecast".split()
)
BINARY = frozenset(
    "add fadd sub fsub mul fmul udiv sdiv fdiv urem srem frem shl lshr ashr and or xor".split()
)
TERMINATORS = frozenset("ret br switch unreachable indirectbr".split())
CALL_WORDS = frozenset({"tail", "musttail", "notail"})
DROPPED = ("@llvm.lifetime.", "@llvm.experimental.noalias.scope.decl", "@llvm.dbg.")
"""Calls that say nothing about what the program computes, and that no edit could keep valid."""

_SPACE = re.compile(r" +")
_NAME = re.compile(r'[%@](?:[-a-zA-Z$._0-9]+|"[^"]*")')
_WORD = re.compile(r"[a-zA-Z_][\w.]*")
_STRING = re.compile(r'"[^"]*"')
_NUMBER = re.compile(r"[-+]?[0-9][-+\w.]*|c\"[^\"]*\"|f0x\w+|[-+]?(?:nan|inf|qnan|snan)\b\S*")
_BASE_TYPE = re.compile(
    r"(?:ptr(?: addrspace\(\d+\))?|void|half|bfloat|float|double|fp128|x86_fp80|ppc_fp128|label"
    r'|metadata|token|i\d+|%(?:[-a-zA-Z$._0-9]+|"[^"]*"))'
)
_LABEL = re.compile(r'^((?:[-a-zA-Z$._0-9]+)|"[^"]*"):(?:\s*;.*)?$')
_RESULT = re.compile(r'^  (?:(%(?:[-a-zA-Z$._0-9]+|"[^"]*")) = )?(.*)$')
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


class _Line:
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
        if match := _NAME.match(self.text, self.at):
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
        match = _NAME.match(self.text, self.at)
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

    def finish(self) -> tuple[tuple[str, ...], tuple[Operand, ...], tuple[str, ...]]:
        self._literal.append(self.text[self._from :])
        self.parts.append("".join(self._literal))
        return tuple(self.parts), tuple(self.operands), tuple(self.blocks)


def _at_value(line: _Line) -> bool:
    """Whether a value, not one more attribute, starts here."""
    line.space()
    text, at = line.text, line.at
    if _NAME.match(text, at) or _NUMBER.match(text, at) or text[at] in "<[{":
        return True
    word = line.word()
    return word in CONSTANT_WORDS or word in EXPRESSIONS or word == "asm"


def _attributes(line: _Line) -> None:
    """Pass parameter or return attributes, up to a type or a value."""
    while True:
        line.space()
        if match := _STRING.match(line.text, line.at):
            line.at = match.end()
            if line.accept("="):
                line.at = _end(_STRING, line)
            continue
        word = line.word()
        if not word or word in CONSTANT_WORDS or word in EXPRESSIONS or word == "asm":
            return
        line.take()
        if word == "align" and not line.text.startswith("(", line.at):
            line.space()
            line.at = _end(_NUMBER, line)
        elif line.text.startswith("(", line.at):
            line.at = balanced(line.text, line.at)


def _end(pattern: re.Pattern[str], line: _Line) -> int:
    match = pattern.match(line.text, line.at)
    assert match is not None
    return match.end()


def _words_until_type(line: _Line) -> None:
    """Pass flags such as ``nuw`` or ``fast`` or a calling convention, up to a type."""
    while True:
        line.space()
        text, at = line.text, line.at
        if text[at] in "<[{" or text.startswith("target(", at):
            return
        match = _BASE_TYPE.match(text, at)
        if match and not re.match(r"[\w.]", text[match.end() : match.end() + 1]):
            return
        if found := _STRING.match(text, at):
            line.at = found.end()
            continue
        word = line.take()
        if not word:
            raise ValueError(f"no type after flags in {text!r}")
        if line.text.startswith("(", line.at):
            line.at = balanced(line.text, line.at)
        elif word in {"align", "cc"}:
            line.space()
            line.at = _end(_NUMBER, line)


def _call(line: _Line, immediates: dict[str, frozenset[int]]) -> str:
    """Pass a call; returns the result type."""
    _words_until_type(line)
    result = line.type()
    line.space()
    if line.text[line.at] == "(":  # a full function type, as varargs have
        line.at = balanced(line.text, line.at)
    elif line.word() == "addrspace":
        line.take()
        line.at = balanced(line.text, line.at)
    line.space()
    callee = ""
    if line.text[line.at] == "%":
        line.operand("ptr", fixed=True)
    else:
        callee = line.value()
    asm = callee.startswith("asm")
    fixed = immediates.get(callee, frozenset())
    line.accept("(")
    index = 0
    while not line.accept(")"):
        line.accept(",")
        kind = line.type()
        if kind == "metadata":
            _skip_metadata(line)
        else:
            _attributes(line)
            constant = not line.peek("%")
            line.operand(kind, fixed=index in fixed or kind == "token" or (asm and constant))
        index += 1
    line.space()
    while line.at < len(line.text) and line.text[line.at] not in ",[":
        line.at += 1  # function attributes
    if line.accept("["):
        _bundles(line)
    return result


def _skip_metadata(line: _Line) -> None:
    line.space()
    while line.text[line.at] not in ",)":
        line.at = balanced(line.text, line.at) if line.text[line.at] in _CLOSERS else line.at + 1


def _bundles(line: _Line) -> None:
    while not line.accept("]"):
        line.accept(",")
        line.space()
        line.at = _end(_STRING, line)
        line.accept("(")
        while not line.accept(")"):
            line.accept(",")
            line.typed(fixed=True)


def _phi(line: _Line) -> str:
    _words_until_type(line)
    kind = line.type()
    while line.accept("["):
        line.operand(kind)
        line.accept(",")
        line.block()
        line.accept("]")
        if not (line.peek(",") and line.text.startswith("[", line.at + 2)):
            break
        line.accept(",")
    return kind


def _getelementptr(line: _Line) -> str:
    _words_until_type(line)
    source = line.type()
    structured = "{" in source or "%" in source
    line.accept(",")
    base = line.typed()
    result, count = base.type, 0
    while line.accept(","):
        if line.peek("!"):
            break
        kind = line.type()
        constant = not line.peek("%")
        line.operand(kind, fixed=structured and count > 0 and constant)
        if kind.startswith("<") and not result.startswith("<"):
            result = f"<{kind[1:].split(' x ')[0]} x {result}>"
        count += 1
    return result


def _result_of_compare(kind: str) -> str:
    return f"<{kind[1:].split(' x ')[0]} x i1>" if kind.startswith("<") else "i1"


def _terminator(line: _Line, opcode: str) -> None:
    if opcode == "ret":
        if not line.accept("void"):
            line.typed()
    elif opcode == "br":
        if not line.peek("label"):
            line.typed()
            line.accept(",")
            line.label()
            line.accept(",")
        line.label()
    elif opcode == "switch":
        line.typed()
        line.accept(",")
        line.label()
        line.accept("[")
        while not line.accept("]"):
            line.type()
            line.value()
            line.accept(",")
            line.label()


def _parse(line: _Line, opcode: str, module: "_Context") -> str:  # noqa: PLR0911
    """Pass the operands of one instruction; returns the type of its result."""
    if opcode in BINARY or opcode == "fneg":
        _words_until_type(line)
        first = line.typed()
        if line.accept(",") and opcode != "fneg":
            line.operand(first.type)
        return first.type
    if opcode in {"icmp", "fcmp"}:
        _words_until_type(line)
        first = line.typed()
        line.accept(",")
        line.operand(first.type)
        return _result_of_compare(first.type)
    if opcode in CASTS:
        _words_until_type(line)
        line.typed()
        line.accept("to")
        return line.type()
    if opcode == "load":
        _words_until_type(line)
        kind = line.type()
        line.accept(",")
        line.typed()
        return kind
    if opcode == "store":
        _words_until_type(line)
        line.typed()
        line.accept(",")
        line.typed()
        return "void"
    if opcode == "getelementptr":
        return _getelementptr(line)
    if opcode == "phi":
        return _phi(line)
    if opcode == "call":
        return _call(line, module.immediates)
    if opcode == "select":
        _words_until_type(line)
        line.typed()
        line.accept(",")
        arm = line.typed()
        line.accept(",")
        line.typed()
        return arm.type
    if opcode == "freeze":
        return line.typed().type
    if opcode in TERMINATORS:
        _terminator(line, opcode)
        return "void"
    if opcode == "extractelement":
        vector = line.typed()
        line.accept(",")
        line.typed()
        return element_type(vector.type, module.types)
    if opcode == "insertelement":
        vector = line.typed()
        for _ in range(2):
            line.accept(",")
            line.typed()
        return vector.type
    if opcode == "shufflevector":
        vector = line.typed()
        line.accept(",")
        line.typed()
        line.accept(",")
        mask = line.typed(fixed=True)
        return f"<{mask.type[1:].rsplit(' x ', 1)[0]} x {element_type(vector.type, module.types)}>"
    if opcode == "extractvalue":
        kind = line.typed().type
        while line.accept(","):
            if line.peek("!"):
                break
            kind = element_type(kind, module.types, int(line.value()))
        return kind
    if opcode == "insertvalue":
        aggregate = line.typed()
        line.accept(",")
        line.typed()
        return aggregate.type
    if opcode == "alloca":
        if line.word() == "inalloca":
            line.take()
        line.type()
        result = "ptr"
        while line.accept(","):
            if line.peek("align") or line.peek("!"):
                break
            if line.peek("addrspace"):
                result = f"ptr {line.text[line.at : balanced(line.text, line.at + 9)]}"
                break
            line.typed(fixed=True)
        return result
    if opcode == "cmpxchg":
        line.accept("weak")
        line.accept("volatile")
        line.typed()
        line.accept(",")
        expected = line.typed()
        line.accept(",")
        line.typed()
        return f"{{ {expected.type}, i1 }}"
    if opcode == "atomicrmw":
        line.accept("volatile")
        line.take()
        line.typed()
        line.accept(",")
        return line.typed().type
    if opcode == "fence":
        return "void"
    if opcode == "va_arg":
        line.typed()
        line.accept(",")
        return line.type()
    raise UnsupportedError(f"the LLVM instruction {opcode!r} is not supported: {line.text}")


class _Context:
    """What parsing one instruction needs to know of the module, and the next free numbers."""

    def __init__(self, text: str) -> None:
        self.types = {
            name: body
            for name, body in re.findall(r"^(%\S+|%\"[^\"]*\") = type (.*)$", text, re.MULTILINE)
        }
        self.immediates: dict[str, frozenset[int]] = {}
        for line in re.findall(r"^declare .*immarg.*$", text, re.MULTILINE):
            match = re.search(r'@(?:[-a-zA-Z$._0-9]+|"[^"]*")', line)
            assert match is not None
            params = split_top(line[match.end() + 1 : balanced(line, match.end()) - 1])
            self.immediates[match.group()] = frozenset(
                i for i, param in enumerate(params) if "immarg" in param
            )
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
        cursor = _Line(param, {})
        kind = cursor.type()
        old = param.rsplit(" ", 1)[-1] if '"' not in param else _NAME.findall(param)[-1]
        new = context.fresh("a")
        names[old] = new
        args.append((new, kind))
        params.append(param[: len(param) - len(old)] + "%" + new)
    text = line[:start] + ", ".join(params) + line[end:]
    return text, match.group()[1:-1].strip('"'), args, names


def _function(lines: list[str], context: _Context) -> Function:
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
        assert match is not None
        new = context.fresh("i")
        if match.group(1):
            names[match.group(1)] = new
        blocks[-1][1].append((new, match.group(2)))
    return Function(
        name,
        header,
        tuple(args),
        tuple(
            Block(block, tuple(_instruction(id_, text, names, context) for id_, text in body))
            for block, body in blocks
        ),
        "ptx_kernel" in header.split("@", 1)[0] or f"@{name}" in context.annotated,
    )


def _instruction(id_: str, text: str, names: dict[str, str], context: _Context) -> Instr:
    line = _Line(text, names)
    opcode = line.take()
    if opcode in CALL_WORDS:
        line.take()
        opcode = "call"
    kind = _parse(line, opcode, context)
    parts, operands, blocks = line.finish()
    return Instr(id_, opcode, kind, parts, operands, blocks)


def parse(text: str) -> Module:
    """Read a module in the form in which LLVM prints it."""
    if "blockaddress(" in text:
        raise UnsupportedError("indirect branches (blockaddress) are not supported")
    context = _Context(text)
    chunks: list[str | Function] = []
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
    return Module(tuple(chunks))
