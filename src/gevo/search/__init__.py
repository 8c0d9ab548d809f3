"""The search: NSGA-II over (time, error) on patches, by ask and tell; it knows no IR and does no I/O."""

from gevo.search.evolution import Search
from gevo.search.individual import Individual, front
from gevo.search.settings import PRESETS, Settings

__all__ = ["PRESETS", "Individual", "Search", "Settings", "front"]
