"""ONNX files as JAX functions: the graph is gone through, operator by operator.

Only `onnx` is needed, to read the file; each operator is a few words of JAX (`gevolve.onnx.operators`), and one that
is not among them is replaced by simpler ones where ONNX itself says how. Weights become an argument, so that one
program serves them all. What depends only on shapes and constants is computed while converting.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gevolve.errors import (
    MissingPackageError,
    UnsupportedError,
    WorkloadError,
    one_line,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

STATIC = {"Resize": (1, 2), "Upsample": (1,)}
"""Of these operators, the inputs that must be known although they are fractions."""


@dataclass(frozen=True)
class OnnxModel:
    """An ONNX model as a JAX function ``function(weights, *inputs)``, and its weights."""

    function: Callable[..., Any]
    weights: dict[str, npt.NDArray[Any]]
    """By name, as NumPy arrays."""
    inputs: dict[str, tuple[str, tuple[int | str, ...]]]
    """The element type and the sizes of each input, by the names that the file has; a size may be a word."""


def from_onnx(source: str | Path | Any) -> OnnxModel:
    """Convert an ONNX file, or what `onnx.load` made of one.

    Sizes that the file leaves open are those of the arrays that the function is called with.
    """
    try:
        onnx: Any = import_module("onnx")
    except ImportError:
        raise MissingPackageError("ONNX files need onnx", "onnx") from None
    name = Path(source).name if isinstance(source, str | Path) else "the model"
    try:
        model = onnx.load(source) if isinstance(source, str | Path) else source
        model = _simplified(model)
    except Exception as error:  # noqa: BLE001  (protobuf and onnx raise many kinds)
        raise WorkloadError(f"{name} cannot be read as ONNX: {one_line(error)}") from None
    return _converted(model, name)


def _simplified(model: Any) -> Any:
    """The model with functions, its own and ONNX's, in place of which there is no operator here, written out."""
    onnx: Any = import_module("onnx")
    inliner: Any = import_module("onnx.inliner")
    operators = import_module("gevolve.onnx.operators").OPERATORS  # JAX loads when it is needed
    model = inliner.inline_local_functions(model, convert_version=False)
    names = {node.op_type for node in _nodes(model.graph)}
    if names <= operators.keys():
        return model
    version = _version(model)
    for node in _nodes(model.graph):
        if node.op_type not in operators and onnx.defs.has(node.op_type, node.domain):
            _write_defaults(node, onnx.defs.get_schema(node.op_type, version, node.domain))
    model = onnx.shape_inference.infer_shapes(model)
    kept = [("", operator) for operator in operators]
    return inliner.inline_selected_functions(
        model, kept, exclude=True, inline_schema_functions=True
    )


def _write_defaults(node: Any, schema: Any) -> None:
    """Give a node the attributes that it leaves to ONNX, which `inliner` would forget."""
    given = {attribute.name for attribute in node.attribute}
    for name, attribute in schema.attributes.items():
        if name not in given and attribute.default_value.name:
            node.attribute.append(attribute.default_value)


def _version(model: Any) -> int:
    """The version of ONNX's operators that the file is written in."""
    versions = [one.version for one in model.opset_import if one.domain in {"", "ai.onnx"}]
    return max(versions, default=1)


def _nodes(graph: Any) -> list[Any]:
    """The nodes of a graph and of the graphs in it."""
    inner = [a.g for node in graph.node for a in node.attribute if a.HasField("g")]
    return [*graph.node, *(node for one in inner for node in _nodes(one))]


def _converted(model: Any, name: str) -> OnnxModel:
    operators = import_module("gevolve.onnx.operators")
    jnp: Any = import_module("jax.numpy")
    graph = model.graph
    _check(graph, operators.OPERATORS, name)
    static = {
        node.input[at]
        for node in _nodes(graph)
        for at in STATIC.get(node.op_type, ())
        if at < len(node.input)
    }
    stored: dict[str, Any] = {
        one.name: operators.array_of(one, f"{name}: {one.name}") for one in graph.initializer
    }
    weights: dict[str, Any] = {
        key: array
        for key, array in stored.items()
        if key not in static and array.ndim and (array.dtype.kind == "f" or array.itemsize == 1)
    }
    constants = {key: array for key, array in stored.items() if key not in weights}
    given = [one for one in graph.input if one.name not in stored]
    version = _version(model)

    def function(weights: Mapping[str, Any], *inputs: Any) -> Any:
        if len(inputs) != len(given):
            raise WorkloadError(f"{name} takes {len(given)} inputs; {len(inputs)} were given")
        arrays: list[Any] = [*weights.values(), *inputs]
        names: list[str] = [*weights, *(one.name for one in given)]
        values: dict[str, Any] = dict(constants)
        for key, array in zip(names, arrays, strict=True):
            values[key] = jnp.asarray(array)
        results = run(graph, values, version)
        return results[0] if len(results) == 1 else tuple(results)

    run = operators.run
    function.__name__ = re.sub(r"\W", "_", Path(name).stem)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    words = _words(["weights", *(one.name for one in given)])
    parameters = [inspect.Parameter(word, kind) for word in words]
    function.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportFunctionMemberAccess]
    return OnnxModel(function, weights, {one.name: _kind_of(one) for one in given})


def _words(names: Sequence[str]) -> list[str]:
    """The names as words of Python, all different."""
    words: list[str] = []
    for name in names:
        word = re.sub(r"\W", "_", name)
        word = word if word.isidentifier() else f"input_{word}"
        while word in words:
            word += "_"
        words.append(word)
    return words


def _kind_of(value: Any) -> tuple[str, tuple[int | str, ...]]:
    helper: Any = import_module("onnx.helper")
    kind = value.type.tensor_type
    sizes = tuple(
        one.dim_value if one.HasField("dim_value") else one.dim_param or "?"
        for one in kind.shape.dim
    )
    return str(helper.tensor_dtype_to_np_dtype(kind.elem_type)), sizes


def _check(graph: Any, operators: dict[str, Any], name: str) -> None:
    others = {
        f"{node.domain}.{node.op_type}" if node.domain not in {"", "ai.onnx"} else node.op_type
        for node in _nodes(graph)
    }
    missing = sorted(others - operators.keys())
    if missing:
        raise UnsupportedError(
            f"{name}: no conversion of ONNX's {', '.join(missing)}; export it to StableHLO by another tool"
        )
    for one in [*graph.input, *graph.output]:
        if one.type.WhichOneof("value") not in {"tensor_type", None}:
            raise UnsupportedError(
                f"{name}: {one.name} is not a tensor; only tensors are converted"
            )
