"""How facts about arrays and numbers are written in CUDA C++."""

import re

from gevolve.ir.edit_kind import Skipped
from gevolve.ir.llvm.source_form.conditions import comparison
from gevolve.ir.llvm.source_form.draft import SourceDraft
from gevolve.ir.llvm.source_form.scan import (
    Span,
    closing,
    operand_after,
    operand_before,
    statement,
    trimmed,
)

_TYPES = {"i32": ("int", "unsigned"), "i64": ("long long", "unsigned long long")}
"""The types of whole numbers with and without a sign."""


def padded(source: SourceDraft, array: str) -> str:
    """The rows of a shared array get one element more."""
    mangled = array.strip('"')
    words = [mangled]
    for length in re.finditer(r"\d+(?=[A-Za-z_])", mangled):
        rest = mangled[length.end() :]
        if re.fullmatch(r"(_\d+_?)?", rest[int(length[0]) :]):
            words.append(rest[: int(length[0])])
    for word in words:
        declared = re.compile(
            rf"__shared__[^;=]*?\b{re.escape(word)}\s*(\[[^\]]*\])(\[[^\]]*\])(?=\s*[;,])"
        )
        found = list(declared.finditer(source.code))
        if len(found) == 1:
            at = found[0].end(2) - 1
            source.changes.replace((at, at), " + 1")
            return f"make the rows of `{word}` one element longer ({source.line(at)})"
    raise Skipped("the array is not declared plainly")


def aligned(source: SourceDraft, argument: str) -> str:
    """A pointer parameter is aligned to 16 bytes."""
    start, end = source.parameter(argument)
    found = re.fullmatch(r"(.*\*)\s*(?:__restrict__\s*)?(\w+)", source.code[start:end], re.DOTALL)
    if found is None:
        raise Skipped("the parameter is no plain pointer")
    at = source.code.find("{", end)
    if at < 0 or ";" in source.code[end:at]:
        raise Skipped("the kernel is not defined where it is declared")
    kind, name = " ".join(found[1].split()), found[2]
    source.changes.replace(
        (at + 1, at + 1), f"\n    {name} = ({kind})__builtin_assume_aligned({name}, 16);"
    )
    return f"take `{name}` as aligned to 16 bytes ({source.line(start)})"


def block_size(source: SourceDraft, read: str, axis: str, size: int) -> str:
    """A kernel takes its block size as a number."""
    block = source.index.block_of[read]
    at, name = source.definition(block)
    begin = source.code.find("{", closing(source.code, source.code.index("(", at)))
    end = closing(source.code, begin)
    uses = list(re.compile(rf"\bblockDim\s*\.\s*{axis}\b").finditer(source.code, begin, end))
    if not uses:
        raise Skipped(f"{name} does not read it itself")
    for use in uses:
        source.changes.replace(use.span(), str(size))
    return f"take `blockDim.{axis}` of `{name}` as {size} ({source.line(uses[0].start())})"


def compared_bits(source: SourceDraft, compare: str) -> str:
    """Doubles are compared as whole numbers."""
    at = source.place(compare)
    found = re.compile(r"<=|>=|==|!=|<|>").match(source.code, at)
    if found is None:
        raise Skipped("it is no plain comparison")
    start, end = comparison(source.code, found.span())
    for side in ((start, found.start()), (found.end(), end)):
        left, right = trimmed(source.code, side)
        text = source.text[left:right]
        source.changes.replace((left, right), f"__double_as_longlong({text})")
    return f"compare the bits of `{source.text[start:end]}` ({source.line(at)})"


def unsigned_division(source: SourceDraft, division: str) -> str:
    """A division of numbers that are not negative is one without signs."""
    at, left, right = _division(source, division)
    kind = source.index.instr[division].type
    if kind not in _TYPES:
        raise Skipped(f"{kind} has no name in CUDA")
    signed, plain = _TYPES[kind]
    operator = source.code[at]
    a, b = (source.text[slice(*span)] for span in (left, right))
    source.changes.replace(
        (left[0], right[1]), f"({signed})(({plain})({a}) {operator} ({plain})({b}))"
    )
    return f"take `{a} {operator} {b}` as one of numbers without signs ({source.line(at)})"


def signed_operation(source: SourceDraft, operation: str) -> str:
    """A sum or product of numbers without signs is one of numbers with signs, which may not wrap round."""
    at, left, right = _operation(source, operation)
    text = source.text[left[0] : right[1]]
    for span in (left, right):
        source.changes.wrap(span, "(int)(", ")")
    return f"take `{text}` as a number with a sign, which does not wrap round ({source.line(at)})"


def unsigned_operation(source: SourceDraft, operation: str) -> str:
    """The operands of a sum or product with a sign are not negative: said above the statement."""
    at, left, right = _operation(source, operation)
    operands = [source.text[slice(*span)] for span in (left, right)]
    names = [one for one in operands if not one.isdigit()]
    start, _ = statement(source.code, at)
    if source.code[at] == "-" or not all(re.fullmatch(r"[A-Za-z_]\w*", one) for one in names):
        raise Skipped("its operands are no plain names")
    if re.search(r"(\)|\belse)\s*$", source.code[:start]):
        raise Skipped("the statement is no statement of a block")
    for name in names:
        source.changes.above(start, f"__builtin_assume({name} >= 0);")
    return f"take {' and '.join(f'`{name}`' for name in names)} as not negative ({source.line(at)})"


def _operation(source: SourceDraft, operation: str) -> tuple[int, Span, Span]:
    """A sum, difference or product: where its operator is, and its operands."""
    at, code = source.place(operation), source.code
    if code[at] not in "+-*" or code[at + 1] in "+-=":
        raise Skipped("it is no plain sum or product")
    left, right = operand_before(code, at), operand_after(code, at + 1)
    while code[at] != "*" and code[(more := trimmed(code, (right[1], len(code)))[0])] in "*/%":
        right = (right[0], operand_after(code, more + 1)[1])
    return at, left, right


def power_of_two(source: SourceDraft, division: str) -> str:
    """A divisor has one bit: said before the statement that divides by it."""
    at, _, right = _division(source, division)
    divisor = source.text[slice(*right)]
    start, _ = statement(source.code, at)
    if re.fullmatch(r"[A-Za-z_][\w.]*", divisor) is None:
        raise Skipped("the divisor is no plain name")
    if re.search(r"(\)|\belse)\s*$", source.code[:start]):
        raise Skipped("the statement is no statement of a block")
    source.changes.replace(
        (start, start), f"__builtin_assume(({divisor} & ({divisor} - 1)) == 0); "
    )
    return f"take `{divisor}` as a power of two ({source.line(at)})"


def _division(source: SourceDraft, division: str) -> tuple[int, Span, Span]:
    at, code = source.place(division), source.code
    if code[at] not in "/%" or code[at + 1] == "=":
        raise Skipped("it is no plain division")
    return at, operand_before(code, at), operand_after(code, at + 1)
