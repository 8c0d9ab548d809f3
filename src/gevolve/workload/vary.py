"""Cases in which one input alone is another, and what all cases have in common.

A variant that ignores an input, or that was made for the one value that all cases share, passes as long as
the data never varies it. So each input is redrawn, permuted, set to its extremes and scaled, within the range that
the cases show. What never varies at all cannot be tried, and is named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from gevolve.workload.base import Array, Case

ROWS = "rows"
"""What is other in a case whose rows are in another order."""
WAYS = ("redrawn", "permuted", "extreme", "scaled")
MOST = 12
"""No more cases than this are made: of all inputs in one way before any in the next."""


class VariedCase(Case):
    """A case in which one input is another than in the one that it was made from."""

    def __init__(self, inputs: Mapping[str, Any], what: str, how: str) -> None:
        super().__init__(**inputs)
        self.what, self.how = what, how

    def __repr__(self) -> str:
        return f"{self.what} {self.how}, {super().__repr__()}"


def varied(cases: Sequence[Case], names: Sequence[str]) -> list[VariedCase]:
    """Cases like the first, each with one of these inputs varied within what all cases show."""
    base, made = cases[0], list[VariedCase]()
    for way in WAYS:
        for number, name in enumerate(names):
            rng = np.random.default_rng([WAYS.index(way), number, 0x7661])
            others = [case[name] for case in cases if name in case.inputs]
            value = _vary(base[name], others, way, rng)
            if value is not None and not _same(value, base[name]):
                made.append(VariedCase({**base.inputs, name: value}, name, way))
    return made[:MOST]


def with_rows_permuted(base: Case) -> list[VariedCase]:
    """The case with the rows of its data in another order: of all arrays that have as many as another."""
    arrays = {
        name: value for name, value in base.inputs.items() if np.ndim(value) and _is_array(value)
    }
    counts = Counter(len(value) for value in arrays.values())
    made: list[VariedCase] = []
    for rows in (rows for rows, times in counts.items() if rows > 1 and times > 1):
        order = np.random.default_rng(0x726F).permutation(rows)
        moved = {name: value[order] for name, value in arrays.items() if len(value) == rows}
        made.append(VariedCase({**base.inputs, **moved}, ROWS, "permuted"))
    return made


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def assumptions(cases: Sequence[Case], names: Sequence[str]) -> list[str]:
    """What is the same in all cases, one input each."""
    found: list[str] = []
    for name in names:
        values = [case[name] for case in cases if name in case.inputs]
        first = list(_leaves(values[0]))
        if all(_same(value, values[0]) for value in values[1:]):
            scalar = len(first) == 1 and not np.ndim(first[0])
            what = f"{name} = {_short(first[0])}" if scalar else f"one content of {name}"
            found.append(f"only tried with {what}")
        elif len(first) == 1 and isinstance(first[0], np.ndarray):
            shapes = {np.shape(value) for value in values}
            if len(shapes) == 1:
                shape = " x ".join(map(str, shapes.pop()))
                found.append(f"only tried with {name} of {shape}")
    return found


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float | np.floating) else f"{value}"[:40]


def _vary(value: Any, others: Sequence[Any], way: str, rng: np.random.Generator) -> Any:
    """A value varied in one way; None if it cannot be."""
    if isinstance(value, Mapping):
        parts = cast("Mapping[str, Any]", value)
        new = {
            key: _vary(one, [other[key] for other in others], way, rng)
            for key, one in parts.items()
        }
        return None if all(one is None for one in new.values()) else _filled(new, parts)
    if isinstance(value, list | tuple):
        items = cast("Sequence[Any]", value)
        named = {str(n): one for n, one in enumerate(items)}
        each = [{str(n): one for n, one in enumerate(other)} for other in others]
        varied_items = _vary(named, each, way, rng)
        return None if varied_items is None else type(items)(varied_items.values())  # pyright: ignore[reportCallIssue]
    if isinstance(value, np.ndarray):
        return _vary_array(cast("Array", value), others, way, rng)
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return None
    return _vary_number(cast("Any", value), others, way, rng)


def _vary_number(value: Any, others: Sequence[Any], way: str, rng: np.random.Generator) -> Any:
    low: Any = min(others)
    high: Any = max(others)
    if low == high or way == "permuted":
        return None
    whole = isinstance(value, int | np.integer)
    new: Any
    if way == "redrawn":
        span = float(high - low)
        new = low + (int(rng.integers(0, int(span) + 1)) if whole else rng.random() * span)
    elif way == "extreme":
        new = low if value == high else high
    else:
        new = (value + low) // 2 if whole else (value + low) / 2
    return type(value)(new)


def _filled(new: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
    return {key: old[key] if value is None else value for key, value in new.items()}


def _vary_array(value: Array, others: Sequence[Any], way: str, rng: np.random.Generator) -> Any:
    """Whole numbers stay within what this very array has: they may be sizes or places."""
    if value.size == 0 or value.dtype.kind not in "iubf":
        return None
    if way == "permuted":
        return rng.permutation(value.reshape(-1)).reshape(value.shape)
    seen = [value] if value.dtype.kind != "f" else [np.asarray(other) for other in others]
    finite = np.concatenate([one[np.isfinite(one)].reshape(-1) for one in seen])
    if finite.size == 0:
        return None
    low: Any = finite.min()
    high: Any = finite.max()
    if low == high:
        return None
    if way == "extreme":
        return np.asarray(np.where(rng.random(value.shape) < 0.5, low, high), value.dtype)
    if value.dtype.kind != "f":
        if way == "scaled":
            return None
        return rng.integers(int(low), int(high), value.shape, endpoint=True).astype(value.dtype)
    if way == "scaled":
        return np.asarray(low / 2 + value / 2, value.dtype)
    share = rng.random(value.shape)
    return np.asarray((1 - share) * float(low) + share * float(high), value.dtype)


def _same(one: Any, other: Any) -> bool:
    mine, its = list(_leaves(one)), list(_leaves(other))
    return len(mine) == len(its) and all(map(np.array_equal, mine, its))


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for one in cast("Mapping[str, Any]", value).values():
            yield from _leaves(one)
    elif isinstance(value, list | tuple):
        for one in cast("Sequence[Any]", value):
            yield from _leaves(one)
    else:
        yield value
