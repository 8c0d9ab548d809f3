"""A model that was packed into a folder: its program, its data, and where its error and loss functions are."""

from __future__ import annotations

import importlib.util
import inspect
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from gevolve.errors import WorkloadError
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.model import ModelWorkload, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

PROGRAM, ABOUT = "program.mlir", "about.json"
_SCRIPT = '''"""A model that gevolve.optimize_model packed; workers read it from here."""

from gevolve.workload.packed import PackedModel


class Model(PackedModel):
    tolerance = {tolerance!r}
    in_parts = {in_parts!r}
    refits = {refits!r}
'''
_NUMBER = "number"
"""The entry of a case that says which of the batches to re-fit on it is."""


class Place(msgspec.Struct, frozen=True):
    """Where a function of the user's is, if there is one."""

    file: str = ""
    function: str = ""

    def __call__(self, *arguments: Any) -> Any:
        return _function(self.file, self.function)(*arguments)


class About(msgspec.Struct, frozen=True):
    """What a packed model is, besides its program and its arrays."""

    inputs: int
    """How many arrays it takes; those of a split are in ``SPLIT.npz``."""
    error: Place = Place()
    """Without one it is the difference from the unedited program."""
    loss: Place = Place()


def pack(
    folder: Path,
    text: str,
    arrays: Mapping[Split, list[Array]],
    *,
    batches: Sequence[list[Array]] = (),
    error: Callable[..., float] | None,
    loss: Callable[..., Any] | None = None,
    tolerance: float,
) -> Path:
    """Write a model into a folder; returns the file to optimize.

    Weights are re-fit on `batches`. What is the same in all of them, and in what judges, is a weight.
    """
    count = len(arrays["search"])
    about = About(count, _place_of("error", error), _place_of("loss", loss))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / PROGRAM).write_text(text)
    same = _same([*arrays.values(), *batches]) if batches else frozenset(range(count))
    given: dict[str, Sequence[list[Array]]] = {split: [one] for split, one in arrays.items()}
    for split, rows in (given | {"refit": batches} if batches else given).items():
        named: dict[str, Any] = {
            f"a{n}": rows[0][n] if n in same else np.stack([row[n] for row in rows])
            for n in range(count)
        }
        if batches:
            named[_NUMBER] = np.arange(len(rows))
        np.savez(folder / f"{split}.npz", **named)
    (folder / ABOUT).write_bytes(msgspec.json.encode(about))
    script = folder / "model.py"
    varying = (*(f"a{n}" for n in range(count) if n not in same), _NUMBER) if batches else ()
    refits = tuple(f"a{n}" for n in sorted(same)) if batches else ()
    script.write_text(_SCRIPT.format(tolerance=tolerance, in_parts=varying, refits=refits))
    return script


class PackedModel(ModelWorkload):
    """A model in the folder of the file that defines the class."""

    def program(self) -> Source:
        return PROGRAM

    def data(self, split: Split) -> Case:
        with np.load(self._folder / f"{split}.npz", allow_pickle=False) as file:
            return Case(**{name: file[name] for name in file.files})

    def error(self, outputs: Any, data: Case) -> float:
        """The user's own error; what it is called with is what was passed to `optimize_model`."""
        return float(self._about.error(outputs, self.arguments(data)))

    def loss(self, outputs: Any, data: Case) -> Any:
        """The user's own loss; without one, how far the outputs are from those of the unedited model."""
        if self._about.loss.file:
            return self._about.loss(outputs, self.arguments(data), data[_NUMBER])
        jax: Any = import_module("jax")
        wanted = _unedited(self._folder / PROGRAM)(jax.tree.leaves(self.arguments(data)), {})
        return sum(map(_distance, jax.tree.leaves(outputs), wanted))

    def measure(self, got: Mapping[str, Array], want: Mapping[str, Array], case: Case) -> float:
        if self._about.error.file:
            return super().measure(got, want, case)
        return max((_difference(got[name], want[name]) for name in want), default=0.0)

    def entries(self) -> tuple[str, ...]:
        return tuple(f"a{number}" for number in range(self._about.inputs))

    @property
    def _folder(self) -> Path:
        return Path(inspect.getfile(type(self))).parent

    @property
    def _about(self) -> About:
        return msgspec.json.decode((self._folder / ABOUT).read_bytes(), type=About)


def _difference(got: Array, want: Array) -> float:
    """The largest difference, relative to the largest value."""
    scale = float(np.max(np.abs(want), initial=0.0)) or 1.0
    return float(np.max(np.abs(got.astype(np.float64) - want), initial=0.0)) / scale


def _distance(one: Any, other: Any) -> Any:
    """The mean squared difference of two outputs, relative to the second."""
    jnp: Any = import_module("jax.numpy")
    if other.dtype.kind != "f":
        return jnp.float32(0)
    return jnp.mean((one - other) ** 2) / (jnp.mean(other**2) + 1e-12)


@cache
def _unedited(program: Path) -> Callable[..., list[Any]]:
    """The unedited model, as what can be trained by."""
    differentiable: Any = import_module("gevolve.ir.stablehlo.differentiable")
    return differentiable.function_of(program.read_text())


def _same(rows: Sequence[list[Array]]) -> frozenset[int]:
    """The places of arrays that are the same in all of these."""
    first, *others = rows
    return frozenset(
        n for n, one in enumerate(first) if all(np.array_equal(one, other[n]) for other in others)
    )


def _place_of(what: str, function: Callable[..., Any] | None) -> Place:
    """The file and the name of a function; raises `WorkloadError` if workers could not find it."""
    if function is None:
        return Place()
    name = getattr(function, "__qualname__", "")
    try:
        file = inspect.getfile(function)
    except TypeError:
        file = ""
    if not Path(file).is_file() or not name.isidentifier():
        raise WorkloadError(
            f"{what} must be a function at the top level of a file, since workers import it from there"
        )
    return Place(str(Path(file).resolve()), name)


@cache
def _function(file: str, name: str) -> Callable[..., Any]:
    spec = importlib.util.spec_from_file_location("gevolve_model", file)
    if spec is None or spec.loader is None:
        raise WorkloadError(f"{file}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)
