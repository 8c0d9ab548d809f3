"""A PTX module cut into modules of one kernel each, which the assembler takes one by one."""

import re

from gevolve.ir.llvm.units import END_OF_HEADER, items

_KERNEL = re.compile(r"\.entry\s")
_FUNCTION = re.compile(r"\.func\s+(?:\([^)]*\)\s*)?([\w$.]+)")
_WORD = re.compile(r"[\w$.]+")
_FILES = re.compile(r"^\s*\.file\s.*$\n?|^\s*\.section\s[^{]*\{[^}]*\}\n?", re.MULTILINE)
"""What lines of every kernel may refer to: files, and names of inlined functions."""


def parts_of(ptx: str) -> list[str]:
    """One module for each kernel, with all variables and with the functions that it calls.

    The module itself if it has one kernel, or was not written by LLVM.
    """
    header, end, body = ptx.partition(END_OF_HEADER)
    if len(_KERNEL.findall(body)) < 2 or not end:
        return [ptx]
    files = "".join(_FILES.findall(body))
    found = items(_FILES.sub("", body))
    if sum(bool(_KERNEL.search(item)) for item in found) != len(_KERNEL.findall(body)):
        return [ptx]
    functions: dict[str, list[str]] = {}
    variables: list[str] = []
    for item in found:
        if named := _function(item):
            functions.setdefault(named, []).append(item)
        elif not _is_kernel(item):
            variables.append(item)
    parts: list[str] = []
    for kernel in found:
        if not _is_kernel(kernel):
            continue
        called = _called([kernel, *variables], functions)
        kept = (
            item
            for item in found
            if item is kernel or (not _is_kernel(item) and _function(item) in called)
        )
        parts.append(f"{header}{end}\n{''.join(kept)}{files}")
    return parts


def _head(item: str) -> str:
    return item.partition("\n{")[0]


def _is_kernel(item: str) -> bool:
    return _KERNEL.search(_head(item)) is not None


def _function(item: str) -> str | None:
    """The function that an item declares or defines."""
    found = _FUNCTION.search(_head(item))
    return found[1] if found else None


def _called(texts: list[str], functions: dict[str, list[str]]) -> set[str | None]:
    """The functions that these texts lead to; None stands for what is no function."""
    called: set[str | None] = {None}
    queue = list(texts)
    while queue and functions:
        for name in functions.keys() & {*_WORD.findall(queue.pop())} - called:
            called.add(name)
            queue += functions[name]
    return called
