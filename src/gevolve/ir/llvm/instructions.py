"""Where each LLVM instruction has its operands, and what type its result has."""

from collections.abc import Callable
from typing import NamedTuple

from gevolve.errors import UnsupportedError
from gevolve.ir.llvm.cursor import Cursor, balanced, element_type
from gevolve.ir.llvm.model import Instr

_BINARY = (
    *("add", "fadd", "sub", "fsub", "mul", "fmul", "udiv", "sdiv", "fdiv", "urem", "srem", "frem"),
    *("shl", "lshr", "ashr", "and", "or", "xor"),
)
_CASTS = (
    *("trunc", "zext", "sext", "fptrunc", "fpext", "fptoui", "fptosi", "uitofp", "sitofp"),
    *("ptrtoint", "ptrtoaddr", "inttoptr", "bitcast", "addrspacecast"),
)
_CALL_WORDS = frozenset({"tail", "musttail", "notail"})


class Declarations(NamedTuple):
    """What reading an instruction needs to know of its module."""

    types: dict[str, str]
    """The bodies of named types."""
    immediates: dict[str, frozenset[int]]
    """Of each intrinsic, the arguments that must be constants."""


Reader = Callable[[Cursor, Declarations], str]
"""Passes the operands of one instruction; returns the type of its result."""


def read_instruction(id_: str, text: str, names: dict[str, str], declared: Declarations) -> Instr:
    """Read one instruction without its result's name; `names` gives the new names of locals."""
    cursor = Cursor(text, names)
    opcode = cursor.take()
    if opcode in _CALL_WORDS:
        cursor.take()
        opcode = "call"
    reader = _READERS.get(opcode)
    if reader is None:
        raise UnsupportedError(f"the LLVM instruction {opcode!r} is not supported: {text}")
    kind = reader(cursor, declared)
    return Instr(id_, opcode, kind, *cursor.finish())


def _binary(cursor: Cursor, _: Declarations) -> str:
    cursor.flags()
    first = cursor.typed()
    cursor.accept(",")
    cursor.operand(first.type)
    return first.type


def _unary(cursor: Cursor, _: Declarations) -> str:
    cursor.flags()
    return cursor.typed().type


def _compare(cursor: Cursor, declared: Declarations) -> str:
    kind = _binary(cursor, declared)
    return f"<{kind[1:].split(' x ')[0]} x i1>" if kind.startswith("<") else "i1"


def _cast(cursor: Cursor, _: Declarations) -> str:
    cursor.flags()
    cursor.typed()
    cursor.accept("to")
    return cursor.type()


def _load(cursor: Cursor, _: Declarations) -> str:
    cursor.flags()
    kind = cursor.type()
    cursor.accept(",")
    cursor.typed()
    return kind


def _store(cursor: Cursor, _: Declarations) -> str:
    cursor.flags()
    cursor.typed()
    cursor.accept(",")
    cursor.typed()
    return "void"


def _getelementptr(cursor: Cursor, _: Declarations) -> str:
    cursor.flags()
    source = cursor.type()
    structured = "{" in source or "%" in source
    cursor.accept(",")
    result, count = cursor.typed().type, 0
    while cursor.accept(","):
        if cursor.peek("!"):
            break
        kind = cursor.type()
        constant = not cursor.peek("%")
        cursor.operand(kind, fixed=structured and count > 0 and constant)
        if kind.startswith("<") and not result.startswith("<"):
            result = f"<{kind[1:].split(' x ')[0]} x {result}>"
        count += 1
    return result


def _phi(cursor: Cursor, _: Declarations) -> str:
    cursor.flags()
    kind = cursor.type()
    while cursor.accept("["):
        cursor.operand(kind)
        cursor.accept(",")
        cursor.block()
        cursor.accept("]")
        if not (cursor.peek(",") and cursor.text.startswith("[", cursor.at + 2)):
            break
        cursor.accept(",")
    return kind


def _call(cursor: Cursor, declared: Declarations) -> str:
    cursor.flags()
    result = cursor.type()
    cursor.space()
    if cursor.text[cursor.at] == "(":  # a full function type, as varargs have
        cursor.at = balanced(cursor.text, cursor.at)
    elif cursor.word() == "addrspace":
        cursor.take()
        cursor.at = balanced(cursor.text, cursor.at)
    callee = ""
    if cursor.peek("%"):
        cursor.operand("ptr", fixed=True)
    else:
        callee = cursor.value()
    asm = callee.startswith("asm")
    immediates = declared.immediates.get(callee, frozenset())
    cursor.accept("(")
    index = 0
    while not cursor.accept(")"):
        cursor.accept(",")
        kind = cursor.type()
        if kind == "metadata":
            cursor.metadata()
        else:
            cursor.attributes()
            constant = not cursor.peek("%")
            fixed = index in immediates or kind == "token" or (asm and constant)
            cursor.operand(kind, fixed=fixed)
        index += 1
    cursor.space()
    while cursor.at < len(cursor.text) and cursor.text[cursor.at] not in ",[":
        cursor.at += 1  # function attributes
    if cursor.accept("["):
        _bundles(cursor)
    return result


def _bundles(cursor: Cursor) -> None:
    while not cursor.accept("]"):
        cursor.accept(",")
        cursor.string()
        cursor.accept("(")
        while not cursor.accept(")"):
            cursor.accept(",")
            cursor.typed(fixed=True)


def _select(cursor: Cursor, _: Declarations) -> str:
    cursor.flags()
    cursor.typed()
    cursor.accept(",")
    arm = cursor.typed()
    cursor.accept(",")
    cursor.typed()
    return arm.type


def _extractelement(cursor: Cursor, declared: Declarations) -> str:
    vector = cursor.typed()
    cursor.accept(",")
    cursor.typed()
    return element_type(vector.type, declared.types)


def _insertelement(cursor: Cursor, _: Declarations) -> str:
    vector = cursor.typed()
    for _index in range(2):
        cursor.accept(",")
        cursor.typed()
    return vector.type


def _shufflevector(cursor: Cursor, declared: Declarations) -> str:
    vector = cursor.typed()
    cursor.accept(",")
    cursor.typed()
    cursor.accept(",")
    mask = cursor.typed(fixed=True)
    return f"<{mask.type[1:].rsplit(' x ', 1)[0]} x {element_type(vector.type, declared.types)}>"


def _extractvalue(cursor: Cursor, declared: Declarations) -> str:
    kind = cursor.typed().type
    while cursor.accept(","):
        if cursor.peek("!"):
            break
        kind = element_type(kind, declared.types, int(cursor.value()))
    return kind


def _insertvalue(cursor: Cursor, _: Declarations) -> str:
    aggregate = cursor.typed()
    cursor.accept(",")
    cursor.typed()
    return aggregate.type


def _alloca(cursor: Cursor, _: Declarations) -> str:
    cursor.flags()
    cursor.type()
    while cursor.accept(","):
        if cursor.peek("align") or cursor.peek("!"):
            continue
        if cursor.peek("addrspace"):
            return f"ptr {cursor.text[cursor.at : balanced(cursor.text, cursor.at + 9)]}"
        if cursor.word().startswith("i"):
            cursor.typed(fixed=True)
    return "ptr"


def _cmpxchg(cursor: Cursor, _: Declarations) -> str:
    cursor.flags()
    cursor.typed()
    cursor.accept(",")
    expected = cursor.typed()
    cursor.accept(",")
    cursor.typed()
    return f"{{ {expected.type}, i1 }}"


def _atomicrmw(cursor: Cursor, _: Declarations) -> str:
    cursor.flags()
    cursor.typed()
    cursor.accept(",")
    return cursor.typed().type


def _fence(_cursor: Cursor, _: Declarations) -> str:
    return "void"


def _ret(cursor: Cursor, _: Declarations) -> str:
    if not cursor.accept("void"):
        cursor.typed()
    return "void"


def _br(cursor: Cursor, _: Declarations) -> str:
    if not cursor.peek("label"):
        cursor.typed()
        cursor.accept(",")
        cursor.label()
        cursor.accept(",")
    cursor.label()
    return "void"


def _switch(cursor: Cursor, _: Declarations) -> str:
    cursor.typed()
    cursor.accept(",")
    cursor.label()
    cursor.accept("[")
    while not cursor.accept("]"):
        cursor.type()
        cursor.value()
        cursor.accept(",")
        cursor.label()
    return "void"


_READERS: dict[str, Reader] = {
    **dict.fromkeys(_BINARY, _binary),
    **dict.fromkeys(_CASTS, _cast),
    **dict.fromkeys(("fneg", "freeze"), _unary),
    **dict.fromkeys(("icmp", "fcmp"), _compare),
    **dict.fromkeys(("fence", "unreachable"), _fence),
    "alloca": _alloca,
    "atomicrmw": _atomicrmw,
    "br": _br,
    "call": _call,
    "cmpxchg": _cmpxchg,
    "extractelement": _extractelement,
    "extractvalue": _extractvalue,
    "getelementptr": _getelementptr,
    "insertelement": _insertelement,
    "insertvalue": _insertvalue,
    "load": _load,
    "phi": _phi,
    "ret": _ret,
    "select": _select,
    "shufflevector": _shufflevector,
    "store": _store,
    "switch": _switch,
}
