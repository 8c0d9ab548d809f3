"""cvt, mov and packing, against exact arithmetic."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tests.device.sim.exact import MODES, rounded, same
from tests.device.sim.kernels import DOUBLES, DTYPES, FLOATS, apply, integers, size, wrap

INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
WHOLE = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}


def limits(kind):
    bits = 8 * size(kind)
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if kind[0] == "s" else (0, (1 << bits) - 1)


@pytest.mark.parametrize("to", INTEGERS)
@pytest.mark.parametrize("of", INTEGERS)
def test_integer_to_integer(to, of):
    x = integers(of)
    got = apply(f"cvt.{to}.{of} %d, %a;", to, (of, x))
    assert got.tolist() == [wrap(v, to) for v in x]
    low, high = limits(to)
    got = apply(f"cvt.sat.{to}.{of} %d, %a;", to, (of, x))
    assert got.tolist() == [max(low, min(high, v)) for v in x]


def test_a_narrow_result_fills_its_register():
    got = apply(
        ".reg .b32 %w; cvt.s8.u32 %w, %a; mov.u32 %d, %w;", "u32", ("u32", [0x7F, 0x80, 0x1FF])
    )
    assert got.tolist() == [0x7F, 0xFFFFFF80, 0xFFFFFFFF]
    got = apply(".reg .b32 %w; cvt.u8.u32 %w, %a; mov.u32 %d, %w;", "u32", ("u32", [0x7F, 0x180]))
    assert got.tolist() == [0x7F, 0x80]


@pytest.mark.parametrize("of", ["f16", "f32", "f64"])
@pytest.mark.parametrize("to", ["u16", "s16", "u32", "s32", "u64", "s64"])
def test_float_to_integer(to, of):
    with np.errstate(all="ignore"):
        x = np.array(DOUBLES if of == "f64" else FLOATS).astype(DTYPES[of])
    low, high = limits(to)
    bits = 8 * size(to)
    nan = 0 if of != "f64" and bits < 64 else wrap(1 << bits - 1, to)
    for mode, oracle in WHOLE.items():
        got = apply(f"cvt.{mode}.{to}.{of} %d, %a;", to, (of, x))
        for g, v in zip(got.tolist(), x.tolist(), strict=True):
            if math.isnan(v):
                want = nan
            elif math.isinf(v):
                want = high if v > 0 else low
            else:
                want = max(low, min(high, oracle(v)))
            assert g == want, (mode, v)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("of", ["u32", "s32", "u64", "s64"])
def test_integer_to_float(mode, of):
    x = [v for v in integers(of) if v]
    for to in ("f32", "f64", "f16"):
        got = apply(f"cvt.{mode}.{to}.{of} %d, %a;", to, (of, x))
        same(got, np.array([rounded(Fraction(v), to, mode) for v in x], got.dtype))
    assert apply(f"cvt.rn.f32.{of} %d, %a;", "f32", (of, [0])).tolist() == [0]


@pytest.mark.parametrize("mode", MODES)
def test_float_to_narrower_float(mode):
    x = np.array([v for v in DOUBLES if math.isfinite(v) and v])
    same(
        apply(f"cvt.{mode}.f32.f64 %d, %a;", "f32", ("f64", x)),
        np.array([rounded(Fraction(v), "f32", mode) for v in x.tolist()], np.float32),
    )
    for of, dtype in (("f32", np.float32), ("f64", np.float64)):
        with np.errstate(all="ignore"):
            y = x.astype(dtype)
        y = y[np.isfinite(y) & (y != 0)]
        got = apply(f"cvt.{mode}.f16.{of} %d, %a;", "f16", (of, y))
        same(got, np.array([rounded(Fraction(v), "f16", mode) for v in y.tolist()], np.float16))


def test_float_to_wider_float():
    halves = np.arange(0, 65536, 7, dtype=np.uint16)
    with np.errstate(invalid="ignore"):
        wide = halves.view(np.float16).astype(np.float32)
    same(apply("cvt.f32.f16 %d, %a;", "f32", ("f16", halves.view(np.float16))), wide)
    got = apply("cvt.f64.f16 %d, %a;", "f64", ("f16", halves.view(np.float16)))
    with np.errstate(invalid="ignore"):  # signalling NaNs
        same(got, wide.astype(np.float64))
    x = np.array(FLOATS).astype(np.float32)
    same(apply("cvt.f64.f32 %d, %a;", "f64", ("f32", x)), x.astype(np.float64))
    same(
        apply("cvt.f32.bf16 %d, %a;", "f32", ("b16", halves)),
        (halves.astype("u4") << 16).view("f4"),
    )


def test_brain_floats_round_to_even():
    x = np.array(
        [1.0, 1.00390625, 1.01171875, 1.005, -3.14159, 3.4e38, 1e-40, np.inf, np.nan], np.float32
    )
    got = apply("cvt.rn.bf16.f32 %d, %a;", "b16", ("f32", x))
    want = [v if not math.isfinite(v) else rounded(Fraction(v), "bf16", "rn") for v in x.tolist()]
    same((got.astype(np.uint32) << 16).view(np.float32), np.array(want, np.float32))


@pytest.mark.parametrize("kind", ["f32", "f64", "f16"])
def test_round_to_whole_floats(kind):
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 2.0, 1e6, np.inf, np.nan, -0.0], DTYPES[kind]) if kind != "f16" else \
        np.array([0.5, 1.5, 2.5, -0.5, -1.5, 2.0, 1000.5, np.inf, np.nan, -0.0], np.float16)  # fmt: skip
    for mode, oracle in (("rni", np.rint), ("rzi", np.trunc), ("rmi", np.floor), ("rpi", np.ceil)):
        same(apply(f"cvt.{mode}.{kind}.{kind} %d, %a;", kind, (kind, x)), oracle(x))


def test_pack_and_unpack():
    x = np.array(integers("u64"), np.uint64)
    code = ".reg .b32 %l, %h; mov.b64 {%l, %h}, %a; mov.b64 %d, {%h, %l};"
    got = apply(code, "u64", ("u64", x))
    np.testing.assert_array_equal(got, x >> np.uint64(32) | x << np.uint64(32))
    code = ".reg .b16 %w<4>; mov.b64 {%w0, %w1, %w2, %w3}, %a; mov.b64 %d, {%w3, %w2, %w1, %w0};"
    got = apply(code, "u64", ("u64", x))
    np.testing.assert_array_equal(
        got.view("u2").reshape(-1, 4), x.view("u2").reshape(-1, 4)[:, ::-1]
    )
    got = apply(
        "cvt.pack.sat.u8.s32.b32 %d, %a, %b, 0x1234;",
        "u32",
        ("s32", [-5, 300, 7]),
        ("s32", [1, -1, 999]),
    )
    assert got.tolist() == [0x12340001, 0x1234FF00, 0x123407FF]


def test_literals():
    for text, want in (("0x1F", 31), ("017", 15), ("0b101", 5), ("-1", 2**32 - 1), ("42U", 42)):
        assert apply(f"mov.u32 %d, {text};", "u32", ("u32", [0])).tolist() == [want]
    assert apply("mov.f32 %d, 0f3FC00000;", "f32", ("u32", [0])).tolist() == [1.5]
    assert apply("mov.f32 %d, 1.25;", "f32", ("u32", [0])).tolist() == [1.25]
    assert apply("mov.f64 %d, 0d4000000000000000;", "f64", ("u32", [0])).tolist() == [2.0]
    assert apply("mov.u32 %d, WARP_SZ;", "u32", ("u32", [0])).tolist() == [32]
