"""The device side of a CUDA source: functions of the host are blanked out, lines keep their numbers.

It is a reading of the text, not a parser of C++: at the scope of the file, of a namespace or of
``extern "C"`` it takes what stands between two ends of declarations, and blanks out a function that is
neither ``__device__`` nor ``__global__`` nor ``constexpr``, and the declaration of one that takes what only
the host has (``std::list``). Whoever compiles the rest finds out whether that was right.
"""

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*|[{}();]""",
    re.DOTALL | re.MULTILINE,
)
_QUIET = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_SCOPE = re.compile(r'\b(namespace\b[\w\s:]*|extern\s*"C(?:\+\+)?")\s*$')
_STAYS = re.compile(r"\b(__device__|__global__|__constant__|constexpr|class|struct|union|enum)\b")
_FOR_DEVICE = re.compile(r"\b(__device__|__global__|__constant__|__managed__)\b")
_TEMPLATE = re.compile(r"\btemplate\s*<[^<>]*>")
"""Its parameters are called classes, too."""
_DECLARED = re.compile(
    r"^(?!.*\b(?:typedef|using|friend)\b)[^=]*\bstd::[^=]*\)\s*(?:noexcept\s*)?$", re.DOTALL
)
_FUNCTION = re.compile(r"\)[\s\w&:<>,*=\[\]()-]*$")


def without_host(text: str) -> str:
    """The source without the functions of the host."""
    out: list[str] = []
    kept = 0
    for begin, end, head in _declarations(text):
        function = text[end - 1] == "}" and _FUNCTION.search(head)
        declared = text[end - 1] == ";" and _DECLARED.search(head)
        if (function or declared) and not _STAYS.search(head):
            out += (text[kept:begin], _blank(text[begin:end]))
            kept = end
    return "".join((*out, text[kept:]))


def without_line(text: str, line: int) -> str | None:
    """The source without the declaration that a line is in; None if there is none, or it is for the device."""
    for begin, end, _ in _declarations(text):
        began = begin + len(text[begin:end]) - len(text[begin:end].lstrip())
        first, last = text.count("\n", 0, began) + 1, text.count("\n", 0, end) + 1
        if first <= line <= last:
            if _FOR_DEVICE.search(_QUIET.sub(" ", text[begin:end])):
                return None
            return text[:begin] + _blank(text[begin:end]) + text[end:]
    return None


def _declarations(text: str) -> Iterator[tuple[int, int, str]]:
    """Where each declaration begins and ends, by brace or semicolon, and what stands before its body."""
    begin = 0  # where the declaration at hand begins
    opens = depth = 0  # the place of its body's brace; braces and parentheses within it
    body = False
    for token in _TOKEN.finditer(text):
        word = token[0]
        if word not in "{}();" or len(word) != 1:
            if word.lstrip().startswith("#") and not depth:
                begin = token.end()
            continue
        if word == "(" or (word == "{" and depth):
            depth += 1
        elif word == ")" or (word == "}" and depth):
            depth -= 1
            if word == "}" and not depth:
                head = _head(text[begin:opens])
                if body and _FUNCTION.search(head):
                    yield begin, token.end(), head
                    begin = token.end()
                body = False
        elif word == "{":
            if _SCOPE.search(_QUIET.sub(" ", text[begin : token.start()])):
                begin = token.end()
            else:
                opens, body, depth = token.start(), True, 1
        elif not depth:  # the end of a declaration, or of a namespace
            if word == ";":
                yield begin, token.end(), _head(text[begin : token.start()])
            begin = token.end()


def _head(text: str) -> str:
    """What a declaration begins with, without comments and what it is a template of."""
    return _TEMPLATE.sub(" ", _QUIET.sub(" ", text))


def _blank(text: str) -> str:
    return "".join(character if character == "\n" else " " for character in text)
