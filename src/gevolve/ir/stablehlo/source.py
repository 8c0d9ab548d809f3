"""Reads a program: a JAX function, or a file with StableHLO in any of its forms."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax as _jax
from jax import export

from gevolve.errors import SourceError, UnsupportedError, WorkloadError, one_line
from gevolve.ir.stablehlo.inline import inline, main_of
from gevolve.ir.stablehlo.mlir import (
    Op,
    Type,
    Value,
    array_type,
    bytecode,
    complaint,
    context,
    everything_in,
    ir,
    parse,
    parse_file,
    parse_portable,
    source_line_of,
)
from gevolve.ir.stablehlo.resources import without_resources
from gevolve.ir.stablehlo.tree import flatten, names_of, shapes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DIALECTS = frozenset({"builtin", "func", "stablehlo", "chlo"})
_BYTECODE = b"ML\xefR"
_UNKNOWN = re.compile(r"[Dd]ialect `(\w+)' not found|(unregistered dialect)")


def read(source: Callable[..., Any] | str | Path, arguments: Sequence[Any] | None) -> Op:
    """A module with one function, `main`, that calls no other and has only static shapes."""
    if isinstance(source, str | Path):
        path = Path(source)
        name, module = path.name, _read_file(path)
    else:
        name = getattr(source, "__name__", "the program")
        if arguments is None:
            raise WorkloadError(f"{name} is a function; it needs example arguments to be traced")
        module = _lower(source, name, arguments)
    tidy(module, name)
    if arguments is not None:
        _match(module, name, arguments, source)
    return module


def tidy(module: Op, name: str) -> None:
    """Leave only what the program computes, and refuse what edits could not keep valid."""
    _check_calls(module, name)
    _check_dialects(module, name)
    main = main_of(module, name)
    _check_devices(module, name)
    for attribute in list(module.attributes):  # names, and how many devices it was made for
        del module.attributes[attribute]
    for attribute in ("arg_attrs", "res_attrs"):  # donated buffers, shardings, names
        if attribute in main.attributes:
            del main.attributes[attribute]
    inline(module, main, name)
    if len(main.regions[0].blocks) != 1:
        raise UnsupportedError(f"{name}: main has branches between blocks, or no body")
    _check_shapes(main, name)


def _lower(source: Callable[..., Any], name: str, arguments: Sequence[Any]) -> Op:
    names_of(arguments)  # says which argument is not an array
    try:
        jax: Any = _jax  # what it wraps may be of any type
        traced = jax.jit(source, keep_unused=True).trace(*map(shapes_of, arguments))
        lowered = traced.lower().compiler_ir("stablehlo")
    except Exception as error:  # noqa: BLE001  (the user's function may raise anything)
        raise WorkloadError(f"{name} cannot be traced by JAX: {one_line(error)}") from None
    return parse(bytecode(lowered.operation))


def _read_file(path: Path) -> Op:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror or error}") from None
    name = path.name
    if not data.strip():
        raise SourceError(f"{name}: the file is empty")
    if data.startswith(_BYTECODE):
        return _read_bytecode(data, name)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return _read_export(data, name)
    if "\0" in text:
        return _read_export(data, name)
    plain = without_resources(text)
    try:
        return parse_file(path) if plain == text else parse(plain)
    except ir.MLIRError as error:
        raise _explained(error, name, text) from None


def _read_bytecode(data: bytes, name: str) -> Op:
    try:
        if b"StableHLO_v" in data[:64]:  # the producer that the header names
            return parse_portable(data)
        return parse(data)
    except ir.MLIRError as error:
        raise _explained(error, name, "") from None
    except Exception as error:  # noqa: BLE001  (the bindings raise several kinds)
        raise SourceError(f"{name}: not a StableHLO artifact that JAX reads: {error}") from None


def _read_export(data: bytes, name: str) -> Op:
    try:
        exported: Any = export.deserialize(bytearray(data))
        module: bytes = exported.mlir_module_serialized
    except Exception:  # noqa: BLE001  (whatever the reader trips over)
        raise SourceError(
            f"{name}: neither MLIR nor a jax.export artefact; expected StableHLO text, bytecode, "
            "a portable artifact or what jax.export's serialize gives"
        ) from None
    if exported.nr_devices > 1:
        raise UnsupportedError(f"{name}: exported for {exported.nr_devices} devices; only 1 works")
    read_back = _read_bytecode(module, name)
    if len(exported.platforms) > 1:
        _settle_platform(read_back, exported.platforms, name)
    if any(not isinstance(size, int) for aval in exported.in_avals for size in aval.shape):
        raise UnsupportedError(
            f"{name}: exported for shapes that are not known; export it again for those that you need"
        )
    kept = exported.module_kept_var_idx
    if len(kept) < len(exported.in_avals):
        _add_arguments(
            read_back,
            [array_type(aval.shape, aval.dtype) for aval in exported.in_avals],
            kept,
            name,
        )
    return read_back


def _settle_platform(module: Op, platforms: Sequence[str], name: str) -> None:
    """Take out the first argument, which says for which of several platforms it runs."""
    main = main_of(module, name)
    block = main.regions[0].blocks[0]
    platform = block.arguments[0]
    if next(iter(platform.uses), None) is not None:
        chosen = platforms.index("cpu") if "cpu" in platforms else 0
        with context(), ir.Location.unknown():
            constant = ir.Operation.create(
                "stablehlo.constant",
                [platform.type],
                attributes={"value": ir.Attribute.parse(f"dense<{chosen}> : {platform.type}")},
                ip=ir.InsertionPoint.at_block_begin(block),
            )
        platform.replace_all_uses_with(constant.results[0])
    block.erase_argument(0)
    _retype(main)


def _add_arguments(module: Op, types: list[Type], kept: Sequence[int], name: str) -> None:
    """Give main the arguments that jax.export left out since nothing uses them."""
    main = main_of(module, name)
    block = main.regions[0].blocks[0]
    old = list(block.arguments)
    added = [block.add_argument(type_, ir.Location.unknown(module.context)) for type_ in types]
    for argument, index in zip(old, kept, strict=True):
        argument.replace_all_uses_with(added[index])
    for _ in old:
        block.erase_argument(0)
    _retype(main)


def _retype(main: Op) -> None:
    """Let the type of a function say what its block takes."""
    inputs = [argument.type for argument in main.regions[0].blocks[0].arguments]
    results = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value).results
    kind = ir.FunctionType.get(inputs, results, main.context)
    main.attributes["function_type"] = ir.TypeAttr.get(kind, main.context)
    if "arg_attrs" in main.attributes:
        del main.attributes["arg_attrs"]


def _explained(error: Any, name: str, text: str) -> SourceError:
    message, line = complaint(error)
    where = name if line is None else f"{name}:{line}"
    dialect = _UNKNOWN.search(message)
    if dialect:
        found = dialect[1] or _dialect_at(text, line)
        return UnsupportedError(
            f"{where}: the dialect {found!r} is not supported; lower the program to StableHLO first"
        )
    if "func.func" not in text and "stablehlo" not in text and text:
        return SourceError(f"{name}: not MLIR: {message}; expected StableHLO text")
    return SourceError(f"{where}: {message}")


def _dialect_at(text: str, line: int | None) -> str:
    """The first dialect on a line that is not supported."""
    shown = text.splitlines()[line - 1] if line else text
    names = re.findall(r'"?\b([a-z_]\w*)\.[a-z_]\w*', shown)
    return next((name for name in names if name not in DIALECTS), "?")


def _check_devices(module: Op, name: str) -> None:
    for attribute in ("mhlo.num_partitions", "mhlo.num_replicas"):
        if attribute in module.attributes and module.attributes[attribute].value > 1:
            count = module.attributes[attribute].value
            raise UnsupportedError(
                f"{name}: made for {count} devices ({attribute}); export it for one"
            )


def _check_dialects(module: Op, name: str) -> None:
    for operation in everything_in(module):
        dialect = operation.name.partition(".")[0]
        if dialect not in DIALECTS:
            raise UnsupportedError(
                f"{name}: {operation.name} is of the dialect {dialect!r}, which is not supported; "
                "lower the program to StableHLO first"
            )


def _check_calls(module: Op, name: str) -> None:
    for operation in everything_in(module):
        if operation.name == "stablehlo.custom_call":
            target = str(operation.attributes["call_target_name"]).strip('"')
            if "callback" in target:
                raise UnsupportedError(
                    f"{name}: it calls back into Python ({target}); take out jax.pure_callback,"
                    " jax.debug.print and their like"
                )


def _check_shapes(main: Op, name: str) -> None:
    values: list[tuple[Op, Value]] = [
        (main, argument) for argument in main.regions[0].blocks[0].arguments
    ]
    values += [(inner, result) for inner in everything_in(main) for result in inner.results]
    for operation, value in values:
        kind = value.type
        if isinstance(kind, ir.UnrankedTensorType) or (
            isinstance(kind, ir.RankedTensorType) and not kind.has_static_shape
        ):
            line = source_line_of(operation.location)
            where = f"{name}:{line[1]}" if line else name
            raise UnsupportedError(
                f"{where}: {operation.name} has the dynamic shape {kind}; "
                "export the program for shapes that are known"
            )


def _match(
    module: Op,
    name: str,
    arguments: Sequence[Any],
    source: Callable[..., Any] | str | Path,
) -> None:
    wanted = [
        str(argument.type) for argument in main_of(module, name).regions[0].blocks[0].arguments
    ]
    arrays = flatten(arguments, source)
    if len(arrays) != len(wanted):
        raise WorkloadError(
            f"{name} takes {len(wanted)} arrays, the arguments hold {len(arrays)}; "
            f"it wants {', '.join(wanted)}"
        )
    for label, array, want in zip(names_of(arguments), arrays, wanted, strict=True):
        got = str(array_type(array.shape, array.dtype))
        if got != want:
            raise WorkloadError(f"{name}: {label} is {got}, the program takes {want} there")
