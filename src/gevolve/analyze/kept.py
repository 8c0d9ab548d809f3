"""What analyses keep in a run's store, each under one name."""

from gevolve.analyze.findings import Explanation, Interval, Minimised
from gevolve.run.store import Store

_INTERVALS, _MINIMISED, _EXPLAINED, _DRAWS = "intervals", "minimised", "explained", "draws"


def intervals(store: Store) -> dict[str, Interval]:
    """The measured ratios of all variants that passed every check, by id."""
    return store.get(_INTERVALS, dict[str, Interval], {})


def keep_intervals(store: Store, measured: dict[str, Interval]) -> None:
    store.set(_INTERVALS, {**intervals(store), **measured})


def minimised(store: Store) -> dict[str, Minimised]:
    """Minimal patches, by the id of the variant that each came from."""
    return store.get(_MINIMISED, dict[str, Minimised], {})


def keep_minimised(store: Store, found: Minimised) -> None:
    store.set(_MINIMISED, {**minimised(store), found.source: found})


def explained(store: Store) -> dict[str, Explanation]:
    """Explanations, by the id of the variant that each takes apart."""
    return store.get(_EXPLAINED, dict[str, Explanation], {})


def keep_explained(store: Store, found: Explanation) -> None:
    store.set(_EXPLAINED, {**explained(store), found.id: found})


def last_draw(store: Store) -> int:
    """The number of the draw of fresh cases that was used last; that of a search's end is 0."""
    return store.get(_DRAWS, int, 0)


def next_draw(store: Store) -> int:
    """The number of a draw of fresh cases that this run has not seen."""
    draw = last_draw(store) + 1
    store.set(_DRAWS, draw)
    return draw
