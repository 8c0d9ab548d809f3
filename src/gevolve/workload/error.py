"""How wrong an output is, element by element: no large value hides a small one.

A difference is measured by the value that it is a difference to. Where that value is zero, or so small
beside what it was computed from that its own rounding is large, it is measured by that rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gevolve.errors import WorkloadError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Array = npt.NDArray[Any]

ZERO = -(1 << 20)
"""The exponent that stands for zeros."""
SLACK = 8.0
"""A difference up to so many times the measured rounding counts as rounding: another order of a long
sum may cost more than the few that were tried."""
UNUSUAL = 4.0
"""An element whose noise is more than so many times the usual part of its value is measured by that."""
GROWTH = 4.0
"""How many times the rounding of small cases large ones may have."""
AGREES = 1e-5
"""Programs whose own rounding is not known, or less, must agree with their reference to this."""
FEW = 32
"""So few elements of one size say little of their rounding."""
REACH = 6
"""Those of up to so many powers of two more help then."""
OFF = 0.1
"""An element that differs by more than this part of its value is off."""


def relative_error(got: Array, want: Array, scale: Array | None = None) -> float:
    """The largest |got - want| over |want|; for integers and booleans, the share that differs.

    Zeros are measured by the smallest magnitude that `want` has, or each element by its `scale`, if
    one is given. Where `want` is not finite `got` must be the same, or the error is infinite.
    """
    if want.size == 0:
        return 0.0
    if want.dtype.kind in "iub":
        return float(np.count_nonzero(got != want)) / want.size
    found, wanted = _wide(got), _wide(want)
    with np.errstate(all="ignore"):
        same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
        if same.all():
            return 0.0
        measure = smallest_scale(wanted) if scale is None else scale
        if not np.isfinite(measure).all():
            raise WorkloadError(
                "the error has no finite scale: an output is too large to be measured; define error()"
            )
        errors = np.where(same, 0.0, _distance(found, wanted) / measure)
    errors[~same & ~(np.isfinite(found) & np.isfinite(wanted))] = np.inf
    return float(errors.max())


def share_off(got: Array, want: Array) -> float:
    """The share of elements that differ by more than a tenth of their value."""
    if want.size == 0:
        return 0.0
    if want.dtype.kind == "b":
        return float(np.count_nonzero(got != want)) / want.size
    found, wanted = _wide(got), _wide(want)
    with np.errstate(all="ignore"):
        same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
        near = _distance(found, wanted) <= OFF * np.abs(wanted)
    return float(np.count_nonzero(~(same | near))) / want.size


def rough_error(got: Array, want: Array) -> float:
    """As `relative_error`, but no element is measured by less than their mean: for a first look."""
    if want.dtype.kind in "iub" or want.size == 0:
        return relative_error(got, want)
    wanted = _wide(want)
    with np.errstate(all="ignore"):
        mean = float(np.sum(np.abs(wanted) / want.size, where=np.isfinite(wanted)))
    return relative_error(got, want, np.maximum(smallest_scale(wanted), mean))


def smallest_scale(want: Array) -> Array:
    """The magnitude of every element; of zeros, the smallest that there is, or 1."""
    with np.errstate(all="ignore"):
        magnitude = np.abs(want)
    finite = magnitude[np.isfinite(want)]
    if not np.isfinite(finite).all():  # of complex numbers
        return magnitude
    smallest = float(np.min(finite, where=finite > 0, initial=np.inf))
    floor = smallest if np.isfinite(smallest) else 1.0
    return np.where(np.isfinite(want), np.maximum(magnitude, floor), 1.0)


def _distance(found: Array, wanted: Array) -> Array:
    """|found - wanted|; between numbers it never overflows."""
    distance = np.abs(found - wanted)
    return np.where(np.isinf(distance) & np.isfinite(found), np.finfo(np.float64).max, distance)


def _wide(array: Array) -> Array:
    return np.asarray(array, np.complex128 if array.dtype.kind == "c" else np.float64)


@dataclass(frozen=True, slots=True)
class Ruler:
    """What an output is measured by: the scale of every element, and how much of it is rounding."""

    scale: Array
    rounding: Array
    """The difference of every element up to which it is the program's own rounding."""

    @property
    def largest(self) -> float:
        """The largest error that counts as rounding."""
        with np.errstate(all="ignore"):
            errors = self.rounding / self.scale
        return float(errors.max()) if errors.size else 0.0

    def excuses(self, got: Array, want: Array) -> bool:
        """Whether all differences are no more than rounding."""
        found, wanted = _wide(got), _wide(want)
        with np.errstate(all="ignore"):
            same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
            return bool((same | (_distance(found, wanted) <= self.rounding)).all())


def rulers(
    wants: Sequence[Array], others: Sequence[Sequence[Array]], *, rounds: bool
) -> list[Ruler | None]:
    """How to measure an output of several cases, given what it is when the program rounds otherwise.

    None for whole numbers, which are never rounded. What a few runs happen to show of one element says
    little, so elements of about the same size stand in for each other: none has less noise than half
    of these have. One that changed far more than all of these is no rounding but another decision.
    Where the program `rounds` at all, the last bit of an element is in doubt even if it never changed.
    """
    if any(want.dtype.kind in "iub" for want in wants):
        return [None] * len(wants)
    noises = [_noise(want, runs) for want, runs in zip(wants, others, strict=True)]
    if rounds:
        noises = [
            np.maximum(noise, _half_ulp(want)) for noise, want in zip(noises, wants, strict=True)
        ]
    usual = max(map(_relative, noises, wants), default=0.0)
    return [_ruler(want, noise, usual) for want, noise in zip(wants, noises, strict=True)]


def rulers_alike(
    wants: Sequence[Array], known: Sequence[tuple[Array, Ruler | None]]
) -> list[Ruler | None]:
    """How to measure an output of large cases, given rulers of smaller ones.

    A value has the rounding that others of its size had, times `GROWTH`. One smaller than all of those
    has that of the smallest, for its rounding is that of the terms that it is a difference of.
    """
    sizes: dict[int, float] = {}
    for want, ruler in known:
        if ruler is None:
            return [None] * len(wants)
        for size, _, alike in _by_size(np.abs(_wide(want))):
            most = float(np.quantile(ruler.rounding[alike], 0.9))
            sizes[size] = max(sizes.get(size, 0.0), most)
    table = sorted(size for size, most in sizes.items() if most > 0 and size != ZERO)
    if not table:
        return [_ruler(want, np.zeros(want.shape), 0.0) for want in wants]
    made: list[Ruler | None] = []
    for want in wants:
        exponents = _exponents(np.abs(_wide(want)))
        logs = np.interp(exponents, table, np.log2([sizes[size] for size in table]))
        logs += np.maximum(0, exponents - table[-1])  # a larger one has the same part of its value
        noise = np.where(_wide(want) == 0, sizes.get(ZERO, 0.0), np.exp2(logs)) * GROWTH / SLACK
        made.append(_ruler(want, noise, _relative(noise, want)))
    return made


def _noise(want: Array, others: Sequence[Array]) -> Array:
    """How much each element changes when the program rounds otherwise."""
    wanted = _wide(want)
    noise = np.zeros(want.shape)
    with np.errstate(all="ignore"):
        for other in others:
            change = np.abs(_wide(other) - wanted)
            noise = np.fmax(noise, np.where(np.isfinite(change), change, 0.0))
    return _among_equals(noise, np.abs(wanted))


def _relative(noise: Array, want: Array) -> float:
    """What part of its value the noise of an element usually is."""
    magnitude = np.abs(_wide(want))
    counts = np.isfinite(magnitude) & (magnitude > 0)
    return float(np.median(noise[counts] / magnitude[counts])) if counts.any() else 0.0


def _ruler(want: Array, noise: Array, usual: float) -> Ruler:
    """A value whose noise is more than the usual part of it is measured by a larger one."""
    magnitude = np.abs(_wide(want))
    noise = np.maximum(noise, usual * np.where(np.isfinite(magnitude), magnitude, 0.0))
    scale = smallest_scale(_wide(want))
    with np.errstate(all="ignore"):
        if usual:
            scale = np.maximum(scale, np.nan_to_num(noise / (UNUSUAL * usual), posinf=0.0))
        return Ruler(scale, np.nan_to_num(SLACK * noise, posinf=0.0))


def _among_equals(noise: Array, magnitude: Array) -> Array:
    """The noise of each element, but no less than is usual for its size and not many times as much."""
    smoothed = noise.copy()
    for _, own, alike in _by_size(magnitude):
        if (seen := noise[alike & (noise > 0)]).size:
            usual, most = np.median(noise[alike]), np.quantile(seen, 0.9)
            smoothed[own] = np.clip(noise[own], usual, 4 * most)
    return smoothed


def _by_size(magnitude: Array) -> Iterator[tuple[int, Array, Array]]:
    """Each size, the elements of it, and those that tell of their rounding.

    If few have that size, the next larger ones tell, too: a small value is often the difference of
    such, and has their rounding.
    """
    exponents = _exponents(magnitude)
    found, counts = np.unique(exponents, return_counts=True)
    for size in map(int, found):
        near = (found >= size) & (found <= size + REACH * (size != ZERO))
        enough = np.searchsorted(np.cumsum(counts[near]), FEW)
        last = found[near][min(enough, np.count_nonzero(near) - 1)]
        yield size, exponents == size, (exponents >= size) & (exponents <= last)


def _exponents(magnitude: Array) -> Array:
    """The power of two below each magnitude; zeros have one of their own."""
    _, exponents = np.frexp(np.nan_to_num(magnitude))
    return np.where(magnitude == 0, ZERO, exponents)


def _half_ulp(want: Array) -> Array:
    """Half of the distance to the next number."""
    parts = np.abs(want) if want.dtype.kind == "c" else np.abs(np.nan_to_num(want))
    with np.errstate(all="ignore"):
        return np.nan_to_num(np.asarray(np.spacing(parts), np.float64), nan=0.0, posinf=0.0) / 2
