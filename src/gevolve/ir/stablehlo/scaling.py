"""Multiplies constants by powers of two."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gevolve.ir.stablehlo.mlir import Attribute, Op, context, ir
from gevolve.ir.stablehlo.tensor import Tensor, native_type, tensor

_LARGEST = {"bf16": 3.3895e38, "f16": 65504.0, "f32": 3.4028e38}


def scaled(constant: Op, power: int) -> Attribute | None:
    """A constant times two to this power; None if that is the same, or does not fit the type."""
    kind = tensor(str(constant.results[0].type))
    if kind is None or kind.element == "i1" or kind.is_complex:
        return None
    value = constant.attributes["value"]
    if not isinstance(value, ir.DenseElementsAttr):
        return None
    if value.is_splat:
        number: float | int = value.get_splat_value().value  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType, reportAttributeAccessIssue]
        made = _times(number, power, kind)
        if made is None:
            return None
        text = f"{made:.17e}" if kind.is_float else str(made)
        return ir.Attribute.parse(f"dense<{text}> : {kind}", context())
    if kind.element == "bf16":  # NumPy has no such type
        return None
    numbers: np.ndarray[Any, Any] = np.array(value)
    factor = 2.0**power
    with np.errstate(all="ignore"):
        if kind.is_float:
            changed = numbers * numbers.dtype.type(factor)
        else:
            changed = np.trunc(numbers * factor).astype(numbers.dtype)
    if np.array_equal(changed, numbers) or not np.array_equal(
        np.isfinite(changed), np.isfinite(numbers)
    ):
        return None
    return ir.DenseElementsAttr.get(
        np.ascontiguousarray(changed), type=native_type(str(kind)), context=context()
    )


def _times(number: float, power: int, kind: Tensor) -> float | int | None:
    if kind.is_float:
        if not math.isfinite(number) or number == 0:
            return None
        made = math.ldexp(number, power)
        return made if 0 < abs(made) <= _LARGEST.get(kind.element, math.inf) else None
    whole = int(number)
    bits = int(kind.element.lstrip("ui"))
    shifted = whole << power if power > 0 else (abs(whole) >> -power) * (-1 if whole < 0 else 1)
    low, high = (
        (0, 2**bits) if kind.element.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1))
    )
    # What becomes 0 is not scaled but taken away: a counter's step would never end its loop.
    return shifted if shifted not in (0, whole) and low <= shifted < high else None
