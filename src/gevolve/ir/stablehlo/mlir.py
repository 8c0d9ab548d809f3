"""The MLIR bindings that come with JAX: one context for the process, and what is asked of it.

Nothing here creates a JAX backend, and the context has no threads, so a process may fork after it
has parsed, edited and verified modules.
"""

from __future__ import annotations

import io
import re
from collections import OrderedDict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from jax._src.interpreters import mlir as _jax
from jax.extend.mlir import ir as _ir
from jax.extend.mlir.dialects import stablehlo as _stablehlo
from jax.extend.mlir.passmanager import PassManager

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np

ir: Any = _ir
"""The bindings; their types are too generic for a type checker to know, so they go by these names."""
Op: TypeAlias = Any
Block: TypeAlias = Any
Value: TypeAlias = Any
Type: TypeAlias = Any
Attribute: TypeAlias = Any
Location: TypeAlias = Any

_untyped: Any = _jax
_dialect: Any = _stablehlo
CACHED = 8
"""How many modules are cached by their text."""
_LINE = re.compile(r'":(\d+):\d+')
_OWN = str(Path(__file__).parent)
_live: OrderedDict[str, Op] = OrderedDict()


@cache
def context() -> Any:
    """The context that all modules of this process live in."""
    # JAX has no public function that makes a context with the dialects of its own modules.
    made = _untyped.make_ir_context()
    made.enable_multithreading(False)
    return made


def array_type(shape: Sequence[int], dtype: np.dtype[Any]) -> Type:
    """The type of a tensor that holds a NumPy array."""
    with context(), ir.Location.unknown():
        return ir.RankedTensorType.get(shape, _untyped.dtype_to_ir_type(dtype))


def parse(source: str | bytes) -> Op:
    """A module from text or bytecode; raises `ir.MLIRError`."""
    return ir.Module.parse(source, context()).operation


def parse_file(path: Path) -> Op:
    """A module from a file of text, whose lines are then the places of its operations."""
    return ir.Module.parseFile(str(path), context()).operation


def parse_portable(data: bytes) -> Op:
    """A module from a portable artifact, whatever version of StableHLO wrote it."""
    return _dialect.deserialize_portable_artifact(context(), data).operation


def module_of(text: str) -> Op:
    """The module that has this text, which must not be changed; raises `ir.MLIRError`."""
    found = _live.get(text)
    if found is None:
        found = parse(text)
        remember(text, found)
    return found


def remember(text: str, module: Op) -> None:
    """Keep a module, which must not be changed any more, for whoever asks for its text next."""
    _live[text] = module
    _live.move_to_end(text)
    while len(_live) > CACHED:
        _live.popitem(last=False)


def printed(module: Op) -> str:
    """The module as text, values named as their ids."""
    return str(module.get_asm(use_name_loc_as_prefix=True, assume_verified=True))


def bytecode(module: Op) -> bytes:
    buffer = io.BytesIO()
    module.write_bytecode(buffer)
    return buffer.getvalue()


def run_passes(module: Op, *passes: str) -> None:
    with context():
        PassManager.parse(f"builtin.module({','.join(passes)})").run(module)


def complaint(error: Any) -> tuple[str, int | None]:
    """What MLIR did not like, in one line, and the line of the text where it stopped."""
    for diagnostic in error.error_diagnostics:
        found = _LINE.search(str(diagnostic.location))
        return " ".join(diagnostic.message.split()), int(found[1]) or None if found else None
    return " ".join(error.message.split()), None


def blocks_of(operation: Op) -> Iterator[Block]:
    """The blocks of all regions of an operation, in order."""
    for region in operation.regions:
        yield from region.blocks


def everything_in(operation: Op) -> list[Op]:
    """An operation and all that it holds, each before what it holds itself."""
    found: list[Op] = []

    def take(inner: Op) -> Any:
        found.append(inner)
        return ir.WalkResult.ADVANCE

    operation.walk(take, ir.WalkOrder.PRE_ORDER)
    return found


def source_line_of(location: Location) -> tuple[str, int] | None:
    """The source file, without its folder, and line that a location leads to."""
    found = next(_frames(location), None)
    if found is None or found[0] == "-" or found[0].startswith(_OWN):
        return None  # not from a file, or not from the function that was traced
    return found[0].rsplit("/", 1)[-1], found[1]


def _frames(location: Location) -> Iterator[tuple[str, int]]:
    """The files and lines in a location, innermost call first."""
    if isinstance(location, ir.FileLineColLoc):
        yield location.filename, location.start_line
    elif isinstance(location, ir.NameLoc):
        yield from _frames(location.child_loc)
    elif isinstance(location, ir.CallSiteLoc):
        yield from _frames(location.callee)
        yield from _frames(location.caller)
    elif isinstance(location, ir.FusedLoc):
        for inner in location.locations:
            yield from _frames(inner)


def named(name: str) -> Location:
    """A location from which MLIR prints the name of a value."""
    return ir.Location.name(name, ir.Location.unknown(context()), context())
