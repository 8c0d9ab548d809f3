"""Float instructions against NumPy, and against exact rationals where rounding is directed."""

from fractions import Fraction

import numpy as np
import pytest

from tests.device.sim.exact import MODES, bf16_to_float, rounded, same, square_root
from tests.device.sim.kernels import DOUBLES, FLOATS, apply, pairs

TYPES = {"f32": (np.float32, FLOATS), "f64": (np.float64, DOUBLES)}


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def values(kind):
    dtype, edges = TYPES[kind]
    rng = np.random.default_rng(3)
    return np.concatenate([np.array(edges).astype(dtype), rng.normal(0, 10, 20).astype(dtype)])


@pytest.mark.parametrize("kind", TYPES)
def test_nearest_is_the_hosts_own(kind):
    a, b = pairs(values(kind), kind)
    for name, oracle in (
        ("add.rn", np.add),
        ("sub", np.subtract),
        ("mul.rn", np.multiply),
        ("div.rn", np.divide),
    ):
        same(apply(f"{name}.{kind} %d, %a, %b;", kind, (kind, a), (kind, b)), oracle(a, b))
    x = values(kind)
    same(apply(f"sqrt.rn.{kind} %d, %a;", kind, (kind, x)), np.sqrt(x))
    same(apply(f"rcp.rn.{kind} %d, %a;", kind, (kind, x)), 1 / x)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("mode", MODES)
def test_directed_rounding(kind, mode):
    dtype, _ = TYPES[kind]
    x = values(kind)
    x = x[np.isfinite(x) & (x != 0)][::2]
    a, b = pairs(x, kind)
    c = np.roll(a, 7)
    exact = [
        (Fraction(float(p)), Fraction(float(q)), Fraction(float(r)))
        for p, q, r in zip(a, b, c, strict=True)
    ]
    for name, oracle in (
        ("add", lambda p, q, _: p + q),
        ("sub", lambda p, q, _: p - q),
        ("mul", lambda p, q, _: p * q),
        ("div", lambda p, q, _: p / q),
        ("fma", lambda p, q, r: p * q + r),
    ):
        third = ", %c" if name == "fma" else ""
        got = apply(
            f"{name}.{mode}.{kind} %d, %a, %b{third};", kind, (kind, a), (kind, b), (kind, c)
        )
        results = [oracle(*row) for row in exact]
        keep = np.array([r != 0 for r in results])
        want = np.array([rounded(r, kind, mode) if r else 0.0 for r in results], dtype)
        same(got[keep], want[keep])
        assert np.all(got[~keep] == 0)
    positive = x[x > 0]
    roots = [square_root(Fraction(float(v)), kind, mode) for v in positive]
    same(apply(f"sqrt.{mode}.{kind} %d, %a;", kind, (kind, positive)), np.array(roots, dtype))
    inverse = [rounded(1 / Fraction(float(v)), kind, mode) for v in x]
    same(apply(f"rcp.{mode}.{kind} %d, %a;", kind, (kind, x)), np.array(inverse, dtype))


def test_flush_to_zero():
    tiny, normal = np.float32(1e-40), np.float32(2e-38)
    a = np.array([tiny, -tiny, normal, normal, 1], np.float32)
    b = np.array([0, 0, -1.9e-38, 1, tiny], np.float32)
    same(
        apply("add.ftz.f32 %d, %a, %b;", "f32", ("f32", a), ("f32", b)),
        np.array([0, 0, 0, 1, 1], "f4"),
    )
    same(apply("mul.ftz.f32 %d, %a, %b;", "f32", ("f32", a), ("f32", [1, 1, 0.1, 1, 1])),
         np.array([0, -0.0, 0, 2e-38, 1], "f4"))  # fmt: skip
    got = apply("setp.eq.ftz.f32 %p, %a, 0f00000000; selp.u32 %d, 1, 0, %p;", "u32", ("f32", a))
    assert got.tolist() == [1, 1, 0, 0, 0]


def test_saturation():
    a = np.array([-1, -0.0, 0.25, 1, 1.5, np.inf, -np.inf, np.nan], np.float32)
    got = apply("add.sat.f32 %d, %a, 0f80000000;", "f32", ("f32", a))
    same(got, np.array([0, 0, 0.25, 1, 1, 1, 0, 0], "f4"))
    got = apply("cvt.sat.f32.f32 %d, %a;", "f32", ("f32", a))
    same(got, np.array([0, 0, 0.25, 1, 1, 1, 0, 0], "f4"))


@pytest.mark.parametrize("kind", TYPES)
def test_min_max(kind):
    a, b = pairs([0.0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan], kind)
    low = np.where(np.isnan(a), b, np.where(np.isnan(b), a, np.minimum(a, b)))
    low = np.where((a == 0) & (b == 0) & (np.signbit(a) | np.signbit(b)), -0.0, low)
    same(apply(f"min.{kind} %d, %a, %b;", kind, (kind, a), (kind, b)), low)
    high = np.where(np.isnan(a), b, np.where(np.isnan(b), a, np.maximum(a, b)))
    high = np.where((a == 0) & (b == 0) & ~(np.signbit(a) & np.signbit(b)), 0.0, high)
    same(apply(f"max.{kind} %d, %a, %b;", kind, (kind, a), (kind, b)), high)
    if kind == "f32":
        nan = np.isnan(a) | np.isnan(b)
        same(
            apply("min.NaN.f32 %d, %a, %b;", kind, (kind, a), (kind, b)), np.where(nan, np.nan, low)
        )
        got = apply("max.NaN.f32 %d, %a, %b;", kind, (kind, a), (kind, b))
        same(got, np.where(nan, np.nan, high))
        assert set(got[nan].view(np.uint32)) == {0x7FFFFFFF}


@pytest.mark.parametrize("kind", TYPES)
def test_sign_bits(kind):
    x = values(kind)
    bits = np.dtype(f"u{x.itemsize}")
    for name, oracle in (("neg", np.negative), ("abs", np.abs)):
        got = apply(f"{name}.{kind} %d, %a;", kind, (kind, x))
        np.testing.assert_array_equal(got.view(bits), oracle(x).view(bits))
    a, b = pairs(x, kind)
    got = apply(f"copysign.{kind} %d, %a, %b;", kind, (kind, a), (kind, b))
    np.testing.assert_array_equal(got.view(bits), np.copysign(b, a).view(bits))


def test_special_functions():
    x = np.array([0.0, -0.0, 1, 2, 0.5, 10, 1e-3, 30, np.inf, np.nan, -1], np.float32)
    w = x.astype(np.float64)
    table = {
        "rsqrt.approx": 1 / np.sqrt(w), "sqrt.approx": np.sqrt(w), "rcp.approx": 1 / w,
        "ex2.approx": np.exp2(w),
    }  # fmt: skip
    for name, want in table.items():
        same(apply(f"{name}.f32 %d, %a;", "f32", ("f32", x)), want.astype(np.float32))
    same(apply("div.approx.f32 %d, %a, %b;", "f32", ("f32", x), ("f32", x[::-1])), x / x[::-1])
    same(apply("div.full.f32 %d, %a, %b;", "f32", ("f32", x), ("f32", x[::-1])), x / x[::-1])
    same(apply("rsqrt.approx.f64 %d, %a;", "f64", ("f64", w)), 1 / np.sqrt(w))


DOCUMENTED = {
    "sin": (np.sin, 2**-21.41, np.linspace(-3, 3, 999)),
    "cos": (np.cos, 2**-21.41, np.linspace(-3, 3, 999)),
    "lg2": (np.log2, 2**-22, np.linspace(0.501, 1.999, 999)),
}
"""Functions with the largest absolute error that NVIDIA documents, and where."""


@pytest.mark.parametrize("name", DOCUMENTED)
def test_functions_are_off_as_far_as_those_of_a_gpu_may_be(name):
    oracle, bound, numbers = DOCUMENTED[name]
    x = numbers.astype(np.float32)
    got = apply(f"{name}.approx.f32 %d, %a;", "f32", ("f32", x))
    off = np.abs(got - oracle(x.astype(np.float64)))
    assert bound / 2 < off.max() <= bound
    exact = np.array([0.0, -0.0, np.inf, np.nan, 1e-9], np.float32)
    if name != "lg2":
        exact[2] = np.nan
    with np.errstate(divide="ignore"):
        same(
            apply(f"{name}.approx.f32 %d, %a;", "f32", ("f32", exact)),
            oracle(exact.astype(np.float64)).astype(np.float32),
        )


def test_tanh_has_eleven_places():
    x = np.linspace(-4, 4, 999).astype(np.float32)
    got = apply("tanh.approx.f32 %d, %a;", "f32", ("f32", x))
    want = np.tanh(x.astype(np.float64))
    off = np.abs(got - want)[want != 0] / np.abs(want)[want != 0]
    assert 2**-13 < off.max() <= 2**-11
    same(
        apply("tanh.approx.f32 %d, %a;", "f32", ("f32", np.float32([0, -0.0, np.inf, np.nan]))),
        np.float32([0, -0.0, 1, np.nan]),
    )


def halves(count):
    rng = np.random.default_rng(11)
    edges = [
        0,
        0x8000,
        1,
        0x8001,
        0x3FF,
        0x400,
        0x3C00,
        0xBC00,
        0x7BFF,
        0xFBFF,
        0x7C00,
        0xFC00,
        0x3555,
    ]
    return np.concatenate([np.array(edges), rng.integers(0, 0x7C00, count - len(edges))]).astype(
        np.uint16
    )


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_half_arithmetic_rounds_once(kind):
    rng = np.random.default_rng(1)
    bits = halves(300)
    a, b, c = (rng.permutation(bits) for _ in range(3))
    c[:100] |= 0x8000
    decode = bf16_to_float if kind == "bf16" else lambda v: v.view(np.float16)
    x, y, z = (decode(v).astype(np.float64) for v in (a, b, c))
    for name, oracle in (
        ("add", lambda p, q, _: p + q),
        ("sub", lambda p, q, _: p - q),
        ("mul", lambda p, q, _: p * q),
        ("fma", lambda p, q, r: p * q + r),
    ):
        third = ", %c" if name == "fma" else ""
        got = apply(
            f"{name}.rn.{kind} %d, %a, %b{third};", "b16", ("b16", a), ("b16", b), ("b16", c)
        )
        for g, p, q, r in zip(decode(got), x, y, z, strict=True):
            r = r if name == "fma" else 0.0  # noqa: PLW2901
            if not np.isfinite([p, q, r]).all():
                want = oracle(p, q, r)
            else:
                exact = oracle(Fraction(p), Fraction(q), Fraction(r))
                want = rounded(exact, kind, "rn") if exact else 0.0
            assert g == want or (np.isnan(g) and np.isnan(want)), (name, p, q, r)


def test_packed_halves():
    rng = np.random.default_rng(4)
    a, b = (rng.normal(0, 4, 64).astype(np.float16) for _ in range(2))
    packed = [("b32", v.view(np.uint32)) for v in (a, b)]
    for name, oracle in (
        ("add", np.add),
        ("mul", np.multiply),
        ("min", np.minimum),
        ("max", np.maximum),
    ):
        same(apply(f"{name}.f16x2 %d, %a, %b;", "b32", *packed).view(np.float16), oracle(a, b))
    got = apply("neg.f16x2 %d, %a;", "b32", packed[0]).view(np.float16)
    same(got, -a)
    code = "setp.lt.f16x2 %p|%q, %a, %b; selp.u32 %d, 1, 0, %p; @%q add.u32 %d, %d, 2;"
    got = apply(code, "u32", *packed)
    np.testing.assert_array_equal(got, (a < b)[::2] + 2 * (a < b)[1::2])
    f = rng.normal(0, 4, 32).astype(np.float32)
    got = apply("cvt.rn.f16x2.f32 %d, %a, %b;", "b32", ("f32", f), ("f32", -f)).view(np.float16)
    same(got.reshape(-1, 2), np.stack([-f, f], 1).astype(np.float16))


COMPARE = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: (a != b) & ~np.isnan(a) & ~np.isnan(b),
    "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip


@pytest.mark.parametrize("kind", TYPES)
def test_comparisons(kind):
    a, b = pairs([0.0, -0.0, 1.0, -2.0, np.inf, np.nan], kind)
    nan = np.isnan(a) | np.isnan(b)
    for name, oracle in COMPARE.items():
        code = "selp.u32 %d, 1, 0, %p;"
        got = apply(f"setp.{name}.{kind} %p, %a, %b; {code}", "u32", (kind, a), (kind, b))
        np.testing.assert_array_equal(got, oracle(a, b))
        got = apply(f"setp.{name}u.{kind} %p, %a, %b; {code}", "u32", (kind, a), (kind, b))
        np.testing.assert_array_equal(got, oracle(a, b) | nan)
    got = apply(
        f"setp.nan.{kind} %p|%q, %a, %b; selp.u32 %d, 1, 0, %p; @%q add.u32 %d, %d, 2;",
        "u32",
        (kind, a),
        (kind, b),
    )
    np.testing.assert_array_equal(got, np.where(nan, 1, 2))
    got = apply(f"set.gt.u32.{kind} %d, %a, %b;", "u32", (kind, a), (kind, b))
    np.testing.assert_array_equal(got, np.where(a > b, 0xFFFFFFFF, 0))
    got = apply(f"set.lt.f32.{kind} %d, %a, %b;", "f32", (kind, a), (kind, b))
    np.testing.assert_array_equal(got, np.where(a < b, 1.0, 0.0))


def test_integer_comparisons_and_combination():
    a, b = pairs([0, 1, 2**31, 2**32 - 1], "u32")
    signed = [v.view(np.int32) for v in (a, b)]
    tail = "selp.u32 %d, 1, 0, %p; @%q add.u32 %d, %d, 2;"
    for name, oracle in {**COMPARE, "ne": np.not_equal}.items():
        got = apply(f"setp.{name}.u32 %p|%q, %a, %b; {tail}", "u32", ("u32", a), ("u32", b))
        np.testing.assert_array_equal(got, np.where(oracle(a, b), 1, 2))
        got = apply(f"setp.{name}.s32 %p|%q, %a, %b; {tail}", "u32", ("u32", a), ("u32", b))
        np.testing.assert_array_equal(got, np.where(oracle(*signed), 1, 2))
    for joint, oracle in (("and", np.logical_and), ("or", np.logical_or), ("xor", np.logical_xor)):
        code = f"setp.eq.u32 %dp, %a, 1; setp.hi.{joint}.u32 %p|%q, %a, %b, !%dp; {tail}"
        got = apply(code, "u32", ("u32", a), ("u32", b))
        np.testing.assert_array_equal(got, oracle(a > b, a != 1) + 2 * oracle(a <= b, a != 1))


def test_select():
    x = np.array([-1, -0.0, 0, 2, np.nan], np.float32)
    got = apply("slct.u32.f32 %d, 10, 20, %a;", "u32", ("f32", x))
    assert got.tolist() == [20, 10, 10, 10, 20]
    got = apply("slct.u32.s32 %d, 10, 20, %a;", "u32", ("s32", [-1, 0, 5]))
    assert got.tolist() == [20, 10, 10]


def test_classes():
    x = np.array([0, -0.0, 1, 1e-40, np.inf, -np.inf, np.nan], np.float32)
    table = {
        "finite": [1, 1, 1, 1, 0, 0, 0], "infinite": [0, 0, 0, 0, 1, 1, 0],
        "number": [1, 1, 1, 1, 1, 1, 0], "notanumber": [0, 0, 0, 0, 0, 0, 1],
        "normal": [1, 1, 1, 0, 0, 0, 0], "subnormal": [0, 0, 0, 1, 0, 0, 0],
    }  # fmt: skip
    for name, want in table.items():
        got = apply(f"testp.{name}.f32 %p, %a; selp.u32 %d, 1, 0, %p;", "u32", ("f32", x))
        assert got.tolist() == want, name
