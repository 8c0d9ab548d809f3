"""Exported models as functions: what `gevolve export` wrote for a model, ready to be called."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from gevolve.errors import LaunchError, MissingPackageError, SourceError, one_line
from gevolve.system.npz import from_npz

WEIGHTS = ".weights.npz"
"""What the name of a file with re-fit weights has after that of the program."""
_WIDE = frozenset({"float64", "int64", "uint64", "complex128"})


def load(path: str | Path) -> Model:
    """Make a function of an exported model: StableHLO text, a portable artifact or `jax.export`.

    It takes NumPy or JAX arrays and gives JAX arrays, on JAX's default device. Arguments and results
    have the form of the user's own function if the file says it (as ``--format jax`` does), else they
    are flat: an argument for each array, and one array or a tuple of them as the result. XLA compiles
    it when it is first called; it may be part of a larger `jax.jit`.
    """
    if importlib.util.find_spec("jax") is None:
        raise MissingPackageError("models need JAX", "ml")
    from gevolve.ir import stablehlo  # noqa: PLC0415  (JAX loads when the first model does)
    from gevolve.ir.stablehlo.export import read_jax, to_jax  # noqa: PLC0415

    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror or error}") from None
    exported = read_jax(data)
    if exported is None:
        exported = read_jax(to_jax(stablehlo.load(path).text))
    weights = path.with_name(f"{path.name}{WEIGHTS}")
    return Model(exported, path.name, weights.read_bytes() if weights.is_file() else b"")


class Model:
    """An exported model; call it."""

    def __init__(self, exported: Any, name: str, weights: bytes = b"") -> None:
        import jax  # noqa: PLC0415  (JAX loads when the first model does)

        self._jax: Any = jax
        self._call = self._jax.jit(exported.call)
        self._tree = exported.in_tree
        self._name = name
        self._weights = from_npz(weights) if weights else {}
        types = (*exported.in_avals, *exported.out_avals)
        self._wide = any(one.dtype.name in _WIDE for one in types)
        """Whether it has 64-bit numbers, which JAX narrows if it is not told to keep them."""
        words = [_Word(f"{one.dtype}{list(one.shape)}") for one in exported.in_avals]
        positional, named = self._jax.tree.unflatten(self._tree, words)
        self._takes = ", ".join(
            [*map(repr, positional), *(f"{key}={value!r}" for key, value in named.items())]
        )

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Run it; raises `LaunchError` if the arguments are not what it takes."""
        if self._jax.tree.structure((arguments, named)) != self._tree:
            raise LaunchError(f"{self._name} takes {self._takes}; pass the same number and trees")
        try:
            if not self._wide:
                return self._call(*arguments, **named)
            with self._jax.enable_x64(True):
                return self._call(*arguments, **named)
        except (TypeError, ValueError) as error:
            raise LaunchError(f"{self._name} takes {self._takes}: {one_line(error)}") from None

    def refitted(self, *arguments: Any, **named: Any) -> tuple[Any, ...]:
        """The same arguments with the weights that were re-fit in the place of those that are given."""
        leaves, tree = self._jax.tree.flatten((arguments, named))
        if tree != self._tree:
            raise LaunchError(f"{self._name} takes {self._takes}; pass the same number and trees")
        leaves = [self._weights.get(f"a{place}", leaf) for place, leaf in enumerate(leaves)]
        return (*self._jax.tree.unflatten(tree, leaves)[0],)

    def __repr__(self) -> str:
        return f"<model {self._name}: {self._takes}>"


class _Word(str):
    """A word that shows without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)
