"""The device header, run: what its functions compute on `sim`, compared with NumPy."""

import math
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from gevolve.device.base import Limits
from gevolve.device.registry import open_device
from gevolve.ir.llvm.source import kernels, read

FEATURES = Path(__file__).parents[1] / "ir" / "llvm" / "features"
N = 256
F, D, I, U = np.float32, np.float64, np.int32, np.uint32  # noqa: E741  (a type, beside F)


TYPES = {
    "float16": "half", "float32": "float", "float64": "double", "int32": "int", "int64": "long long",
    "uint32": "unsigned", "uint64": "unsigned long long",
}  # fmt: skip


@contextmanager
def opened(path):
    device = open_device("sim")
    gpu = device.open(device.build(read(path)), Limits())
    try:
        yield gpu
    finally:
        gpu.close()


@pytest.fixture
def run(tmp_path):
    """What expressions of a, b and c are in each of N threads: one row per expression."""

    def run(expressions, kind, *inputs):
        operands = [(TYPES[data.dtype.name], "abc"[k]) for k, data in enumerate(inputs)]
        parameters = "".join(f"const {name} *{letter}_, " for name, letter in operands)
        loads = "".join(f"{name} {letter} = {letter}_[i];\n" for name, letter in operands)
        stores = "".join(f"out[{k * N} + i] = {text};\n" for k, text in enumerate(expressions))
        path = tmp_path / "k.cu"
        path.write_text(
            "#include <cuda_fp16.h>\n"
            f'extern "C" __global__ void k({parameters}{TYPES[np.dtype(kind).name]} *out) {{\n'
            f"int i = threadIdx.x;\n{loads}{stores}}}\n"
        )
        with opened(path) as gpu:
            out = gpu.zeros((len(expressions), N), kind)
            gpu.launch("k", 1, N, *(gpu.array(data) for data in inputs), out)
            return out.get()

    return run


def same(got, cases):
    for row, (expression, want) in zip(got, cases.items(), strict=True):
        wrapped = np.asarray(want).astype(got.dtype)
        np.testing.assert_array_equal(row, wrapped, err_msg=expression)


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def test_bits(run, rng):
    a, b, c = rng.integers(0, 1 << 32, (3, N), dtype=np.uint64).astype(U)
    a[:3] = (0, 1, 0xFFFFFFFF)
    c[:4] = (0, 32, 33, 40)
    wide = a.astype(np.uint64) << np.uint64(32) | b
    shift = (c & U(31)).astype(np.uint64)
    text = [f"{v:032b}" for v in a.tolist()]
    cases = {
        "__popc(a)": [t.count("1") for t in text],
        "__clz(a)": [(t + "1").index("1") for t in text],
        "__ffs(a)": [(t[::-1].find("1") + 1) for t in text],
        "__brev(a)": [int(t[::-1], 2) for t in text],
        "__funnelshift_l(b, a, c)": (wide << shift >> np.uint64(32)) & np.uint64(0xFFFFFFFF),
        "__funnelshift_r(b, a, c)": (wide >> shift) & np.uint64(0xFFFFFFFF),
        "__funnelshift_lc(b, a, c)": np.where(
            c >= 32, b, (wide << shift >> np.uint64(32)) & np.uint64(0xFFFFFFFF)
        ),
        "__funnelshift_rc(b, a, c)": np.where(c >= 32, a, (wide >> shift) & np.uint64(0xFFFFFFFF)),
        "__umulhi(a, b)": a.astype(np.uint64) * b >> np.uint64(32),
        "__umul24(a, b)": (a & U(0xFFFFFF)) * (b & U(0xFFFFFF)),
        "__usad(a, b, c)": np.maximum(a, b) - np.minimum(a, b) + c,
        "__uhadd(a, b)": (a.astype(np.uint64) + b) >> np.uint64(1),
        "__urhadd(a, b)": (a.astype(np.uint64) + b + np.uint64(1)) >> np.uint64(1),
        "__dp4a(a, b, c)": sum((a >> U(k) & U(255)) * (b >> U(k) & U(255)) for k in (0, 8, 16, 24)) + c,
        "min(a, b) ^ max(a, c)": np.minimum(a, b) ^ np.maximum(a, c),
        "__byte_perm(a, b, 0x6240)": (a & U(255)) | (b & U(255)) << U(8)
        | (a >> U(16) & U(255)) << U(16) | (b >> U(16) & U(255)) << U(24),
    }  # fmt: skip
    same(run(cases, U, a, b, c), cases)


def test_signed_integers(run, rng):
    a, b, c = rng.integers(-(1 << 31), 1 << 31, (3, N)).astype(I)
    wide_a, wide_b = a.astype(np.int64), b.astype(np.int64)
    parts = [x.view(np.int8).reshape(-1, 4).astype(np.int64) for x in (a, b)]
    low = [(x.astype(np.int64) & 0xFFFFFF ^ 0x800000) - 0x800000 for x in (a, b)]
    cases = {
        "__mulhi(a, b)": wide_a * wide_b >> 32,
        "__mul24(a, b)": low[0] * low[1],
        "__hadd(a, b)": (wide_a + wide_b) >> 1,
        "__rhadd(a, b)": (wide_a + wide_b + 1) >> 1,
        "__dp4a(a, b, c)": (parts[0] * parts[1]).sum(1) + c,
        "__sad(a, b, 5u)": abs(wide_a - wide_b) + 5,
        "abs(a) + min(b, c)": abs(wide_a) + np.minimum(b, c),
    }
    same(run(cases, I, a, b, c), cases)


def test_wide_integers(run, rng):
    a, b = rng.integers(-(1 << 63), (1 << 63) - 1, (2, N))
    lanes = a.reshape(-1, 32)[:, np.arange(32) ^ 5] ^ b.reshape(-1, 32)[:, 3:4]
    cases = {
        "__mul64hi(a, b)": [x * y >> 64 for x, y in zip(a.tolist(), b.tolist(), strict=True)],
        "__popcll(a)": [(v & 2**64 - 1).bit_count() for v in a.tolist()],
        "__shfl_xor_sync(~0u, a, 5) ^ __shfl_sync(~0u, b, 3)": lanes.ravel(),
    }
    same(run(cases, np.int64, a, b), cases)


def test_conversions(run, rng):
    x = np.concatenate([rng.uniform(-1e4, 1e4, N - 6), [0.5, 1.5, -0.5, -2.5, 3e9, -3e9]]).astype(F)
    ways = {"rn": np.rint, "rz": np.trunc, "ru": np.ceil, "rd": np.floor}
    cases = {
        f"__float2int_{mode}(a)": np.clip(way(x.astype(D)), -(2**31), 2**31 - 1)
        for mode, way in ways.items()
    }
    cases["__float_as_int(a)"] = x.view(I)
    same(run(cases, I, x), cases)

    y = rng.uniform(-1e4, 1e4, N)
    down, up = run(["__double2float_rd(a)", "__double2float_ru(a)"], F, y)
    assert np.all((down <= y) & (y <= up) & (np.nextafter(down, F(np.inf)) >= up))
    cases = {"__hiloint2double(__double2hiint(a), __double2loint(a))": y}
    same(run(cases, D, y), cases)


def test_arithmetic_with_a_rounding_mode_brackets_the_exact_result(run, rng):
    a, b = rng.uniform(-10, 10, (2, N)).astype(F)
    exacts = {"add": a.astype(D) + b, "mul": a.astype(D) * b, "div": a.astype(D) / b}
    modes = ("rd", "ru", "rn", "rz")
    rows = run([f"__f{name}_{mode}(a, b)" for name in exacts for mode in modes], F, a, b)
    for exact, (down, up, nearest, to_zero) in zip(
        exacts.values(), rows.reshape(3, 4, N), strict=True
    ):
        assert np.all((down <= exact) & (exact <= up))
        np.testing.assert_array_equal(nearest, exact.astype(F))
        np.testing.assert_array_equal(to_zero, np.where(exact > 0, down, up))


def test_reductions_of_a_warp(run, rng):
    a = rng.integers(0, 1 << 31, N).astype(U)
    ways = {"add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and,
            "or": np.bitwise_or, "xor": np.bitwise_xor}  # fmt: skip
    cases = {
        f"__reduce_{name}_sync(~0u, a)": np.repeat(way.reduce(a.reshape(-1, 32), 1, dtype=U), 32)
        for name, way in ways.items()
    }
    same(run(cases, U, a), cases)


def test_shuffles_without_sync_and_find_nth_set(run, rng):
    a = rng.integers(0, 100, N).astype(U)
    lanes = a.reshape(-1, 32)
    bits = [[k for k in range(32) if v >> k & 1] for v in a.tolist()]
    cases = {
        "__shfl(a, 7)": np.repeat(lanes[:, 7], 32),
        "__any(a > 95)": np.repeat((lanes > 95).any(1), 32),
        "__fns(a, 0, 2)": [b[1] if len(b) > 1 else 2**32 - 1 for b in bits],
    }
    same(run(cases, U, a), cases)


def test_half_precision(run, rng):
    half = np.float16
    a, b = rng.uniform(-4, 4, (2, N)).astype(half)
    cases = {
        "a + b": a + b,
        "a * b - __float2half(0.5f)": a.astype(D) * b - 0.5,
        "__hfma(a, b, a)": a.astype(D) * b + a,
        "a < b ? __hmax(a, b) : __hmin(a, b)": np.where(a < b, np.maximum(a, b), np.minimum(a, b)),
        "hexp(a)": np.exp(a.astype(D)),
        "__shfl_xor_sync(~0u, a, 1)": a.reshape(-1, 2)[:, ::-1].ravel(),
        "__low2half(__hadd2(__halves2half2(a, b), __half2half2(b)))": a + b,
    }
    for got, (expression, want) in zip(run(cases, half, a, b), cases.items(), strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-3, atol=2e-3, err_msg=expression)


MATH = {
    "exp(a)": np.exp, "exp2(a)": np.exp2, "expm1(a)": np.expm1, "log(fabs(a))": lambda x: np.log(abs(x)),
    "log1p(fabs(a))": lambda x: np.log1p(abs(x)), "sin(a)": np.sin, "cos(a)": np.cos, "tan(a)": np.tan,
    "atan(a)": np.arctan, "sinh(a)": np.sinh, "tanh(a)": np.tanh, "asinh(a)": np.arcsinh,
    "cbrt(a)": np.cbrt, "rsqrt(fabs(a))": lambda x: 1 / np.sqrt(abs(x)), "erfc(a)": None,
}  # fmt: skip


@pytest.mark.parametrize(("kind", "tolerance"), [(F, 1e-6), (D, 2e-15)], ids=["float", "double"])
def test_math(run, rng, kind, tolerance):
    x = rng.uniform(-20, 20, N).astype(kind)
    for got, (expression, exact) in zip(run(MATH, kind, x), MATH.items(), strict=True):
        if exact is None:
            want = [math.erfc(v) for v in x.tolist()]
            np.testing.assert_allclose(got, np.array(want, kind), rtol=2 * tolerance)
        else:
            want = exact(x.astype(D))
            np.testing.assert_allclose(got, want, rtol=tolerance, err_msg=expression)


@pytest.mark.parametrize(("kind", "tolerance"), [(F, 1e-6), (D, 2e-15)], ids=["float", "double"])
def test_large_angles_and_powers(run, rng, kind, tolerance):
    x = np.exp2(rng.uniform(20, 120, N)).astype(kind)
    base, power = rng.uniform(0, 9, N).astype(kind), rng.uniform(-30, 30, N).astype(kind)
    sine, raised = run(["sin(a)", "pow(b, c)"], kind, x, base, power)
    np.testing.assert_allclose(sine, np.sin(x.astype(D)), rtol=tolerance)
    np.testing.assert_allclose(raised, base.astype(D) ** power, rtol=tolerance)


def test_cooperative_groups(rng):
    path = FEATURES / "groups.cu"
    x = rng.random(N, F)
    with opened(path) as gpu:
        buffers = gpu.empty((N, 4), F), gpu.zeros(2, I)
        gpu.launch(kernels(read(path))[0], 2, N // 2, gpu.array(x), *buffers)
        out, counts = (buffer.get() for buffer in buffers)
    i = np.arange(N) % (N // 2)
    sums = x.reshape(-1, 32).sum(1)
    most = x.reshape(-1, 8).max(1)
    left = np.where(i % 8 == 0, -1, np.roll(x, 1))
    rank = i // 32 + 100 * (i // 8) + 10000 * (N // 2)
    want = np.stack([np.repeat(sums, 32), np.repeat(most, 8), left, rank], 1)
    np.testing.assert_allclose(out, want, rtol=1e-5)
    assert counts.tolist() == [np.count_nonzero(x > F(0.5)), 0]


def test_atomics_with_an_order_and_a_scope():
    with opened(FEATURES / "atomics.cu") as gpu:
        p, total, out = gpu.array(np.array([5, 0, 0, 0, 1], U)), gpu.zeros(1), gpu.zeros((N, 3), U)
        gpu.launch("ordered", 1, N, p, total, out)
        assert p.get().tolist() == [5, N, 7, N - 1, 5]
        assert total.get().tolist() == [1.5 * N]
        first, ticket, mine = out.get().T
        assert first.tolist() == [5] * N
        assert sorted(ticket) == list(range(N))
        assert mine.sum() == 1
