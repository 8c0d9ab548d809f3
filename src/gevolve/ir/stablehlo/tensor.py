"""Tensor types, as text and as numbers."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache

from gevolve.ir.stablehlo.mlir import Type, context, ir

NARROWER = {
    "f64": ("f32",),
    "f32": ("bf16", "f16"),
    "i64": ("i32",),
    "ui64": ("ui32",),
    "complex<f64>": ("complex<f32>",),
}
"""The element types that may take the place of a wider one."""
_TENSOR = re.compile(r"tensor<((?:\d+x)*)([^<>]+|complex<f\d+>)>")
_ELEMENT = re.compile(r"u?i(?:1|8|16|32|64)|bf16|f(?:16|32|64)|complex<f(?:32|64)>")


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor type that repair can make from any other."""

    shape: tuple[int, ...]
    element: str

    def __str__(self) -> str:
        return f"tensor<{''.join(f'{size}x' for size in self.shape)}{self.element}>"

    @property
    def count(self) -> int:
        return math.prod(self.shape)

    @property
    def is_float(self) -> bool:
        return "f" in self.element and not self.is_complex

    @property
    def is_complex(self) -> bool:
        return self.element.startswith("complex")

    @property
    def part(self) -> str:
        """The element type of the real part."""
        return self.element.removeprefix("complex<").removesuffix(">")

    @property
    def native(self) -> Type:
        return native_type(str(self))


@lru_cache(1 << 14)
def tensor(text: str) -> Tensor | None:
    """The tensor type with this text; None for tokens, tuples and rare element types."""
    found = _TENSOR.fullmatch(text)
    if found is None or not _ELEMENT.fullmatch(found[2]):
        return None
    return Tensor(tuple(int(size) for size in found[1].split("x")[:-1]), found[2])


@lru_cache(1 << 14)
def native_type(text: str) -> Type:
    return ir.RankedTensorType(ir.Type.parse(text, context()))
