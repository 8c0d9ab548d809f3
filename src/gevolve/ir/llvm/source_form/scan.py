"""Finds the extent of things in C++ source: brackets, statements, operands, parameters.

It works on text whose comments, literals and preprocessor lines are blanked out (`blanked`), so that
offsets are those of the source. It is no parser: whoever changes a source by it compiles and judges
the result.
"""

import re

from gevolve.ir.edit_kind import Skipped

Span = tuple[int, int]

_HIDDEN = re.compile(
    r'//(?:\\\n|[^\n])*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|^[ \t]*#(?:\\\n|[^\n])*',
    re.DOTALL | re.MULTILINE,
)
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_OPENING = {closing: opening for opening, closing in _PAIRS.items()}
_WORD = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"(?:0[xX][\da-fA-F']+|(?:\d[\d']*\.?[\d']*|\.\d+)(?:[eE][+-]?\d+)?)\w*")


def blanked(text: str) -> str:
    """The text with everything that is no code replaced by blanks of the same length."""
    return _HIDDEN.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def closing(text: str, at: int) -> int:
    """The offset of the bracket that closes the one at this offset."""
    open_ = [text[at]]
    for place in range(at + 1, len(text)):
        mark = text[place]
        if mark in _PAIRS:
            open_.append(mark)
        elif mark in _OPENING:
            if open_.pop() != _OPENING[mark]:
                break
            if not open_:
                return place
    raise Skipped("its brackets do not match")


def opening(text: str, at: int) -> int:
    """The offset of the bracket that the one at this offset closes."""
    deep = 0
    for place in range(at, -1, -1):
        deep += (text[place] in _OPENING) - (text[place] in _PAIRS)
        if not deep:
            return place
    raise Skipped("its brackets do not match")


def trimmed(text: str, span: Span) -> Span:
    """A span without the blanks at its ends."""
    start, end = span
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def parameters(text: str, name: str, after: int) -> list[Span]:
    """The parameters of the function of this name that is defined at or after an offset."""
    found = re.compile(rf"\b{re.escape(name)}\s*\(").search(text, after)
    if found is None:
        raise Skipped(f"{name} is not where it should be")
    start, end = found.end(), closing(text, found.end() - 1)
    spans: list[Span] = []
    deep, begin = 0, start
    for place in range(start, end):
        mark = text[place]
        deep += (mark in "([{<") - (mark in ")]}>")
        if mark == "," and not deep:
            spans.append((begin, place))
            begin = place + 1
    spans.append((begin, end))
    return [trimmed(text, span) for span in spans]


def statement(text: str, at: int) -> Span:
    """The simple statement that has this offset in it, with its semicolon."""
    start = at
    while start > 0 and text[start - 1] not in ";{}":
        start = opening(text, start - 1) if text[start - 1] in _OPENING else start - 1
    end = at
    while text[end] != ";":
        if text[end] in _PAIRS:
            end = closing(text, end)
        elif text[end] in _OPENING or end + 1 >= len(text):
            raise Skipped("it is no statement of its own")
        end += 1
    start, end = trimmed(text, (start, end + 1))
    body = _body_of(text, start)
    return (body, end) if body <= at else (start, end)


def statement_start(text: str, at: int) -> int:
    """Where the whole statement of a block that has this offset in it begins, heads of conditions and loops included."""
    deep = 0
    for place in range(at - 1, -1, -1):
        mark = text[place]
        deep += (mark in _OPENING) - (mark in _PAIRS)
        if deep < 0 and mark == "{":
            break
        if deep < 0:  # a bracket around the offset, such as that of a condition
            at, deep = place, 0
    start = at
    while start > 0 and text[start - 1] not in ";{}":
        start = opening(text, start - 1) if text[start - 1] in _OPENING else start - 1
    start = trimmed(text, (start, at))[0]
    if re.match(r"else\b", text[start:]):
        raise Skipped("it is what another condition leaves")
    return start


def _body_of(text: str, start: int) -> int:
    """Where what a condition or a loop guards begins, if the text from here is one; else here."""
    head = re.compile(r"(?:if|for|while)\s*(?=\()|else\b\s*").match(text, start)
    if head is None:
        return start
    place = head.end() if text[head.start() : head.start() + 4] == "else" else None
    if place is None:
        place = closing(text, head.end()) + 1
    return _body_of(text, trimmed(text, (place, len(text)))[0])


def operand_after(text: str, at: int) -> Span:
    """The operand of an operator that ends at this offset: signs, then a postfix expression."""
    start = place = trimmed(text, (at, len(text)))[0]
    while text[place] in "+-*&!~":
        place = trimmed(text, (place + 1, len(text)))[0]
    if text[place] == "(":
        place = closing(text, place) + 1
        cast = trimmed(text, (place, len(text)))[0]
        if _is_cast(text[start:place]) and (text[cast].isalnum() or text[cast] in "_(."):
            return start, operand_after(text, cast)[1]
    else:
        word = _WORD.match(text, place) or _NUMBER.match(text, place)
        if word is None:
            raise Skipped("its operand is not plain")
        place = word.end()
    return start, postfix_end(text, place)


def postfix_end(text: str, place: int) -> int:
    """The end of an expression that goes on with brackets and members."""
    while place < len(text):
        if text[place] in "([":
            place = closing(text, place) + 1
        elif member := re.compile(r"(?:\.|->|::)[A-Za-z_]\w*").match(text, place):
            place = member.end()
        else:
            break
    return place


def postfix_start(text: str, end: int) -> int:
    """Where the name with brackets that ends here begins."""
    start = trimmed(text, (0, end))[1]
    while start > 0 and text[start - 1] == "]":
        start = trimmed(text, (0, opening(text, start - 1)))[1]
    name = re.search(r"[A-Za-z_]\w*$", text[:start])
    if name is None:
        raise Skipped("it is no plain element of an array")
    return name.start()


def operand_before(text: str, at: int) -> Span:
    """The left operand of the product or quotient whose operator is at this offset."""
    end = place = trimmed(text, (0, at))[1]
    while place > 0:
        mark = text[place - 1]
        if mark in ")]":
            place = opening(text, place - 1)
        elif mark.isalnum() or mark in "_. \t\n*/%":
            place -= 1
        elif text[place - 2 : place] == "->":
            place -= 2
        elif mark in "+-" and re.search(r"\d[eE]$", text[: place - 1]):
            place -= 1
        else:
            break
    place = trimmed(text, (place, end))[0]
    if word := re.compile(r"(?:return|else|case)\b\s*").match(text, place):
        place = word.end()
    if text[place] == "*":
        raise Skipped("its operand is not plain")
    return place, end


def _is_cast(text: str) -> bool:
    return bool(
        re.fullmatch(r"\(\s*(?:const )?(?:float|double|int|unsigned|long|size_t)\s*\)", text)
    )
