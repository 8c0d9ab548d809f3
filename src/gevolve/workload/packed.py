"""A model that was packed into a folder: its program, its data, and where its error function is."""

from __future__ import annotations

import importlib.util
import inspect
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from gevolve.errors import WorkloadError
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.model import ModelWorkload, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PROGRAM, ABOUT = "program.mlir", "about.json"
_SCRIPT = '''"""A model that gevolve.optimize_model packed; workers read it from here."""

from gevolve.workload.packed import PackedModel


class Model(PackedModel):
    tolerance = {tolerance!r}
'''


class About(msgspec.Struct, frozen=True):
    """What a packed model is, besides its program and its arrays."""

    inputs: int
    """How many arrays it takes; those of a split are in ``SPLIT.npz``."""
    file: str = ""
    """The file that defines its error function; "" for the difference from the unedited program."""
    function: str = ""


def pack(
    folder: Path,
    text: str,
    arrays: Mapping[Split, list[Array]],
    *,
    error: Callable[..., float] | None,
    tolerance: float,
) -> Path:
    """Write a model into a folder; returns the file to optimize."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / PROGRAM).write_text(text)
    for split, values in arrays.items():
        named = {f"a{number}": value for number, value in enumerate(values)}
        np.savez(folder / f"{split}.npz", **named)  # pyright: ignore[reportArgumentType]
    file, function = _place_of(error) if error else ("", "")
    about = About(len(arrays["search"]), file, function)
    (folder / ABOUT).write_bytes(msgspec.json.encode(about))
    script = folder / "model.py"
    script.write_text(_SCRIPT.format(tolerance=tolerance))
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
        about = self._about
        function = _function(about.file, about.function)
        return float(function(outputs, [data[f"a{n}"] for n in range(about.inputs)]))

    def measure(self, got: Mapping[str, Array], want: Mapping[str, Array], case: Case) -> float:
        if self._about.function:
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


def _place_of(error: Callable[..., float]) -> tuple[str, str]:
    """The file and the name of a function; raises `WorkloadError` if workers could not find it."""
    name = getattr(error, "__qualname__", "")
    try:
        file = inspect.getfile(error)
    except TypeError:
        file = ""
    if not Path(file).is_file() or not name.isidentifier():
        raise WorkloadError(
            "error must be a function at the top level of a file, since workers import it from there"
        )
    return str(Path(file).resolve()), name


@cache
def _function(file: str, name: str) -> Callable[..., float]:
    spec = importlib.util.spec_from_file_location("gevolve_error", file)
    if spec is None or spec.loader is None:
        raise WorkloadError(f"{file}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)
