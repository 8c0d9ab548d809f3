"""The search: NSGA-II over (time, error) on patches, by ask and tell; it knows no IR and does no I/O."""

from gevolve.search.base import Problem, Search
from gevolve.search.evolution import Nsga2Search
from gevolve.search.individual import Individual, front
from gevolve.search.registry import load_search, make_settings, search_kind
from gevolve.search.settings import PRESETS, Settings

__all__ = [
    "PRESETS",
    "Individual",
    "Nsga2Search",
    "Problem",
    "Search",
    "Settings",
    "front",
    "load_search",
    "make_settings",
    "search_kind",
]
