"""Forms in which a model leaves gevo: StableHLO text, a portable artefact, a `jax.export` artefact."""

from __future__ import annotations

import contextlib
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import jax
import jax.export
import jax.numpy as jnp
from jax._src.interpreters.mlir import make_ir_context
from jax.extend import mlir
from jax.extend.mlir import ir
from jax.extend.mlir.dialects import func, stablehlo
from jax.extend.mlir.passmanager import PassManager

from gevo.stablehlo.signature import Signature, signature_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Source: TypeAlias = Callable[..., Any] | str | Path
    Trees: TypeAlias = tuple[Any, Any]

PLATFORMS = ("cpu", "cuda", "rocm", "tpu")
"""Where a `jax.export` artefact may run: a StableHLO module is tied to none of them."""
_MARK = "gevo."
"""How the names of gevo's own attributes begin."""


def to_mlir(text: str) -> str:
    """The program as StableHLO text, without the marks that gevo needs for itself."""
    with _parsed(text) as module:
        return str(module)


def to_bytecode(text: str) -> bytes:
    """The program as a portable artefact, which tools up to twelve weeks older can read."""
    with _parsed(text) as module:
        return _portable(module)


def to_jax(
    text: str, *, source: Source | None = None, arguments: Sequence[Any] | None = None
) -> bytes:
    """The program as a serialised `jax.export` artefact: ``jax.export.deserialize(…).call`` runs it.

    With the `source` and the example `arguments` that the program was loaded from, it is called as
    the source is, with trees of arrays; else (and where JAX cannot write a tree down) with flat
    arrays, and it gives one array, or a tuple if there are several.
    """
    with _parsed(text) as module:
        signature = signature_of(module.operation)
        _take_platform(module)
        body = _portable(module)
    trees = _trees(source, arguments)
    try:
        return bytes(_exported(body, signature, trees).serialize())
    except ValueError:
        if trees is None:
            raise
        # JAX writes down only trees whose classes it was told how to.
        return bytes(_exported(body, signature, None).serialize())


def flat_results(results: Sequence[Any]) -> Any:
    """The results of a program whose own tree is not known: one array, or a tuple of them."""
    return results[0] if len(results) == 1 else tuple(results)


@contextlib.contextmanager
def _parsed(text: str) -> Iterator[Any]:
    """A module of this text, without its locations and marks."""
    with make_ir_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        PassManager.parse("builtin.module(strip-debuginfo)").run(module.operation)
        module.operation.walk(_unmark)
        yield module


def _unmark(operation: Any) -> Any:
    names = [getattr(one, "name", one) for one in operation.attributes]  # a str since jax 0.10
    for name in names:
        if name.startswith(_MARK):
            del operation.attributes[name]
    return ir.WalkResult.ADVANCE


def _portable(module: Any) -> bytes:
    requirement = stablehlo.StablehloCompatibilityRequirement.WEEK_12
    version = stablehlo.get_version_from_compatibility_requirement(requirement)
    return mlir.serialize_portable_artifact(module, version)


def _take_platform(module: Any) -> None:
    """Give `main` the parameter that JAX expects first if a module is for several platforms."""
    main = ir.SymbolTable(module.operation)["main"]
    main.attributes["sym_name"] = ir.StringAttr.get("program")
    main.attributes["sym_visibility"] = ir.StringAttr.get("private")
    platform = ir.RankedTensorType.get([], ir.IntegerType.get_signless(32))
    inputs, outputs = list(main.type.inputs), list(main.type.results)
    with ir.InsertionPoint(module.body):
        outer = func.FuncOp("main", ir.FunctionType.get([platform, *inputs], outputs))
    block = outer.add_entry_block()
    with ir.InsertionPoint(block):
        callee = ir.FlatSymbolRefAttr.get("program")
        func.ReturnOp(func.CallOp(outputs, callee, list(block.arguments)[1:]).results)
    mark = {"jax.global_constant": ir.StringAttr.get("_platform_index")}
    plain = [ir.DictAttr.get({})] * len(inputs)
    outer.arg_attrs = ir.ArrayAttr.get([ir.DictAttr.get(mark), *plain])
    module.operation.attributes["jax.uses_shape_polymorphism"] = ir.BoolAttr.get(True)


def _exported(body: bytes, signature: Signature, trees: Trees | None) -> Any:
    """What JAX exports for a function of these types, with another body put in."""
    inputs = [jax.ShapeDtypeStruct(spec.shape, spec.dtype) for spec in signature.inputs]
    into, out = trees or (jax.tree.structure((tuple(inputs), {})), None)

    def stand_in(*args: Any, **kwargs: Any) -> Any:  # noqa: ARG001  (only types matter)
        results = [jnp.zeros(spec.shape, spec.dtype) for spec in signature.outputs]
        return flat_results(results) if out is None else jax.tree.unflatten(out, results)

    args, kwargs = jax.tree.unflatten(into, inputs)
    export = jax.export.export(jax.jit(stand_in, keep_unused=True), platforms=PLATFORMS)
    with jax.enable_x64(True):  # else 64-bit types are narrowed
        shell = export(*args, **kwargs)
    return dataclasses.replace(shell, mlir_module_serialized=body, fun_name="gevo")


def _trees(source: Source | None, arguments: Sequence[Any] | None) -> Trees | None:
    """How the source takes its arguments and gives its results; None if that is flat."""
    if not callable(source) or arguments is None:
        return None
    results = jax.eval_shape(source, *arguments)
    return jax.tree.structure((tuple(arguments), {})), jax.tree.structure(results)
