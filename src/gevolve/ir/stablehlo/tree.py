"""Trees of arrays, as users pass them, and the flat lists that a StableHLO program takes and gives."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax as _jax
import numpy as np
from jax import dtypes
from jax import tree_util as _tree_util

from gevolve.errors import WorkloadError, one_line

jax: Any = _jax
tree_util: Any = _tree_util  # its trees may be anything

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    Array = npt.NDArray[Any]


def flatten(arguments: Sequence[Any], source: Any = None) -> list[Array]:
    """The arrays of all arguments in order, with the element types that JAX would give them.

    A program that comes from a file takes 64-bit numbers even where JAX is set to 32.
    """
    leaves = [leaf for _, leaf in _named(arguments)]
    if isinstance(source, str | Path):
        return [np.asarray(leaf) for leaf in leaves]
    return [np.asarray(leaf, _dtype(leaf)) for leaf in leaves]


def unflatten(results: Sequence[Any], source: Any, arguments: Sequence[Any]) -> Any:
    """The results in the form that the source gives them: for a file one array, or a tuple."""
    return unflattener(source, arguments)(results)


def unflattener(source: Any, arguments: Sequence[Any]) -> Callable[[Sequence[Any]], Any]:
    """As `unflatten`, for many results of the same form."""
    if isinstance(source, str | Path):
        return lambda results: results[0] if len(results) == 1 else tuple(results)
    leaves, structure = tree_util.tree_flatten(tuple(map(shapes_of, arguments)))
    form = _results(source, structure, tuple(leaves))
    return lambda results: tree_util.tree_unflatten(form, results)


def shapes_of(argument: Any) -> Any:
    """The same tree with the shape and element type of each array in its place."""

    def shape(leaf: Any) -> Any:
        plain = isinstance(leaf, bool | int | float | complex)
        return jax.ShapeDtypeStruct(np.shape(leaf), _dtype(leaf), weak_type=plain)

    return tree_util.tree_map(shape, argument)


def _named(arguments: Sequence[Any]) -> list[tuple[str, Any]]:
    """The arrays of all arguments, each with a name for people; anything else is an error."""
    found: list[tuple[str, Any]] = []
    for number, argument in enumerate(arguments):
        for path, leaf in tree_util.tree_flatten_with_path(argument)[0]:
            name = f"argument {number}{tree_util.keystr(path)}"
            if np.asarray(leaf).dtype.kind in "OSUMm":
                raise WorkloadError(f"{name} is {leaf!r:.40}; a program takes arrays and numbers")
            found.append((name, leaf))
    return found


def names_of(arguments: Sequence[Any]) -> list[str]:
    return [name for name, _ in _named(arguments)]


def _dtype(leaf: Any) -> Any:
    return dtypes.canonicalize_dtype(dtypes.result_type(leaf))


@lru_cache(16)
def _results(source: Callable[..., Any], structure: Any, leaves: tuple[Any, ...]) -> Any:
    """The structure of what a function gives for arguments of these shapes, without running it."""
    try:
        return tree_util.tree_structure(
            jax.eval_shape(source, *tree_util.tree_unflatten(structure, leaves))
        )
    except Exception as error:  # noqa: BLE001  (the user's function may raise anything)
        name = getattr(source, "__name__", "the program")
        raise WorkloadError(f"{name} cannot be traced by JAX: {one_line(error)}") from None
