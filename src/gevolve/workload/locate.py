"""Finds the workload that a user means, and says where any other process finds it.

A worker process cannot be handed a Python object. It is told where the class is defined (a
`Location`: a file or a module, and a name) and builds its own.
"""

import importlib
import importlib.util
import inspect
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any, TypeGuard, TypeVar

import msgspec
import numpy as np

from gevolve.errors import GevolveError, WorkloadError, one_line
from gevolve.workload.base import Workload
from gevolve.workload.catalog import SUITE, module_of

_T = TypeVar("_T")


class Location(msgspec.Struct, frozen=True):
    """Where the class of a workload is defined, so that any process can build it."""

    place: str
    """The absolute path of a Python file, or the name of an importable module."""
    name: str
    """The class in it."""

    def __str__(self) -> str:
        return f"{self.place}:{self.name}"

    def build(self) -> Workload:
        """Import the class and make the workload."""
        return _build(self.place, self.name)


def locate(text: str) -> Workload:
    """The workload that `WORKLOAD.py`, `WORKLOAD.py:Name` or a name from the suite stands for."""
    place, name = _split(text)
    known = module_of(place)
    if known is None and not _is_file(place):
        raise WorkloadError(
            f"no workload {place!r}: give a Python file (such as ./{place}.py) or one of "
            f"{', '.join(SUITE)}"
        )
    return _build(known or place, name)


def location_of(workload: Workload) -> Location:
    """Where another process finds the class of this workload."""
    cls = type(workload)
    name = cls.__qualname__
    if "." in name:
        raise WorkloadError(f"{name}: define the class at the top level of a Python file")
    module = sys.modules.get(cls.__module__)
    file = getattr(module, "__file__", None)
    if getattr(module, name, None) is not cls or file is None or not Path(file).is_file():
        raise WorkloadError(
            f"{name} is defined in no file: put the class in a Python file and import it from there"
        )
    assert module is not None
    _check_state(workload, _new(cls, Path(file).name))
    return Location(_place(module, file), name)


def _place(module: ModuleType, file: str) -> str:
    """A module of a package by its name, for its relative imports; any other by its file."""
    named = module.__spec__.name if module.__spec__ else module.__name__
    return named if "." in named else str(Path(file).resolve())


def _split(text: str) -> tuple[str, str | None]:
    place, colon, name = text.rpartition(":")
    return (place, name) if colon and name.isidentifier() else (text, None)


def _is_file(place: str) -> bool:
    return place.endswith(".py") or "/" in place


def _module(place: str) -> ModuleType:
    if _is_file(place):
        return _import_file(Path(place).resolve(), place)
    try:
        return importlib.import_module(place)
    except Exception as error:
        raise WorkloadError(f"cannot import {place}: {one_line(error)}") from error


def _import_file(path: Path, shown: str) -> ModuleType:
    if not path.is_file():
        raise WorkloadError(f"no such file: {shown}; give the path of a Python workload file")
    name = "gevolve_workload_" + "".join(c if c.isalnum() else "_" for c in path.stem)
    loaded = sys.modules.get(name)
    if loaded is not None and loaded.__file__ == str(path):
        return loaded
    if str(path.parent) not in sys.path:  # helper modules beside the file, as for any script
        sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise WorkloadError(f"{shown} is not Python: give the path of a .py file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # classes must be able to name their module while it loads
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        if isinstance(error, GevolveError):
            raise
        raise WorkloadError(_import_fault(error, path, shown)) from error
    return module


def _import_fault(error: BaseException, path: Path, shown: str) -> str:
    line = line_of(error, path)
    if line is None and isinstance(error, SyntaxError | ValueError):  # it did not even begin
        line = error.lineno if isinstance(error, SyntaxError) else None
        return f"{shown}{f':{line}' if line else ''} is not Python: {one_line(error)}"
    where = f"{shown}:{line}" if line else shown
    if isinstance(error, SystemExit):
        return f"{where} exits when imported; put its script under `if __name__ == '__main__':`"
    return f"{where} cannot be imported: {one_line(error)}"


def _build(place: str, name: str | None) -> Workload:
    shown = Path(place).name if _is_file(place) else place
    return _new(_pick(_module(place), shown, name), shown)


def build_one(text: str, kind: type[_T]) -> _T:
    """An object of the one class of this kind that ``FILE.py`` or ``FILE.py:Name`` defines."""
    place, name = _split(text)
    module = _import_file(Path(place).resolve(), place)
    classes = {
        key: cls
        for key, cls in vars(module).items()
        if inspect.isclass(cls) and issubclass(cls, kind) and cls.__module__ == module.__name__
    }
    if name is None and len(classes) == 1:
        name = next(iter(classes))
    if name not in classes:
        held = ", ".join(classes) or "none"
        raise WorkloadError(
            f"{place}: name one {kind.__name__} class, as in {place}:Name; it has {held}"
        )
    return _new(classes[name], place)


def _pick(module: ModuleType, shown: str, name: str | None) -> type[Workload]:
    if name is not None:
        cls = getattr(module, name, None)
        if not _is_workload(cls):
            held = ", ".join(_workloads(module)) or "none"
            raise WorkloadError(f"{shown} has no workload {name}; it has {held}")
        return cls
    classes = _workloads(module)
    if not classes:
        raise WorkloadError(
            f"{shown} has no workload: define a subclass of gevolve.KernelWorkload or gevolve.ModelWorkload"
        )
    if len(classes) > 1:
        first = next(iter(classes))
        raise WorkloadError(
            f"{shown} has several workloads ({', '.join(classes)}); name one, as in {shown}:{first}"
        )
    return next(iter(classes.values()))


def _workloads(module: ModuleType) -> dict[str, type[Workload]]:
    """The workload classes that the module itself defines, in order; names with _ are bases."""
    return {
        name: cls
        for name, cls in vars(module).items()
        if _is_workload(cls) and cls.__module__ == module.__name__ and not name.startswith("_")
    }


def _is_workload(thing: Any) -> TypeGuard[type[Workload]]:
    return inspect.isclass(thing) and issubclass(thing, Workload)


def _new(cls: type[_T], shown: str) -> _T:
    try:
        return cls()
    except Exception as error:
        if isinstance(error, GevolveError):
            raise
        raise WorkloadError(
            f"{shown}: {cls.__name__}() cannot be built without arguments: {one_line(error)}"
        ) from error


def _check_state(given: Workload, rebuilt: Workload) -> None:
    """Workers build the class afresh, so what was set on this object alone would be lost."""
    for key in vars(given).keys() | vars(rebuilt).keys():
        if not _same(vars(given).get(key), vars(rebuilt).get(key)):
            raise WorkloadError(
                f"{given.name}: `{key}` differs from what {given.name}() sets, and workers build it"
                f" afresh; set it in the class, or in a subclass"
            )


def _same(a: Any, b: Any) -> bool:
    try:
        return bool(np.all(a == b))
    except Exception:  # noqa: BLE001  (a user's __eq__ may raise anything; unequal is the safe answer)
        return False


def line_of(error: BaseException, path: Path) -> int | None:
    """The line of this file where the error passed through last."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    return lines[-1] if lines else None
