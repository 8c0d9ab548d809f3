"""Forms in which a model leaves gevolve: StableHLO text, a portable artifact, a `jax.export` artefact.

What leaves is the canonical form of the program, which is also what a device ran.
"""

from __future__ import annotations

import dataclasses
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from gevolve.ir.stablehlo import canonical
from gevolve.ir.stablehlo.mlir import (
    Op,
    bytecode,
    context,
    ir,
    module_of,
    parse,
    printed,
    run_passes,
)
from gevolve.ir.stablehlo.signature import Signature, signature_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Source: TypeAlias = Callable[..., Any] | str | Path
    Trees: TypeAlias = tuple[Any, Any]

# JAX's types are too generic for a type checker to know.
_jax: Any = import_module("jax")
_export: Any = import_module("jax.export")
_mlir: Any = import_module("jax.extend.mlir")
_func: Any = import_module("jax.extend.mlir.dialects.func")
_dialect: Any = import_module("jax.extend.mlir.dialects.stablehlo")

PLATFORMS = ("cpu", "cuda", "rocm", "tpu")
"""Where a `jax.export` artefact may run: a StableHLO module is tied to none of them."""


def to_mlir(text: str) -> str:
    """The program as StableHLO text; a variant just made has the names that patches give to values."""
    module = module_of(text).clone().operation
    run_passes(module, "canonicalize", "cse", "canonicalize")
    return printed(module)


def to_bytecode(text: str) -> bytes:
    """The program as a portable artifact, which tools up to twelve weeks older can read."""
    return _portable(canonical(text))


def to_jax(
    text: str, *, source: Source | None = None, arguments: Sequence[Any] | None = None
) -> bytes:
    """The program as a serialised `jax.export` artefact: ``jax.export.deserialize(…).call`` runs it.

    With the `source` and the example `arguments` that the program was loaded from, it is called as
    the source is, with trees of arrays; else (and where JAX cannot write a tree down) with flat
    arrays, and it gives one array, or a tuple if there are several.
    """
    module = parse(canonical(text))
    signature = signature_of(module)
    _take_platform(module)
    body = _portable(bytecode(module))
    trees = _trees(source, arguments)
    try:
        return bytes(_exported(body, signature, trees).serialize())
    except ValueError:
        if trees is None:
            raise
        # JAX writes down only trees whose classes it was told how to.
        return bytes(_exported(body, signature, None).serialize())


def read_jax(data: bytes) -> Any:
    """The `jax.export.Exported` that was serialised as this; None if it is something else."""
    try:
        return _export.deserialize(bytearray(data))
    except Exception:  # noqa: BLE001  (whatever the reader trips over)
        return None


def _portable(code: bytes) -> bytes:
    requirement = _dialect.StablehloCompatibilityRequirement.WEEK_12
    version = _dialect.get_version_from_compatibility_requirement(requirement)
    # JAX's own function turns what it has of other dialects into StableHLO.
    return _mlir.serialize_portable_artifact(ir.Module.parse(code, context()), version)


def _take_platform(module: Op) -> None:
    """Give `main` the parameter that JAX expects first if a module is for several platforms."""
    with context(), ir.Location.unknown():
        inner = ir.SymbolTable(module)["main"]
        inner.attributes["sym_name"] = ir.StringAttr.get("program")
        inner.attributes["sym_visibility"] = ir.StringAttr.get("private")
        inputs, outputs = list(inner.type.inputs), list(inner.type.results)
        platform = ir.RankedTensorType.get([], ir.IntegerType.get_signless(32))
        with ir.InsertionPoint(module.regions[0].blocks[0]):
            main = _func.FuncOp("main", ir.FunctionType.get([platform, *inputs], outputs))
        block = main.add_entry_block()
        with ir.InsertionPoint(block):
            callee = ir.FlatSymbolRefAttr.get("program")
            _func.ReturnOp(_func.CallOp(outputs, callee, list(block.arguments)[1:]).results)
        mark = {"jax.global_constant": ir.StringAttr.get("_platform_index")}
        plain = [ir.DictAttr.get({})] * len(inputs)
        main.arg_attrs = ir.ArrayAttr.get([ir.DictAttr.get(mark), *plain])
        module.attributes["jax.uses_shape_polymorphism"] = ir.BoolAttr.get(True)


def _exported(body: bytes, signature: Signature, trees: Trees | None) -> Any:
    """What JAX exports for a function of these types, with another body put in."""
    inputs = [_jax.ShapeDtypeStruct(spec.shape, spec.dtype) for spec in signature.inputs]
    into, out = trees or (_jax.tree.structure((tuple(inputs), {})), None)

    def stand_in(*args: Any, **kwargs: Any) -> Any:  # noqa: ARG001  (only types matter)
        results = [_jax.numpy.zeros(spec.shape, spec.dtype) for spec in signature.outputs]
        if out is None:
            return results[0] if len(results) == 1 else tuple(results)
        return _jax.tree.unflatten(out, results)

    args, kwargs = _jax.tree.unflatten(into, inputs)
    export = _export.export(_jax.jit(stand_in, keep_unused=True), platforms=PLATFORMS)
    with _jax.enable_x64(True):  # else 64-bit types are narrowed
        shell = export(*args, **kwargs)
    return dataclasses.replace(shell, mlir_module_serialized=body, fun_name="gevolve")


def _trees(source: Source | None, arguments: Sequence[Any] | None) -> Trees | None:
    """How the source takes its arguments and gives its results; None if that is flat."""
    if isinstance(source, str | Path):
        found = read_jax(Path(source).read_bytes())
        return found and (found.in_tree, found.out_tree)
    if source is None or arguments is None:
        return None
    results = _jax.eval_shape(source, *arguments)
    return _jax.tree.structure((tuple(arguments), {})), _jax.tree.structure(results)
