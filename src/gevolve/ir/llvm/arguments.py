"""The names that arguments have in the source: kept in the module as metadata, for people.

!gevolve.arguments = !{!7}
!7 = !{!"smooth", !"signal", !"result"}
"""

import re
from collections.abc import Iterable

from gevolve.ir.llvm.cursor import balanced

_NODES = "gevolve.arguments"
_DEFINE = re.compile(r'^define\b.*?@("(?:[^"\\]|\\.)*"|[\w.$-]+)\(', re.MULTILINE)
_ARGUMENT = re.compile(r"%([A-Za-z_][\w.]*)\s*(?=,|$)")
_NUMBER = re.compile(r"^!(\d+) = ", re.MULTILINE)
_STRING = re.compile(r'!"([^"]*)"')


def with_names(text: str) -> str:
    """The module with the names of its functions' arguments written down."""
    number = 1 + max(map(int, _NUMBER.findall(text)), default=-1)
    nodes: list[str] = []
    for found in _DEFINE.finditer(text):
        inside = text[found.end() : balanced(text, found.end() - 1) - 1]
        names = _ARGUMENT.findall(inside)
        if names and len(names) == inside.count("%"):
            words = ", ".join(f'!"{word}"' for word in (found[1].strip('"'), *names))
            nodes.append(f"!{number + len(nodes)} = !{{{words}}}")
    if not nodes:
        return text
    list_ = ", ".join(f"!{number + i}" for i in range(len(nodes)))
    return "\n".join((text, f"!{_NODES} = !{{{list_}}}", *nodes, ""))


def names_of(chunks: Iterable[str]) -> dict[str, list[str]]:
    """The names that were written down, by function."""
    text = "\n".join(chunks)
    named = re.search(rf"^!{re.escape(_NODES)} = !\{{(.*)\}}$", text, re.MULTILINE)
    found: dict[str, list[str]] = {}
    for number in re.findall(r"!(\d+)", named[1]) if named else ():
        node = re.search(rf"^!{number} = !\{{(.*)\}}$", text, re.MULTILINE)
        function, *names = _STRING.findall(node[1]) if node else ("",)
        found[function] = names
    return found
