"""The search algorithms by name: those that come with gevolve, and those of other packages.

A package adds one with an entry point in its ``pyproject.toml``:

    [project.entry-points."gevolve.searches"]
    random = "my_package:RandomSearch"
"""

from typing import Any

from gevolve.errors import OptionError
from gevolve.plugins import find_plugins, load_plugin
from gevolve.search.base import Search
from gevolve.search.evolution import Nsga2Search
from gevolve.search.islands import Islands
from gevolve.search.settings import Settings, build_settings

GROUP = "gevolve.searches"
"""The entry-point group of search algorithms."""
_BUILT_IN: dict[str, type[Search]] = {"nsga2": Nsga2Search}


def load_search(name: str) -> type[Search]:
    """The search algorithm of this name."""
    if name in _BUILT_IN:
        return _BUILT_IN[name]
    plugins = find_plugins(GROUP)
    if name not in plugins:
        names = ", ".join([*_BUILT_IN, *plugins])
        raise OptionError(f"--search is {name!r}; it must be one of {names}")
    return load_plugin(plugins[name], Search)


def search_kind(name: str, settings: Settings) -> type[Search]:
    """The search algorithm of this name, on as many islands as the settings say."""
    kind = load_search(name)
    return kind if settings.islands == 1 else Islands.of(kind)


def make_settings(
    search: str,
    preset: str,
    chosen: dict[str, Any],
    *,
    tolerance: float,
    rounding: float,
    approximations: tuple[str, ...] = (),
) -> Settings:
    """The settings of a search: a preset, what the user chose, and the errors of the workload."""
    kind = load_search(search)
    fixed = {"tolerance": tolerance, "rounding": rounding, "approximations": approximations}
    settings = build_settings(kind.settings_type, preset, chosen, **fixed)
    if settings.islands > 1 and kind.observe is Search.observe:
        raise OptionError(f"--search is {search}, which knows no islands; leave out --islands")
    return settings
