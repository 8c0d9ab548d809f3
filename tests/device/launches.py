"""How to run every kernel of the fixtures, and what NumPy says comes out.

Each check runs on a `Gpu` that has one fixture open, whichever way it came there: from the ``.cu``
through the bundled clang, from a toolkit's ``.ll``, or from nvcc's ``.ptx``.
"""

import math
import struct
from collections.abc import Callable

import numpy as np

from gevolve.device.base import Gpu

F, D, I, U = np.float32, np.float64, np.int32, np.uint32  # noqa: E741  (a type, beside F)
N = 500
GRID, BLOCK = 4, 128
erf = np.vectorize(math.erf)


def close(got, want, tolerance):
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


def mathlib(gpu: Gpu) -> None:
    x = np.random.default_rng(1).uniform(-4, 4, N)
    v = x.astype(F)
    out = gpu.empty((12, N), F)
    gpu.launch("math_float", GRID, BLOCK, gpu.array(v), out, np.int32(N))
    w = v.astype(D)
    a = abs(w)
    want = (
        np.exp(w), np.log(a), a ** D(F(1.7)), np.sin(w), np.cos(w), erf(w), np.tanh(w),
        np.arctan2(w, 0.5), a**-0.5, np.fmod(v, F(0.7)), np.cbrt(w),
        np.exp2(w) + np.log2(a) + np.log10(a),
    )  # fmt: skip
    for row, (got, right) in enumerate(zip(out.get(), want, strict=True)):
        np.testing.assert_allclose(got, right, rtol=2e-6, atol=2e-7, err_msg=f"row {row}")

    out = gpu.empty((8, N), D)
    gpu.launch("math_double", GRID, BLOCK, gpu.array(x), out, np.int32(N))
    a = abs(x)
    want = (
        np.exp(x), np.log(a), a**-0.3, np.sin(x) + 2 * np.cos(x), 1 - erf(x), np.tanh(x),
        np.floor(x) + 3 * np.ceil(x) + 5 * np.rint(x) + 7 * np.trunc(x), np.sqrt(a) / (1 + x * x),
    )  # fmt: skip
    for row, (got, right) in enumerate(zip(out.get(), want, strict=True)):
        np.testing.assert_allclose(got, right, rtol=1e-14, atol=1e-14, err_msg=f"row {row}")


def approx(gpu: Gpu) -> None:
    x = np.random.default_rng(2).uniform(-3, 3, N).astype(F)
    out, whole = gpu.empty((9, N), F), gpu.empty((8, N), I)
    gpu.launch("approx", GRID, BLOCK, gpu.array(x), out, whole, np.int32(N))
    a = abs(x) + F(0.25)
    w, b = x.astype(D), a.astype(D)
    got = out.get()
    want = (
        np.exp(w), np.log(b), np.sin(w) + 2 * np.cos(w), w / b, b**0.75, np.clip(w, 0, 1),
    )  # fmt: skip
    for row, right in enumerate(want):
        np.testing.assert_allclose(got[row], right, rtol=2e-6, atol=2e-6, err_msg=f"row {row}")
    gap = np.abs(np.spacing((w * b + 1).astype(F)))
    assert np.all((-2 * gap <= got[6]) & (got[6] <= 0) | (got[6] <= 2 * gap) & (w * b + 1 < 0))
    close(got[7], 1 / b + np.sqrt(b), 2e-7)
    assert np.all(got[8] <= 0)
    assert got[8].min() < 0
    i, ten = np.arange(N), (x * F(10)).astype(F)
    signed = (i * 77777777).astype(np.int64).astype(I).astype(np.int64)
    hashed = (i * 2654435761).astype(np.int64) & 0xFFFFFFFF
    bit = [int(v) for v in i]
    ffs = np.array([(v & -v).bit_length() for v in bit])
    clz = np.array([32 - v.bit_length() for v in bit])
    rev = np.array([int(f"{v:032b}"[::-1], 2) for v in bit])
    picked = [(h & 0xFF) | 0 << 8 | (h >> 16 & 0xFF) << 16 | 1 << 24 for h in hashed.tolist()]
    want = (
        np.rint(ten), np.floor(ten), np.ceil(ten), np.trunc(ten),
        x.view(I) ^ (signed * 99999999 >> 32).astype(I),
        np.array([int(h).bit_count() for h in hashed]) + clz * 64 + ffs * 4096,
        np.array(picked, np.int64),
        rev + (i * 1001 & 0xFFFFFF) * 77 + abs(i - 100) + 3,
    )  # fmt: skip
    for row, right in enumerate(want):
        wrapped = np.asarray(right).astype(np.int64).astype(U).view(I)
        np.testing.assert_array_equal(whole.get()[row], wrapped, err_msg=f"row {row}")


def spaces(gpu: Gpu) -> None:
    rng = np.random.default_rng(3)
    width, height = 37, 21
    data = rng.random((height, width), F)
    out = gpu.empty((height, width), F)
    # Layout: two ints, three floats, four bytes of padding, a double.
    layout = np.frombuffer(struct.pack("<ii3f4xd", width, height, 2.0, 0.5, -1.0, 0.125), np.uint8)
    gpu.launch("by_value", (3, 3), (16, 8), gpu.array(data), out, layout)
    i = np.arange(width * height)
    weights = np.zeros(16)
    weights[:4] = (1, 2, 3, 4)
    want = data.ravel() * np.array([2, 0.5, -1])[i % 3] + 0.125 + weights[i & 15]
    close(out.get().ravel(), want, 1e-6)

    ints = rng.integers(-50, 50, N).astype(I)
    sums = gpu.empty(2 * GRID, I)
    gpu.launch("dynamic_shared", GRID, BLOCK, gpu.array(ints), sums, np.int32(N), shared=4 * BLOCK)
    blocks = np.pad(ints, (0, GRID * BLOCK - N)).reshape(GRID, BLOCK).sum(1)
    np.testing.assert_array_equal(sums.get(), np.concatenate([0 * blocks, blocks]))
    assert gpu.symbol("visits", I).get()[0] == 5 + GRID

    v = rng.random((N, 4), F)
    out = gpu.empty(N, F)
    gpu.launch("generic", GRID, BLOCK, gpu.array(v), out, np.int32(N))
    i = np.arange(N)
    t = i % BLOCK
    near = np.array([0.5, 1.5, 2.5, 3.5])[np.arange(128) & 3] * np.arange(128)
    local = v[:, :1].astype(D) * np.arange(8) + v[:, 1:2]
    local[i, i & 7] += v[:, 2]
    first = np.where(i & 1, near[(t + 5) % 128], v[:, 3])
    second = np.where(i & 2, local[i, i >> 2 & 7], near[i >> 2 & 7])
    close(out.get(), first + second, 1e-6)


def calls(gpu: Gpu) -> None:
    rng = np.random.default_rng(4)
    rows = rng.standard_normal((N, 9)).astype(F)
    out = gpu.empty((N, 3), F)
    gpu.launch("ranges", GRID, BLOCK, gpu.array(rows), out, np.int32(9), np.int32(N))
    want = np.stack([rows.min(1), rows.max(1), np.full(N, 9)], 1)
    np.testing.assert_array_equal(out.get(), want)

    a, b = rng.random((2, N), F)
    out = gpu.empty(N, F)
    gpu.launch("blends", GRID, BLOCK, gpu.array(a), gpu.array(b), out, np.int32(N))

    def blend(a, b, mode):
        ways = (a + b, a * b, a - b, np.maximum(a, b), abs(a - b), 0.5 * (a + b))
        return np.choose(np.minimum(mode, 5), ways)

    i = np.arange(N)
    close(out.get(), blend(a, b, i % 7) + blend(b, a, i % 3), 1e-6)

    a, b = rng.integers(0, 100000, (2, N)).astype(U)
    out = gpu.empty(N, U)
    gpu.launch("gcds", GRID, BLOCK, gpu.array(a), gpu.array(b), out, np.int32(N))
    np.testing.assert_array_equal(out.get(), np.gcd(a, b))


def warp(gpu: Gpu) -> None:
    n = GRID * BLOCK
    v = np.random.default_rng(5).integers(0, 100, n).astype(I)
    out, sums = gpu.empty((n, 8), I), gpu.empty(n // 32, D)
    gpu.launch("exchange", GRID, BLOCK, gpu.array(v), out, sums)
    lanes = v.reshape(-1, 32)
    lane = np.arange(32)
    eights = lane & ~7 | (lane + 1) & 7
    threes = np.where((lane & 15) + 3 < 16, lane + 3, lane)
    odd = ((lanes & 1).astype(np.int64) << lane).sum(1).astype(U).view(I)
    same = (lanes[:, :, None] % 5 == lanes[:, None, :] % 5).astype(np.int64) << lane
    columns = (
        lanes.cumsum(1), lanes[:, eights], lanes[:, np.minimum(threes, 31)],
        np.repeat(odd[:, None], 32, 1),
        np.repeat(((lanes > 90).any(1) * 2 + (lanes < 100).all(1))[:, None], 32, 1),
        same.sum(2).astype(U).view(I), np.tile(lane, (n // 32, 1)),
        np.repeat((v.reshape(GRID, -1) & 1).sum(1), BLOCK).reshape(-1, 32),
    )  # fmt: skip
    for column, right in enumerate(columns):
        got = out.get()[:, column].reshape(-1, 32)
        np.testing.assert_array_equal(got, right, err_msg=f"column {column}")
    close(sums.get(), lanes.sum(1) * 0.5, 0)

    start = np.array([0, 0, 1000, -1000, -1, 0, 0, 0], I)
    ints, unsigneds = gpu.array(start), gpu.zeros(3, U)
    floats, doubles, longs = gpu.zeros(1, F), gpu.zeros(1, D), gpu.zeros(3, np.uint64)
    args = (gpu.array(v), ints, unsigneds, floats, doubles, longs, np.int32(n))
    gpu.launch("atomics", GRID, BLOCK, *args)
    total = int(v.sum())
    bits = np.bitwise_or.reduce(1 << (v & 15))
    want = [
        total, -total, v.min(), v.max(), ~bits,
        np.bitwise_or.reduce((1 << (v.astype(np.int64) & 31)).astype(U)).view(I),
        np.bitwise_xor.reduce(v), 123 if 77 in v else 0,
    ]  # fmt: skip
    np.testing.assert_array_equal(ints.get(), np.array(want, I))
    down = 0
    for _ in range(n):
        down = 6 if down == 0 or down > 6 else down - 1
    assert unsigneds.get().tolist() == [n % 10, down, v.max()]
    assert (floats.get()[0], doubles.get()[0]) == (total, total / 4)
    assert longs.get().tolist() == [total << 33, int(v.max()) << 40, 3 * n]


def control(gpu: Gpu) -> None:
    rng = np.random.default_rng(6)
    start = rng.integers(1, 2000, N).astype(U)
    steps, peaks = gpu.empty(N, U), gpu.empty(N, U)
    gpu.launch("collatz", 2, 64, gpu.array(start), steps, peaks, np.int32(N))
    want = []
    for value in start.tolist():
        v = peak = value
        count = 0
        while v > 1:
            v = 3 * v + 1 if v & 1 else v // 2
            peak = max(peak, v)
            count += 1
        want.append((count, peak))
    got = np.stack([steps.get(), peaks.get()], 1)
    np.testing.assert_array_equal(got, np.array(want, U))

    rows = rng.integers(-99, 99, (N, 12)).astype(I)
    data = gpu.array(rows)
    gpu.launch("sort_rows", GRID, BLOCK, data, np.int32(N))
    np.testing.assert_array_equal(data.get(), np.sort(rows, 1))

    code = np.array([0, 1, 2, 3, 4, 5, 0, 7, 2, 6], np.uint8)
    out = gpu.empty(N, I)
    gpu.launch("machine", GRID, BLOCK, gpu.array(code), np.int32(code.size), out, np.int32(N))
    np.testing.assert_array_equal(out.get(), [_machine(code.tolist(), i) for i in range(N)])


def _wrap(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def _machine(code: list[int], a: int) -> int:
    b, c, at, fuel = 1, 0, 0, 0
    while fuel < 200 and at < len(code):
        operation, at = code[at], at + 1
        match operation:
            case 0:
                a = _wrap(a + b)
            case 1:
                b = _wrap(b * 3 + 1)
            case 2:
                c ^= a
            case 3:
                at += a & 1
            case 4:
                a, b = b, a
            case 5:
                c = _wrap(c - (b >> 2))
            case 6:
                at = 0 if c > 0 and fuel < 150 else at
            case _:
                a = a % (1 << 32) % 1009
        fuel += 1
    return _wrap(a + 31 * b + 961 * c)


def templates(gpu: Gpu) -> None:
    rng = np.random.default_rng(7)
    for mangled, tile, kind in (
        ("_ZN6linear9transposeILi16EfEEvPKT0_PS1_ii", 16, F),
        ("_ZN6linear9transposeILi8EsEEvPKT0_PS1_ii", 8, np.int16),
    ):
        matrix = rng.integers(-999, 999, (29, 43)).astype(kind)
        out = gpu.empty((43, 29), kind)
        grid = (-(-43 // tile), -(-29 // tile))
        gpu.launch(mangled, grid, (tile, tile), gpu.array(matrix), out, np.int32(43), np.int32(29))
        np.testing.assert_array_equal(out.get(), matrix.T)
    x = rng.standard_normal(N)
    y = gpu.empty(N, D)
    gpu.launch("_Z10polynomialPKdPdi", 2, 64, gpu.array(x), y, np.int32(N))
    close(y.get(), 1 - 0.5 * x + 0.25 * x**2 + 2 * x**3, 1e-13)
    y = gpu.empty(N, F)
    gpu.launch("_Z10polynomialPKfPfi", 2, 64, gpu.array(x.astype(F)), y, np.int32(N))
    close(y.get(), x * x - 3, 1e-5)


def big(gpu: Gpu) -> None:
    words = np.random.default_rng(8).integers(0, 1 << 32, (N, 4), dtype=np.uint64).astype(U)
    out, sums = gpu.empty((N, 4), U), gpu.empty(N, F)
    gpu.launch("mix", GRID, BLOCK, gpu.array(words), out, sums, np.int32(N))
    a, b, c, d = words.T.copy()
    f = np.zeros(N, F)
    for k in range(256):
        a = (a << U(7) | a >> U(25)) ^ (b + U(0x9E3779B9 * (k + 1) & 0xFFFFFFFF))
        b = (b << U(11) | b >> U(21)) + (c ^ (a >> U(3)))
        c = (c ^ (d & a)) * U(2654435761) + U(k)
        d = d + (a ^ (b << U(5))) - (c >> U(7))
        f = f * F(0.984375) + (a & U(255)).astype(F) * F(0.00390625)
        f = f + ((d & U(31)) == (k & 31))
    np.testing.assert_array_equal(out.get(), np.stack([a, b, c, d], 1))
    close(sums.get(), f, 1e-5)


CHECKS: dict[str, Callable[[Gpu], None]] = {
    "mathlib": mathlib,
    "approx": approx,
    "spaces": spaces,
    "calls": calls,
    "warp": warp,
    "control": control,
    "templates": templates,
    "big": big,
}
