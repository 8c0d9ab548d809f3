"""What an operator is given: its attributes, and where to compute; and the walk from node to node."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from gevolve.errors import UnsupportedError, WorkloadError, one_line

if TYPE_CHECKING:
    from collections.abc import Callable

jax: Any = import_module("jax")
jnp: Any = import_module("jax.numpy")
lax: Any = import_module("jax.lax")
KNOWN: Any = np.ndarray | np.generic
"""The types of values that are known while converting."""


@dataclass(frozen=True)
class Node:
    """One operation of the graph."""

    kind: str
    attributes: dict[str, Any]
    xp: Any
    """NumPy where all inputs are known now, so that what shapes are made of stays known; JAX elsewhere."""
    version: int
    """Of the operators, as the file says."""
    outputs: int
    inner: Callable[[Any], tuple[Any, ...]]
    """Runs a graph that is an attribute, on the values around."""

    def get(self, name: str, default: Any = None) -> Any:
        return self.attributes.get(name, default)

    def refuse(self, what: str) -> UnsupportedError:
        return UnsupportedError(
            f"no conversion of ONNX's {self.kind} {what}; export it to StableHLO by another tool"
        )

    def known(self, value: Any, what: str) -> Any:
        """A value that must be known now, as an array of NumPy."""
        if isinstance(value, KNOWN):
            return np.asarray(value)
        raise self.refuse(f"whose {what} depends on the data")

    def numbers(self, value: Any, what: str) -> list[int]:
        """Whole numbers that must be known now."""
        return [int(one) for one in self.known(value, what).reshape(-1)]

    def axes(self, given: Any, rank: int) -> tuple[int, ...] | None:
        """The axes that an input or, in older files, an attribute has."""
        axes = self.get("axes") if given is None else self.numbers(given, "axes")
        return None if axes is None else tuple(one % rank for one in axes)


def array_of(tensor: Any, what: str = "a constant") -> Any:
    """The array of a tensor in the file."""
    helper: Any = import_module("onnx.numpy_helper")
    try:
        return np.asarray(helper.to_array(tensor))
    except Exception as error:  # noqa: BLE001  (files may be cut or have types that NumPy has not)
        raise WorkloadError(f"{what} cannot be read: {one_line(error)}") from None


def element_type(node: Node, code: int) -> Any:
    """The element type of a number of ONNX's; where values are not known now, one that JAX has."""
    helper: Any = import_module("onnx.helper")
    kind = np.dtype(helper.tensor_dtype_to_np_dtype(code))
    if kind.kind in "OSU":
        raise node.refuse("to text")
    return kind if node.xp is np else jax.dtypes.canonicalize_dtype(kind)


def run(operators: dict[str, Any], graph: Any, values: dict[str, Any], version: int) -> list[Any]:
    """The outputs of a graph, given its inputs, weights and constants by name."""
    helper: Any = import_module("onnx.helper")

    def inner(graph: Any) -> tuple[Any, ...]:
        stored = {one.name: array_of(one) for one in graph.initializer}
        return tuple(run(operators, graph, {**values, **stored}, version))

    for one in graph.node:
        inputs = [values[name] if name else None for name in one.input]
        there = [given for given in inputs if given is not None]
        known = all(isinstance(given, KNOWN) for given in there)
        attributes = {a.name: _plain(helper.get_attribute_value(a)) for a in one.attribute}
        xp = np if known else jnp
        node = Node(one.op_type, attributes, xp, version, len(one.output), inner)
        with np.errstate(all="ignore"):
            results = _several(operators[one.op_type](node, *inputs))
        values.update(zip(one.output, results, strict=False))
    return [values[one.name] for one in graph.output]


def _several(results: Any) -> Any:
    return results if type(results) is tuple else (results,)  # pyright: ignore[reportUnknownVariableType]


def _plain(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


def each(parts: Any, count: int, default: int) -> list[int]:
    """An attribute with a number for each axis, which may be left out."""
    return list(parts) if parts else [default] * count
