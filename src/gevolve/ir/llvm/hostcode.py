"""The device side of a CUDA source: functions of the host are blanked out, lines keep their numbers.

It is a reading of the text, not a parser of C++: at the scope of the file, of a namespace or of
``extern "C"`` it takes what stands between two ends of declarations, and blanks out a function that is
neither ``__device__`` nor ``__global__`` nor ``constexpr``, and the declaration of one that takes what only
the host has (``std::list``). Whoever compiles the rest finds out whether that was right.
"""

import re

_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*|[{}();]""",
    re.DOTALL | re.MULTILINE,
)
_QUIET = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_SCOPE = re.compile(r'\b(namespace\b[\w\s:]*|extern\s*"C(?:\+\+)?")\s*$')
_STAYS = re.compile(r"\b(__device__|__global__|__constant__|constexpr|class|struct|union|enum)\b")
_TEMPLATE = re.compile(r"\btemplate\s*<[^<>]*>")
"""Its parameters are called classes, too."""
_DECLARED = re.compile(
    r"^(?!.*\b(?:typedef|using|friend)\b)[^=]*\bstd::[^=]*\)\s*(?:noexcept\s*)?$", re.DOTALL
)
_FUNCTION = re.compile(r"\)[\s\w&:<>,*=\[\]()-]*$")


def without_host(text: str) -> str:
    """The source without the functions of the host."""
    out: list[str] = []
    kept = begin = 0  # what is written so far; where the declaration at hand begins
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
                if body:
                    head = _head(text[begin:opens])
                    if _FUNCTION.search(head) and not _STAYS.search(head):
                        out += (text[kept:begin], _blank(text[begin : token.end()]))
                        kept = token.end()
                        begin = kept
                    elif _FUNCTION.search(head):
                        begin = token.end()
                body = False
        elif word == "{":
            if _SCOPE.search(_QUIET.sub(" ", text[begin : token.start()])):
                begin = token.end()
            else:
                opens, body, depth = token.start(), True, 1
        elif not depth:  # the end of a declaration, or of a namespace
            head = _head(text[begin : token.start()])
            if word == ";" and _DECLARED.search(head) and not _STAYS.search(head):
                out += (text[kept:begin], _blank(text[begin : token.end()]))
                kept = token.end()
            begin = token.end()
    return "".join((*out, text[kept:]))


def _head(text: str) -> str:
    """What a declaration begins with, without comments and what it is a template of."""
    return _TEMPLATE.sub(" ", _QUIET.sub(" ", text))


def _blank(text: str) -> str:
    return "".join(character if character == "\n" else " " for character in text)
