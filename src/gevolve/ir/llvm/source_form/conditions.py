"""How a condition that an edit fixes is written in CUDA C++: ``if (true)``, or an assumption at a loop."""

import re

from gevolve.ir.edit_kind import Skipped
from gevolve.ir.llvm.model import Instr
from gevolve.ir.llvm.source_form.draft import SourceDraft
from gevolve.ir.llvm.source_form.scan import (
    Span,
    closing,
    opening,
    statement_start,
    trimmed,
)

_OPERATOR = re.compile(r"<=|>=|==|!=|<(?!<)|>(?!>)")
_HEAD = re.compile(r"\b(if|for|while|switch)\s*$")
_PREDICATE = re.compile(r"\b(?:[us]|o|u)?(eq|ne|lt|le|gt|ge)\b")
_EFFECT = re.compile(r"\+\+|--|(?<![=<>!])=(?!=)")
_FOR = re.compile(r"\s*(?:[\w:]+\s+)*(\w+)\s*=\s*([^;,]+);\s*\1\s*(<=?|>=?|!=)\s*([^;]+);")
_DIRECTION = {"lt": "<", "le": "<", "gt": ">", "ge": ">", "eq": "=", "ne": "!"}
_OPPOSITE = {"<": ">", ">": "<", "=": "!", "!": "="}


def fixed(source: SourceDraft, target: str, value: bool) -> str:
    """The condition of a branch or a selection is always true, or never."""
    instr = source.index.instr.get(target)
    name = instr.operands[0].local if instr is not None and instr.operands else None
    condition = source.index.instr.get(name or "")
    if instr is None or condition is None:
        raise Skipped("its condition comes from no place in the source")
    if len(source.index.users.get(condition.id, ())) > 1:
        raise Skipped("its condition decides more than this in the source")
    at = source.place(condition.id)
    operator = _OPERATOR.match(source.code, at)
    if operator is None or condition.opcode not in ("icmp", "fcmp"):
        return _whole(source, instr, at, value)
    _require_once(source, condition, at)
    span = comparison(source.code, operator.span())
    if _head(source.code, at) in ("for", "while"):
        return _loop(source, instr, at, value)
    same = _same(condition, operator[0], source.code[slice(*span)])
    seen = _direction(source, instr, span)
    if seen is None:
        seen = same
    if seen is None or (same is not None and seen is not same):
        raise Skipped("which way its condition goes cannot be told from the source")
    return _put(source, span, value is seen)


def _put(source: SourceDraft, span: Span, truth: bool) -> str:
    text = source.text[slice(*span)]
    if _EFFECT.search(source.code[slice(*span)]):
        raise Skipped("its condition does more than decide")
    source.changes.replace(span, str(truth).lower())
    return f"take `{' '.join(text.split())}` as {str(truth).lower()} ({source.line(span[0])})"


def _same(condition: Instr, operator: str, text: str) -> bool | None:
    """Whether a comparison is true when that of the source is, since LLVM may have turned it round; None if unsure.

    To swap the operands keeps it strict or not, to negate it does not, unless one more or less makes up
    for it. With a constant on the right LLVM makes everything strict, and does not swap.
    """
    found = _PREDICATE.search(condition.parts[0])
    if found is None:
        raise Skipped("its condition is no comparison")
    wanted, strict = operator[0], len(operator) == 1
    has, has_strict = _DIRECTION[found[1]], found[1] in ("lt", "gt")
    if wanted in "=!":
        if has not in "=!":
            raise Skipped("its comparison is another one in the source")
        return has == wanted
    if has in "=!":
        raise Skipped("its comparison is another one in the source")
    if condition.operands[1].local is None:
        return None if re.match(r"[-+]?[\d.]", text) else has == wanted
    return None if re.search(r"[-+]\s*1\b", text) else strict == has_strict


def _require_once(source: SourceDraft, condition: Instr, at: int) -> None:
    """One comparison of the source may be several of the program, all of which the patch must fix."""
    for other in source.index.instr.values():
        fixed_too = not source.edited.isdisjoint(source.index.users.get(other.id, ()))
        if other.opcode in ("icmp", "fcmp") and other.id != condition.id and not fixed_too:
            try:
                elsewhere = source.place(other.id) != at
            except Skipped:
                continue
            if not elsewhere:
                raise Skipped("its condition stands for several of the program")


def comparison(code: str, operator: Span) -> Span:
    """The comparison that has this operator."""
    start, end = operator
    while start > 0:
        mark = code[start - 1]
        if mark in ")]":
            start = opening(code, start - 1)
        elif (
            mark in "([{;,?:"
            or code[start - 2 : start] in ("&&", "||")
            or (mark == "=" and code[start - 2] not in "=<>!")
        ):
            break
        else:
            start -= 1
    while end < len(code):
        if code[end] in "([":
            end = closing(code, end) + 1
        elif code[end] in ")]};,?:" or code[end : end + 2] in ("&&", "||"):
            break
        else:
            end += 1
    start, end = trimmed(code, (start, end))
    if word := re.compile(r"return\b\s*").match(code, start):
        start = word.end()
    return start, end


def _enclosing(code: str, at: int) -> int:
    """The bracket that opens around an offset; -1 if a statement begins before one does."""
    place = at
    while place > 0:
        mark = code[place - 1]
        if mark in ")]}":
            place = opening(code, place - 1)
        elif mark in "([":
            return place - 1
        elif mark in "{;" and not _HEAD.search(code[: _for_start(code, place)]):
            return -1
        else:
            place -= 1
    return -1


def _for_start(code: str, place: int) -> int:
    """Before the bracket of a loop's head that has a semicolon at this place; else the start of the text."""
    deep = 0
    for before in range(place - 1, -1, -1):
        mark = code[before]
        deep += (mark in ")]}") - (mark in "([{")
        if deep < 0:
            return before if mark == "(" else 0
    return 0


def _head(code: str, at: int) -> str:
    """The keyword whose condition has this offset; "" if there is none."""
    place = at
    while (place := _enclosing(code, place)) >= 0:
        if found := _HEAD.search(code[:place]):
            return found[1]
    return ""


def _whole(source: SourceDraft, branch: Instr, at: int, value: bool) -> str:
    """The whole condition of an ``if``: which way is which is seen from the code that it guards."""
    place = _if(source.code, at)
    if branch.opcode != "br" or place < 0:
        raise Skipped("its condition is no plain comparison")
    span = trimmed(source.code, (place + 1, closing(source.code, place)))
    seen = _direction(source, branch, span)
    if seen is None:
        raise Skipped("which way its condition goes cannot be told from the source")
    return _put(source, span, value is seen)


def _if(code: str, at: int) -> int:
    """The bracket of the ``if`` whose condition has this offset; -1 if there is none."""
    place = at
    while (place := _enclosing(code, place)) >= 0:
        if (found := _HEAD.search(code[:place])) and found[1] == "if":
            break
    return place


def _direction(source: SourceDraft, branch: Instr, span: Span) -> bool | None:
    """Whether a branch is taken when the ``if`` that has this condition alone is; None if that cannot be seen."""
    code = source.code
    place = _if(code, span[0])
    if branch.opcode != "br" or place < 0:
        return None
    end = closing(code, place)
    if trimmed(code, (place + 1, end)) != span:
        return None
    body = trimmed(code, (end + 1, len(code)))[0]
    stop = closing(code, body) if code[body] == "{" else code.index(";", body)
    inside = [_has_place(source, block, (body, stop)) for block in branch.blocks]
    return None if inside[0] == inside[1] else inside[0]


def _has_place(source: SourceDraft, block: str, span: Span) -> bool:
    for id_ in source.index.body[block]:
        try:
            if span[0] <= source.place(id_) <= span[1]:
                return True
        except Skipped:
            continue
    return False


def _loop(source: SourceDraft, branch: Instr, at: int, value: bool) -> str:
    """A loop is entered without asking: the compiler is told that its condition holds at first."""
    if not _enters(source, branch, value):
        raise Skipped("that a loop goes on or ends has no such form")
    begin = _for_start(source.code, at)
    word = _HEAD.search(source.code[:begin])
    parts = _FOR.match(source.text, begin + 1)
    if word is None or parts is None:
        raise Skipped("the loop is not plain")
    assumed = f"{parts[2].strip()} {parts[3]} {parts[4].strip()}"
    start = statement_start(source.code, word.start())
    if start != word.start():
        raise Skipped("the loop is not plain")
    source.changes.above(start, f"__builtin_assume({assumed});")
    return f"tell the compiler that `{assumed}` ({source.line(word.start())})"


def _enters(source: SourceDraft, branch: Instr, value: bool) -> bool:
    """Whether a branch goes from outside of a loop into it if its condition has this value."""
    index, home = source.index, source.index.block_of[branch.id]
    if branch.opcode != "br":
        return False
    dominance = index.dominance[index.function_of[home]]
    into = branch.blocks[0 if value else 1]
    heads = [
        head
        for block in dominance.dominated(into)
        for head in dominance.successors[block]
        if dominance.dominates(head, block) and dominance.dominates(into, head)
    ]
    heads += [into] if into in dominance.successors[into] else []
    leaves = not any(dominance.dominates(to, home) for to in branch.blocks)
    return leaves and bool(heads) and dominance.immediate.get(into) == home
