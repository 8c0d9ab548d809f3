"""A module cut into units that LLVM optimises alone, and the PTX of the units joined again.

A unit is a set of functions that name each other, or a variable that only this module sees: nothing that
the optimiser learns of one unit tells it anything about another. So an edit needs only its own unit to be
compiled again; of most modules that is one kernel. What all can see (variables of the host, declarations,
debug information) is in every unit.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

_DEFINED = re.compile(r'^define [^\n]*?(@[-\w.$]+|@"[^"]*")\(', re.MULTILINE)
_NAME = re.compile(r'@[-\w.$]+|@"[^"]*"')
_VARIABLE = re.compile(r'(@[-\w.$]+|@"[^"]*") = (.*)')
_HIDDEN = re.compile(r"\b(?:internal|private)\b")
_LISTS = frozenset({"@llvm.used", "@llvm.compiler.used"})
_WHOLE = re.compile(r"module asm |@.* = .*\b(?:alias|ifunc)\b")
"""A line that ties a module together in ways that are not followed here."""

_FILE = re.compile(r"^\s*\.file\s+(\d+) (.*)$", re.MULTILINE)
_LOC = re.compile(r"^(\s*\.loc\s+)(\d+) ", re.MULTILINE)
END_OF_HEADER = ".address_size 64\n"
"""What ends the header of a PTX module that LLVM writes."""


@lru_cache(maxsize=4)
def split(text: str) -> tuple[str, ...]:
    """The units of a module, each a module; the module itself if it is one unit."""
    functions, common = _cut(text)
    if len(functions) < 2:
        return (text,)
    lines = common.split("\n")
    if any(_WHOLE.match(line) for line in lines if line.startswith(("module asm ", "@"))):
        return (text,)
    groups = _groups(functions, lines)
    if len(groups) < 2:
        return (text,)
    at = common.find("\nattributes #") + 1 or len(common)
    return tuple(
        common[:at] + "".join(functions[n] for n in group) + common[at:] for group in groups
    )


def _cut(text: str) -> tuple[list[str], str]:
    """The functions that a module defines, and the rest of it."""
    functions, rest = list[str](), list[str]()
    # Looked for as plain text: an expression tries every character of modules that have many.
    padded, at = f"\n{text}\n", 1
    while (begin := padded.find("\ndefine ", at - 1) + 1) and (
        last := padded.find("\n}\n", begin) + 1
    ):
        rest.append(padded[at:begin])
        at = last + len("}\n")
        functions.append(padded[begin:at])
    return functions, "".join((*rest, padded[at:-1]))


def _groups(functions: Sequence[str], lines: Sequence[str]) -> list[list[int]]:
    """Functions that belong together, by their numbers, in the order of the module.

    `lines` are those outside of functions.
    """
    known = [_names(function) for function in functions]
    defined = {names[0] for names in known}
    found = (_VARIABLE.match(line) for line in lines if line.startswith("@"))
    variables = {one[1]: one[2] for one in found if one}
    if any(defined & {*_NAME.findall(value)} for value in variables.values()):
        return [list(range(len(functions)))]  # a table of functions: any may call any
    ties = defined | {
        name
        for name, value in variables.items()
        if name not in _LISTS and _HIDDEN.search(value.split(" global ")[0].split(" constant ")[0])
    }
    owner: dict[str, int] = {}
    leader = list(range(len(functions)))

    def find(n: int) -> int:
        while leader[n] != n:
            n = leader[n]
        return n

    for number, names in enumerate(known):
        for name in _closed(names, ties, variables):
            one, two = sorted((find(owner.setdefault(name, number)), find(number)))
            leader[two] = one
    groups: dict[int, list[int]] = {}
    for number in range(len(functions)):
        groups.setdefault(find(number), []).append(number)
    return list(groups.values())


def _closed(names: Iterable[str], ties: set[str], variables: dict[str, str]) -> list[str]:
    """The names that tie functions together, with those that hidden variables point to."""
    found = dict.fromkeys(name for name in names if name in ties)
    queue = list(found)
    while queue:
        for name in _NAME.findall(variables.get(queue.pop(), "")):
            if name in ties and name not in found:
                found[name] = None
                queue.append(name)
    return list(found)


@lru_cache(maxsize=256)
def _names(function: str) -> tuple[str, ...]:
    """Its own name, and every name in it."""
    own = _DEFINED.match(function)
    assert own is not None
    return (own[1], *dict.fromkeys(_NAME.findall(function)))


def join(modules: Sequence[str]) -> str:
    """One PTX module of several: what more than one of them declares is declared once."""
    if len(modules) == 1:
        return modules[0]
    header, _, _ = modules[0].partition(END_OF_HEADER)
    files: dict[str, int] = {}
    found: dict[str, None] = {}
    for module in modules:
        named, body = _body(module)
        numbers = {number: files.setdefault(name, len(files) + 1) for number, name in named}
        if any(int(number) != new for number, new in numbers.items()):
            body = _LOC.sub(lambda line, new=numbers: f"{line[1]}{new[line[2]]} ", body)
        found |= dict.fromkeys(items(body))
    # Every declaration comes before what uses it, since it does so in its own module.
    listed = "".join(f"\t.file\t{number} {name}\n" for name, number in files.items())
    return f"{header}{END_OF_HEADER}\n{''.join(found)}{listed}"


@lru_cache(maxsize=256)
def _body(module: str) -> tuple[list[tuple[str, str]], str]:
    """The files that a PTX module names, by number, and what it has between them and its header."""
    _, _, body = module.partition(END_OF_HEADER)
    return _FILE.findall(body), _FILE.sub("", body)


@lru_cache(maxsize=256)
def items(body: str) -> tuple[str, ...]:
    """The declarations and definitions of a PTX module, each with its end of line."""
    found: list[str] = []
    lines: list[str] = []
    deep = 0  # braces: assembly that a source has in it may have its own, wherever on a line
    for line in body.splitlines(keepends=True):
        bare = line.strip()
        if not deep and (not bare or bare.startswith(("//", ".section"))):
            continue
        lines.append(line)
        code = line.partition("//")[0]
        before, deep = deep, deep + code.count("{") - code.count("}")
        if not deep and (before or bare.endswith(";")):
            found.append("".join(lines))
            lines = []
    return tuple(found)
