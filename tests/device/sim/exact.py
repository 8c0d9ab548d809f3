"""Exact arithmetic as an oracle: rationals rounded to a float format in a given mode."""

import math
from fractions import Fraction

import numpy as np

FORMATS = {
    "f16": (11, -14, 15),
    "bf16": (8, -126, 127),
    "f32": (24, -126, 127),
    "f64": (53, -1022, 1023),
}
"""Digits, least and greatest exponent."""
MODES = ("rn", "rz", "rm", "rp")


def rounded(value: Fraction, kind: str, mode: str) -> float:
    """The float of a format nearest to a non-zero rational, in a rounding mode."""
    digits, least, most = FORMATS[kind]
    size, negative = abs(value), value < 0
    exponent = max(math.floor(_log2(size)), least)
    unit = Fraction(2) ** (exponent - digits + 1)
    whole, rest = divmod(size, unit)
    up = {
        "rn": rest > unit / 2 or (rest == unit / 2 and whole % 2 == 1),
        "rz": False,
        "rm": negative and rest > 0,
        "rp": not negative and rest > 0,
    }[mode]
    result = (whole + up) * unit
    greatest = (2 - Fraction(2) ** (1 - digits)) * Fraction(2) ** most
    sign = -1.0 if negative else 1.0
    if result > greatest:
        to_infinity = mode == "rn" or (mode == "rm" and negative) or (mode == "rp" and not negative)
        return sign * (math.inf if to_infinity else float(greatest))
    return sign * float(result) if result else math.copysign(0.0, sign)


def _log2(value: Fraction) -> int:
    power = value.numerator.bit_length() - value.denominator.bit_length()
    return power if value >= Fraction(2) ** power else power - 1


def square_root(value: Fraction, kind: str, mode: str) -> float:
    """The square root of a positive rational, rounded: exact enough that no mode can tell."""
    scale = 4**1200
    root = math.isqrt(value.numerator * scale // value.denominator)
    exact = Fraction(root, 2**1200)
    if exact * exact != value:
        exact += Fraction(1, 2**1202)
    return rounded(exact, kind, mode)


def same(got: np.ndarray, want: np.ndarray) -> None:
    """Equal bit for bit, but any NaN is as good as another."""
    want = np.asarray(want, got.dtype)
    bits = np.dtype(f"u{got.itemsize}")
    alike = (got.view(bits) == want.view(bits)) | (np.isnan(got) & np.isnan(want))
    assert alike.all(), [(i, got[i], want[i]) for i in np.flatnonzero(~alike)[:5]]


def bf16_to_float(bits: np.ndarray) -> np.ndarray:
    return (np.asarray(bits, np.uint32) << 16).view(np.float32)
