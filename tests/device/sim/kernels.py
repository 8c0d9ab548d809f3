"""Tiny PTX kernels for tests: one instruction applied to arrays, element by element."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from gevolve.device.base import Limits
from gevolve.device.sim import Sim

DTYPES = {
    "pred": np.uint8,
    **{f"{s}{n}": np.dtype(f"{'i' if s == 's' else 'u'}{n // 8}") for s in "bus" for n in (8, 16, 32, 64)},
    "f16": np.float16, "bf16": np.uint16, "f16x2": np.uint32, "bf16x2": np.uint32, "f32": np.float32,
    "f64": np.float64, "u16x2": np.uint32, "s16x2": np.uint32, "f32x2": np.uint64,
}  # fmt: skip
HEADER = ".version 8.6\n.target sm_90\n.address_size 64\n"
_REGISTER = {1: "b16", 2: "b16", 4: "b32", 8: "b64"}


def size(kind: str) -> int:
    return np.dtype(DTYPES[kind]).itemsize


@cache
def kernel(code: str, result: str, operands: tuple[str, ...]) -> bytes:
    """A kernel that gives each thread its own ``%a``, ``%b``, ``%c`` … and stores ``%d``."""
    names = "abcefg"[: len(operands)]
    lines = [
        ".reg .b64 %addr, %base, %index, %offset;",
        ".reg .b32 %t<4>;",
        ".reg .pred %p, %q, %dp;",
    ]
    params = [".param .u64 out", ".param .u32 n", *(f".param .u64 in_{n}" for n in names)]
    lines.append(f".reg .{_REGISTER[size(result)]} %d, %d2;")
    lines += [f".reg .{_REGISTER[size(k)]} %{n};" for n, k in zip(names, operands, strict=True)]
    lines += [
        "mov.u32 %t0, %ctaid.x; mov.u32 %t1, %ntid.x; mov.u32 %t2, %tid.x;",
        "mad.lo.u32 %t0, %t0, %t1, %t2;",
        "ld.param.u32 %t3, [n]; setp.ge.u32 %p, %t0, %t3; @%p exit;",
        "cvt.u64.u32 %index, %t0;",
    ]
    for name, kind in zip(names, operands, strict=True):
        bits = f"b{8 * size(kind)}"
        lines += [
            f"ld.param.u64 %base, [in_{name}]; mul.lo.u64 %offset, %index, {size(kind)};",
            f"add.u64 %addr, %base, %offset; ld.global.{bits} %{name}, [%addr];",
        ]
    lines += [
        code,
        f"ld.param.u64 %base, [out]; mul.lo.u64 %offset, %index, {size(result)};",
        f"add.u64 %addr, %base, %offset; st.global.b{8 * size(result)} [%addr], %d;",
        "ret;",
    ]
    body = "\n".join(lines)
    return f"{HEADER}.visible .entry k({', '.join(params)})\n{{\n{body}\n}}\n".encode()


def apply(
    code: str, result: str, *operands: tuple[str, Sequence[object] | np.ndarray]
) -> np.ndarray:
    """Run `code` for every row of the operands; ``%p`` and ``%q`` are free predicates."""
    arrays = [
        values.astype(DTYPES[kind], copy=False)
        if isinstance(values, np.ndarray)
        else np.array(list(values), DTYPES[kind])
        for kind, values in operands
    ]
    count = len(arrays[0])
    gpu = Sim().open(kernel(code, result, tuple(kind for kind, _ in operands)), Limits())
    try:
        out = gpu.empty(count, DTYPES[result])
        gpu.launch("k", -(-count // 128), 128, out, count, *map(gpu.array, arrays))
        return out.get()
    finally:
        gpu.close()


def pairs(values: Sequence[object], kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Every value with every other."""
    array = np.array(values, DTYPES[kind])
    left, right = np.meshgrid(array, array)
    return left.ravel(), right.ravel()


def integers(kind: str) -> list[int]:
    """Values at the edges of an integer type, and a few between."""
    bits = 8 * size(kind)
    top = (1 << bits) - 1
    found = {0, 1, 2, 3, 5, 7, 31, 32, 33, top, top - 1, 1 << (bits - 1), (1 << (bits - 1)) - 1}
    found |= {0x12345678_9ABCDEF0 & top, 0xDEADBEEF_CAFEBABE & top, 0x5555555555555555 & top}
    found |= {(1 << (bits // 2)) - 1, 1 << (bits // 2)}
    if kind[0] == "s":
        return sorted(v - (1 << bits) if v >> (bits - 1) else v for v in found)
    return sorted(found)


def wrap(value: int, kind: str) -> int:
    """An exact integer cut to a type."""
    bits = 8 * size(kind)
    value &= (1 << bits) - 1
    return value - (1 << bits) if kind[0] == "s" and value >> (bits - 1) else value


FLOATS = [
    0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.1415927, 1e-3, -7.25, 255.0, 256.5, 65504.0, 65520.0,
    1e5, 16777216.0, 16777217.0, 2147483647.0, -2147483648.0, 4294967296.0, 1e10, 9.3e18, -9.3e18, 1e20,
    3.4e38, -3.4e38, 1.17e-38, 1e-40, -1e-45, 6e-8, 5.9e-8, 6.1e-5, float("inf"), float("-inf"),
    float("nan"),
]  # fmt: skip
DOUBLES = [*FLOATS, 1e300, -1e-300, 5e-324, 1.7976931348623157e308, 0.1, 1 + 2**-52]
