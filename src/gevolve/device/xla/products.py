"""What matrix products and convolutions take, by their shapes."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gevolve.device.xla.hlo import Computation, Instruction
    from gevolve.device.xla.rates import Rates

_WIDE = 64
"""Columns that a library does at once; what is left over takes longer."""
_PACKET = 16
"""Numbers that a processor takes at once."""
_WHOLE = 8
"""Products of integers take so many times what those of floating-point numbers do."""
_AT_ONCE = {1: (4, 0.7), 2: (2, 1.0), 3: (4, 1.35)}
"""By packets of columns: how many terms the library sums at a time, and what one that is left over takes, relative to two packets."""
_PLACE, _NUMBER = 20, 0.45
"""To gather numbers one by one takes so much for each place and for each number, however few there are."""
_SUMMED = 1.6
"""A product in plain loops takes so many times what it does to fetch and store a number."""
_EDGE, _BEGUN = 26, 12
"""A product that the other library does takes what one with so many columns, and terms of its sums, more would."""
_FULL = 0.65
"""Of two packets without a rest it is this part, ..."""
_FEW, _NARROW = 2, 24
"""... and so many times as much where there are but three terms, and no more columns than this."""


_FORM = re.compile(r"b\d+f_\d+io->b\d+f")
"""The order of dimensions that convolutions are written for; any other is computed by plain loops."""
_DILATED = re.compile(r"lhs_dilate=([\dx]+)")


def dot_seconds(rates: Rates, inside: Computation, one: Instruction, *, fused: bool) -> float:
    """Of a matrix product, without what starts it; those that are fused are the first library's."""
    left, right = (inside.instructions[name].shape for name in one.operands[:2])
    depth = math.prod(left.sizes[at] for at in one.numbers("lhs_contracting_dims"))
    batches = math.prod(left.sizes[at] for at in one.numbers("lhs_batch_dims"))
    rows = left.count // max(1, depth * batches)
    columns = right.count // max(1, depth * batches)
    each = _multiply(rates, left.element, one.shape.element)
    work = 2.0 * batches * rows * depth * _columns(rates, columns) * each
    work += batches * rows * _leftover(rates, depth, columns)
    size = max(1.0, one.shape.bytes / max(1, one.shape.count) / 4)
    if not fused and each == rates.multiply:
        work = 2.0 * batches * rows * (depth + _BEGUN) * (columns + _EDGE) * rates.turned
    work += right.count * rates.weight * size
    return work + (left.count + one.shape.count) * rates.entry * size


def convolution_seconds(
    rates: Rates, inside: Computation, one: Instruction, *, fused: bool
) -> float:
    """Of a convolution, without what starts it.

    A library does those that are fused. Others first gather what a window covers, number by number if they must.
    """
    taken, kernel = (inside.instructions[name].shape for name in one.operands[:2])
    labels = one.attributes.partition("dim_labels=")[2].partition(",")[0].partition(" ")[0]
    inputs, names, _ = labels.replace("->", "_").split("_")
    size = dict(zip(names, kernel.sizes, strict=False))
    out, channels = max(1, size.get("o", 1)), max(1, size.get("i", 1))
    places = one.shape.count / out
    depth = kernel.count // out
    groups = taken.sizes[inputs.index("f")] // channels if "f" in inputs else 1
    each = _multiply(rates, taken.element, one.shape.element)
    work = 2.0 * places * depth * _columns(rates, max(1, out // max(1, groups))) * groups * each
    if groups > 1:
        return places * groups * (rates.group + depth * rates.group_tap) + work
    if fused:
        work += places * depth / channels * _leftover(rates, channels, out)
        return work + places * (depth + out) * rates.entry + kernel.count * rates.weight
    if not _FORM.fullmatch(labels):
        apart = math.prod(map(int, _numbers(_DILATED, one.attributes)))
        narrow = _PACKET / out if apart == 1 and out < _PACKET else 1.0
        return one.shape.count * depth / apart * rates.apart * _SUMMED * narrow
    across = max((int(name) for name in names if name.isdigit()), default=-1)
    row = channels * size.get(str(across), 1)
    if channels % _PACKET and row < _PACKET:
        return work + places * (_PLACE + _NUMBER * depth) * rates.patch
    return work + places * depth * (rates.patch_row if channels % _PACKET else rates.patch_whole)


def _numbers(pattern: re.Pattern[str], attributes: str) -> list[str]:
    found = pattern.search(attributes)
    return found[1].split("x") if found else []


def _multiply(rates: Rates, taken: str, given: str) -> float:
    """Of one operation, by the types that a product takes and gives."""
    if taken in ("bf16", "f16"):
        return rates.half if given == "f32" else rates.multiply
    if taken[0] in "sup":
        return rates.multiply * _WHOLE
    return rates.multiply * {"f64": 2, "c64": 4, "c128": 8}.get(taken, 1)


def _leftover(rates: Rates, terms: int, columns: int) -> float:
    """What a row takes more if the terms of its sums do not go into as many as are summed at a time."""
    rest = columns % _WIDE
    packets = -(-rest // _PACKET)
    at_once, longer = _AT_ONCE.get(packets, (1, 0.0))
    if terms == 1 or terms % at_once == 0:
        return 0.0
    if rest == 2 * _PACKET:
        longer *= _FULL
    return rates.leftover * longer * (_FEW if terms < 4 and rest <= _NARROW else 1.0)


def _columns(rates: Rates, columns: int) -> float:
    """As many columns of full speed as take what these do."""
    full, rest = divmod(columns, _WIDE)
    if not rest:
        return columns
    if rest <= _PACKET // 2:
        return full * _WIDE + _PACKET / 2 * rates.columns16
    packets = -(-rest // _PACKET)
    if _WIDE // 2 - _PACKET // 2 < rest < _WIDE // 2:
        packets += 1
    longer = (rates.columns16, rates.columns32, rates.columns48, rates.columns60)[packets - 1]
    return full * _WIDE + packets * _PACKET * longer
