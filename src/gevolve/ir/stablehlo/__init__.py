"""ML models in StableHLO, as in GEVO-ML: source, program, edits with repair."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gevolve.errors import SourceError
from gevolve.ir.stablehlo.edit_kind import StablehloEdit
from gevolve.ir.stablehlo.mlir import bytecode, complaint, ir, module_of, parse, run_passes
from gevolve.ir.stablehlo.origins import origins_from_comments
from gevolve.ir.stablehlo.program import StablehloProgram
from gevolve.ir.stablehlo.source import read, tidy
from gevolve.ir.stablehlo.tree import flatten, unflatten, unflattener
from gevolve.system.limited import limited

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def load(
    source: Callable[..., Any] | str | Path, arguments: Sequence[Any] | None = None
) -> StablehloProgram:
    """Load a JAX function with example arguments, or a file with StableHLO in it.

    `arguments` holds a tree of arrays for each parameter. The file may be text, bytecode, a portable
    artifact or what `jax.export` serialises.
    """
    name = Path(source).name if isinstance(source, str | Path) else ""
    if name:
        limited(lambda: StablehloProgram(read(source, arguments), name).text.encode()[:1], name)
    return StablehloProgram(
        read(source, arguments), name or getattr(source, "__name__", "the program")
    )


def restore(text: str) -> StablehloProgram:
    """The program that has this text, with the same ids; creates no JAX backend."""
    try:
        module = parse(text)
    except ir.MLIRError as error:
        raise SourceError(f"the program's text cannot be read: {complaint(error)[0]}") from None
    tidy(module, "the program")
    return StablehloProgram(module, "the program", origins_from_comments(text))


def canonical(text: str) -> bytes:
    """Bytecode of a module, the same for modules that differ only in form.

    Dead and trivially foldable operations are gone, as are names and source lines. Repeated ones stay: to join
    them changes which others XLA fuses, and so the last bit of some results.
    """
    module = module_of(text).clone().operation
    run_passes(module, "canonicalize", "strip-debuginfo")
    # Bytecode tells in which order a value's uses were made; those of a clone come as they stand.
    return bytecode(module.clone().operation)


__all__ = [
    "StablehloEdit",
    "StablehloProgram",
    "canonical",
    "flatten",
    "load",
    "restore",
    "unflatten",
    "unflattener",
]
