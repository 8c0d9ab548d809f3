"""Parses and verifies modules, unit by unit; a unit that was accepted before is not looked at again.

What is parsed to be verified is kept until the next module, so that the back end need not parse it again.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import llvmlite.binding  # pyright: ignore[reportMissingTypeStubs]

from gevolve.ir.llvm.units import split

llvm: Any = llvmlite.binding  # llvmlite has no types

_parsed: dict[str, tuple[Any, Any]] = {}
"""Units of one module, each with its context and module. A module must be closed before its context goes."""
_accepted: dict[str, None] = {}
"""Units that LLVM accepts, the last one last."""
_MOST = 128


def verify(text: str) -> str | None:
    """Why LLVM rejects a module, or None if it accepts it."""
    _forget()
    for unit in split(text):
        if unit not in _accepted and (why := _verify(unit)):
            return why
        _accepted.pop(unit, None)
        _accepted[unit] = None
    while len(_accepted) > _MOST:
        del _accepted[next(iter(_accepted))]
    return None


def _verify(text: str) -> str | None:
    context = llvm.create_context()
    try:
        module = llvm.parse_assembly(text, context)
    except RuntimeError as error:
        return " ".join(str(error).split())
    try:
        module.verify()
    except RuntimeError as error:
        module.close()
        return " ".join(str(error).split())
    _parsed[text] = context, module
    return None


@contextmanager
def parsed(text: str) -> Generator[Any]:
    """The module of a text, which the caller may change; raises RuntimeError if LLVM cannot read it."""
    if text in _parsed:
        context, module = _parsed.pop(text)
    else:
        context = llvm.create_context()
        module = llvm.parse_assembly(text, context)
    try:
        yield module
    finally:
        module.close()
        del context


def _forget() -> None:
    while _parsed:
        _, module = _parsed.popitem()[1]
        module.close()
