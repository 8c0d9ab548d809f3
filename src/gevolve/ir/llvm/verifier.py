"""Parses and verifies modules. The last one is cached, so that the back end need not parse it again."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import llvmlite.binding  # pyright: ignore[reportMissingTypeStubs]

llvm: Any = llvmlite.binding  # llvmlite has no types

_cached: list[tuple[str, Any, Any]] = []
"""At most one text, with its context and module. A module must be closed before its context goes."""


def verify(text: str) -> str | None:
    """Why LLVM rejects a module, or None if it accepts it."""
    _clear_cache()
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
    _cached.append((text, context, module))
    return None


@contextmanager
def parsed(text: str) -> Generator[Any]:
    """The module of a text, which the caller may change; raises RuntimeError if LLVM cannot read it."""
    if _cached and _cached[0][0] == text:
        _, context, module = _cached.pop()
    else:
        context = llvm.create_context()
        module = llvm.parse_assembly(text, context)
    try:
        yield module
    finally:
        module.close()
        del context


def _clear_cache() -> None:
    while _cached:
        _cached.pop()[2].close()
