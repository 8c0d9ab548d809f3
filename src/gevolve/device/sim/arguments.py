"""Launch arguments: Python values to the bytes that a kernel's parameters hold."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

import numpy as np

from gevolve.device.base import Shape
from gevolve.device.sim.ptx import Variable
from gevolve.errors import LaunchError, SourceError
from gevolve.ir.llvm import names

MAX_THREADS = 1024
MAX_BLOCK = (1024, 1024, 64)
MAX_GRID = (2**31 - 1, 65535, 65535)
MAX_SHARED = 227 << 10
MAX_STATIC = 48 << 10
"""Bytes of shared memory that a kernel may declare, on every GPU."""


def shape3(what: str, shape: Shape, most: tuple[int, int, int]) -> tuple[int, int, int]:
    """A grid or block as three sizes, each checked."""
    one = isinstance(shape, (int, float, np.generic))  # a float is told so below
    sizes: list[Any] = [shape] if one else list(shape)
    if not 1 <= len(sizes) <= 3:
        raise LaunchError(f"{what} {tuple(sizes)} has {len(sizes)} dimensions; give one to three")
    for size, limit in zip(sizes, most, strict=False):
        if not isinstance(size, (int, np.integer)):
            raise LaunchError(f"{what} {tuple(sizes)} must hold whole numbers; use // to divide")
        if not 1 <= size <= limit:
            raise LaunchError(f"{what} {tuple(sizes)} must have sizes from 1 to {limit}")
    x, y, z = [int(size) for size in sizes] + [1] * (3 - len(sizes))
    return x, y, z


def encode(kernel: str, params: Iterable[tuple[Variable, int]], args: tuple[Any, ...]) -> bytes:
    """All parameters of a launch, laid out as the kernel reads them."""
    params = tuple(params)
    if len(params) != len(args):
        raise LaunchError(f"{kernel} takes {len(params)} arguments, {len(args)} were given")
    end = max((offset + variable.size for variable, offset in params), default=0)
    out = bytearray(end)
    for position, ((variable, offset), value) in enumerate(zip(params, args, strict=True)):
        out[offset : offset + variable.size] = _one(
            f"{kernel}: argument {position}", variable, value
        )
    return bytes(out)


def _one(where: str, variable: Variable, value: Any) -> bytes:
    size = variable.size
    pointer = getattr(value, "ptr", None)
    if isinstance(pointer, int):
        if size != 8:
            raise LaunchError(f"{where} is a buffer, but the kernel takes {size} bytes there")
        if not pointer:
            raise LaunchError(f"{where} is a buffer that was freed")
        return pointer.to_bytes(8, "little")
    if isinstance(value, (bytes, bytearray)):
        return _whole(where, size, bytes(value))
    array = np.asarray(value)
    if array.shape or array.dtype.kind not in "biuOf":
        return _whole(where, size, array.tobytes())
    if array.dtype.kind == "f" and variable.type[0] in "us":
        raise LaunchError(f"{where} is {value}, but the kernel takes a whole number; use int()")
    if array.dtype.kind == "f" or variable.type in {"f16", "f32", "f64"}:
        return _float(where, size, float(value))
    if not isinstance(value, (int, np.integer, np.bool_)):
        raise LaunchError(f"{where} is a {type(value).__name__}; give a buffer, number or bytes")
    return _integer(where, size, int(cast("int", value)))


def _whole(where: str, size: int, data: bytes) -> bytes:
    if len(data) != size:
        raise LaunchError(f"{where} has {len(data)} bytes, but the kernel takes {size}")
    return data


def _integer(where: str, size: int, value: int) -> bytes:
    if not -(1 << (8 * size - 1)) <= value < 1 << (8 * size):
        raise LaunchError(f"{where} is {value}, which does not fit in {size} bytes")
    return (value & (1 << 8 * size) - 1).to_bytes(size, "little")


def _float(where: str, size: int, value: float) -> bytes:
    kind = {2: np.float16, 4: np.float32, 8: np.float64}.get(size)
    if kind is None:
        raise LaunchError(f"{where} is a float, but the kernel takes {size} bytes there")
    with np.errstate(over="ignore"):
        return kind(value).tobytes()


def lookup(what: str, name: str, known: Mapping[str, Any]) -> str:
    """Find a symbol by its exact name or, if that is unique, by its name in the C++ source."""
    try:
        return names.resolve(tuple(known), name, what)
    except SourceError as error:
        raise LaunchError(str(error)) from None
