"""How edits are written in CUDA C++: each form changes a `SourceDraft`, and says what it did.

A form raises `Skipped` where the source is not as plain as it takes it to be.
"""

import re

from gevolve.ir.edit_kind import Skipped
from gevolve.ir.llvm.source_form.draft import SourceDraft
from gevolve.ir.llvm.source_form.scan import (
    Span,
    operand_after,
    operand_before,
    postfix_end,
    postfix_start,
    statement,
    trimmed,
)

_LITERAL = r"(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?"
_DOUBLE = re.compile(rf"(?<![\w.])({_LITERAL})(?![\w.])")
_DOUBLE_CALL = re.compile(
    r"\b(sqrt|fabs|pow|exp|exp2|log|log2|log10|sin|cos|tan|floor|ceil|round|trunc|fmin|fmax|fma|atan2?"
    r"|tanh)(?=\s*\()"
)
_DEFINITION = re.compile(
    rf"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+\(?-?({_LITERAL})\)?[ \t]*$", re.MULTILINE
)
_NAME = re.compile(r"[A-Za-z_]\w*")
_ROOT = """__device__ inline float approximate_sqrt(float x)
{
    float root;
    asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(x));
    return root;
}

"""
"""CUDA has no function for it."""
_NEWTON = """__device__ inline double newton_reciprocal(double x)
{
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
    r = fma(r, fma(-x, r, 1.0), r);
    return fma(r, fma(-x, r, 1.0), r);
}

"""
_APPROXIMATE = (
    *("expf", "exp2f", "exp10f", "logf", "log2f", "log10f", "powf", "sinf", "cosf", "tanf"),
    "sincosf",
)
"""Functions that have an approximate form with two underscores in front."""


def restrict(source: SourceDraft, argument: str) -> str:
    """A pointer parameter becomes ``__restrict__``."""
    start, end = source.parameter(argument)
    text = source.code[start:end]
    name = re.search(r"(\w+)\s*$", text)
    if name is None or "*" not in text:
        raise Skipped("the parameter is no plain pointer")
    if "restrict" in text:
        raise Skipped(f"{name[1]} is __restrict__ already")
    at = start + name.start()
    source.changes.replace((at, at), "__restrict__ ")
    return f"declare `{name[1]}` as `__restrict__` ({source.line(at)})"


def read_only(source: SourceDraft, load: str) -> str:
    """An element is read by ``__ldg``."""
    span = element(source, load)
    source.changes.wrap(span, "__ldg(&", ")")
    return f"read `{_of(source, span)}` by `__ldg` ({source.line(span[0])})"


def unroll(source: SourceDraft, latch: str, pragma: str) -> str:
    """A loop gets a pragma on the line above it."""
    start = source.place(latch)
    if not re.compile(r"(for|while|do)\b").match(source.code, start):
        raise Skipped("the loop is not plain")
    begin = source.text.rfind("\n", 0, start) + 1
    if above := re.compile(r"[ \t]*#[ \t]*pragma[ \t]+unroll[^\n]*\n\Z").search(
        source.text[:begin]
    ):
        source.changes.replace(above.span(), "")
    source.changes.above(start, pragma)
    return f"`{pragma}` at the loop of {source.line(start)}"


def registers(source: SourceDraft, kernel: str, most: int) -> str:
    """A kernel's threads get at most so many registers."""
    at, name = source.definition(kernel)
    if re.search(r"__maxnreg__|__launch_bounds__", source.code[_declaration(source.code, at) : at]):
        raise Skipped(f"{name} has a limit already")
    source.changes.replace((at, at), f"__maxnreg__({most}) ")
    return f"limit `{name}` to {most} registers by `__maxnreg__` ({source.line(at)})"


def sync_warp(source: SourceDraft, barrier: str) -> str:
    """A barrier becomes one of each warp."""
    span = _barrier(source, barrier)
    source.changes.replace(span, "__syncwarp()")
    return f"`__syncwarp()` instead of `__syncthreads()` ({source.line(span[0])})"


def without(source: SourceDraft, instr: str) -> str:
    """A barrier or a store goes, with its statement."""
    at = source.place(instr)
    if source.index.instr[instr].opcode == "call":
        at = _barrier(source, instr)[0]
    start, end = statement(source.code, at)
    gone = source.text[start:end]
    body = re.search(r"(\)|\belse)\s*$", source.code[:start]) is not None
    source.changes.replace(
        (start, end) if body else _whole_line(source.text, (start, end)), ";" * body
    )
    return f"drop `{' '.join(gone.split())}` ({source.line(start)})"


def approximate(source: SourceDraft, instr: str) -> str:
    """A division of floats becomes ``__fdividef``, a function its approximate form."""
    at, code = source.place(instr), source.code
    if source.index.instr[instr].type != "float":
        raise Skipped("only floats have approximate forms in CUDA")
    if word := re.compile(r"[A-Za-z_]\w*").match(code, at):
        name = word[0] if word[0].endswith("f") else f"{word[0]}f"
        if name == "sqrtf":
            source.changes.replace(word.span(), "approximate_sqrt")
            top = source.top()
            source.changes.replace((top, top), _ROOT)
            return f"`sqrt.approx` instead of `{word[0]}` ({source.line(at)})"
        if name not in _APPROXIMATE:
            raise Skipped(f"CUDA has no approximate {word[0]}")
        source.changes.replace(word.span(), f"__{name}")
        return f"`__{name}` instead of `{word[0]}` ({source.line(at)})"
    left, right = _quotient(source, at)
    source.changes.wrap((left[0], right[1]), "__fdividef(", ")")
    source.changes.replace((left[1], right[0]), ", ")
    return f"divide by `__fdividef` ({source.line(at)})"


def reciprocal(source: SourceDraft, instr: str) -> str:
    """A division becomes a product with the reciprocal."""
    at = source.place(instr)
    one = "1.0f" if source.index.instr[instr].type == "float" else "1.0"
    left, right = _quotient(source, at)
    source.changes.replace((left[1], right[0]), " * ")
    source.changes.wrap(right, f"({one} / ", ")")
    return f"multiply by the reciprocal ({source.line(at)})"


def newton(source: SourceDraft, instr: str) -> str:
    """A division of doubles becomes a product with a reciprocal by Newton's method."""
    at = source.place(instr)
    left, right = _quotient(source, at)
    top = source.top()
    source.changes.replace((left[1], right[0]), " * ")
    source.changes.wrap(right, "newton_reciprocal(", ")")
    source.changes.replace((top, top), _NEWTON)
    return f"multiply by the reciprocal, by Newton's method ({source.line(at)})"


def floats(source: SourceDraft, instrs: list[str]) -> str:
    """Constants and functions of double precision become those of single precision."""
    changed: set[Span] = set()
    constants = {found[1]: found.span(2) for found in _DEFINITION.finditer(source.text)}
    for id_ in instrs:
        start, end = _expression(source.code, source.place(id_))
        code = source.code[start:end]
        if re.search(r"\bdouble\b", code):
            raise Skipped("the source asks for double precision there")
        for found in (*_DOUBLE.finditer(code), *_DOUBLE_CALL.finditer(code)):
            changed.add((start + found.start(), start + found.end()))
        changed |= {constants[w] for w in re.findall(r"\b[A-Za-z_]\w*\b", code) if w in constants}
    for span in changed:
        source.changes.wrap(span, "", "f")
    if not changed:
        raise Skipped("its doubles are not constants")
    lines = sorted({source.line(at) for at, _ in changed}, key=lambda line: (len(line), line))
    return f"compute in single precision: `f` after the constants of {', '.join(lines)}"


def element(source: SourceDraft, load: str) -> Span:
    """The element of an array that a load reads, or a member of one, and nothing writes there."""
    start = source.place(load)
    code = source.code
    word = _NAME.match(code, start)
    while word is not None and (member := re.search(r"(\.|->)\s*$", code[:start])):
        start = postfix_start(code, member.start())
    end = postfix_end(code, word.end()) if word is not None else start
    if "[" not in code[start:end] or code[:start].rstrip().endswith("&"):
        raise Skipped("the load is no plain element of an array")
    if re.match(r"\s*([-+*/%&|^]|<<|>>)?=(?!=)|\s*(\+\+|--)", code[end:]):
        raise Skipped("the element is written there too")
    return start, end


def _declaration(code: str, at: int) -> int:
    """Where the declaration that has this offset begins."""
    return max(code.rfind(mark, 0, at) for mark in ";}") + 1


def _barrier(source: SourceDraft, instr: str) -> Span:
    at = source.place(instr)
    found = re.compile(r"__syncthreads\s*\(\s*\)").match(source.code, at)
    if found is None:
        raise Skipped("it is no plain barrier")
    return found.span()


def _quotient(source: SourceDraft, at: int) -> tuple[Span, Span]:
    code = source.code
    if code[at] != "/" or code[at + 1] == "=":
        raise Skipped("it is no plain division")
    return operand_before(code, at), operand_after(code, at + 1)


def _of(source: SourceDraft, span: Span) -> str:
    return source.text[slice(*span)]


def _expression(code: str, at: int) -> Span:
    """The statement around an offset, or what is between the semicolons of a loop's head."""
    try:
        return statement(code, at)
    except Skipped:
        start, end = at, at
        while start > 0 and code[start - 1] not in ";{}":
            start -= 1
        while end < len(code) and code[end] not in ";{}":
            end += 1
        return trimmed(code, (start, end))


def _whole_line(text: str, span: Span) -> Span:
    """The span with the rest of its line, if that is blank."""
    start = text.rfind("\n", 0, span[0]) + 1
    end = text.find("\n", span[1]) + 1
    alone = end and not text[start : span[0]].strip() and not text[span[1] : end].strip()
    return (start, end) if alone else span
