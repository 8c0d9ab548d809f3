"""Parses and verifies modules, and keeps the last one, so that its back end need not parse it again."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import llvmlite.binding  # pyright: ignore[reportMissingTypeStubs]

llvm: Any = llvmlite.binding  # llvmlite has no types

_kept: list[tuple[str, Any, Any]] = []
"""At most one: its text, context and module. A module must be closed before its context goes."""


def verify(text: str) -> str | None:
    """Why LLVM rejects a module, or None if it accepts it."""
    _drop()
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
    _kept.append((text, context, module))
    return None


@contextmanager
def parsed(text: str) -> Generator[Any]:
    """The module of a text, to do with as one likes; raises RuntimeError if LLVM cannot read it."""
    if _kept and _kept[0][0] == text:
        _, context, module = _kept.pop()
    else:
        context = llvm.create_context()
        module = llvm.parse_assembly(text, context)
    try:
        yield module
    finally:
        module.close()
        del context


def _drop() -> None:
    while _kept:
        _kept.pop()[2].close()
