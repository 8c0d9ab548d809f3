"""Finds what other packages add to gevolve.

A package offers an object under an entry-point group of gevolve, in its ``pyproject.toml``::

    [project.entry-points."gevolve.edits"]
    "llvm.fast-math" = "my_package:FastMath"

Nothing of the package is imported until the object is asked for.
"""

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import TypeVar

from gevolve.errors import PluginError, one_line

_Base = TypeVar("_Base")


def find_plugins(group: str) -> Mapping[str, EntryPoint]:
    """The entry points of a group by name, in the order of their names."""
    found: dict[str, EntryPoint] = {}
    for entry in sorted(entry_points(group=group), key=lambda entry: (entry.name, entry.value)):
        other = found.setdefault(entry.name, entry)
        if other.value != entry.value:
            raise PluginError(
                f"{package_of(other)} and {package_of(entry)} both add {entry.name!r} to {group}; "
                "uninstall one of them"
            )
    return found


def load_plugin(entry: EntryPoint, base: type[_Base]) -> type[_Base]:
    """Import the class that an entry point names; it must be a subclass of `base`."""
    try:
        found: object = entry.load()
    except Exception as error:
        raise PluginError(
            f"{package_of(entry)}: {entry.name!r} of {entry.group} cannot be loaded "
            f"({one_line(error)}); update or uninstall the package"
        ) from error
    if not (isinstance(found, type) and issubclass(found, base)):
        raise PluginError(
            f"{package_of(entry)}: {entry.name!r} of {entry.group} is no subclass of "
            f"{base.__name__}; see docs/how-to/extend.md"
        )
    return found


def package_of(entry: EntryPoint) -> str:
    """The name of the package that brings an entry point."""
    return entry.dist.name if entry.dist is not None else entry.module
