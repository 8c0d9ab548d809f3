"""The search: NSGA-II over (time, error) on patches, by ask and tell; it knows no IR and does no I/O."""

from gevolve.search.evolution import Search
from gevolve.search.individual import Individual, front
from gevolve.search.settings import PRESETS, Settings

__all__ = ["PRESETS", "Individual", "Search", "Settings", "front"]
