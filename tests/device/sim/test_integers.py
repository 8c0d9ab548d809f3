"""Integer and bit instructions against exact Python arithmetic."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.device.sim.kernels import apply, integers, pairs, size, wrap

KINDS = ("u16", "s16", "u32", "s32", "u64", "s64")


def check2(code, kind, oracle, result=None, left=None):
    a, b = pairs(integers(kind), kind) if left is None else left
    result = result or kind
    got = apply(code, result, (kind, a), (kind, b))
    want = [wrap(oracle(int(x), int(y)), result) for x, y in zip(a, b, strict=True)]
    np.testing.assert_array_equal(got, np.array(want, got.dtype))


@pytest.mark.parametrize("kind", KINDS)
def test_add_sub_mul_min_max(kind):
    check2(f"add.{kind} %d, %a, %b;", kind, lambda x, y: x + y)
    check2(f"sub.{kind} %d, %a, %b;", kind, lambda x, y: x - y)
    check2(f"mul.lo.{kind} %d, %a, %b;", kind, lambda x, y: x * y)
    check2(f"mul.hi.{kind} %d, %a, %b;", kind, lambda x, y: x * y >> 8 * size(kind))
    check2(f"min.{kind} %d, %a, %b;", kind, min)
    check2(f"max.{kind} %d, %a, %b;", kind, max)


@pytest.mark.parametrize("kind", ["u16", "s16", "u32", "s32"])
def test_wide(kind):
    wide = f"{kind[0]}{16 * size(kind)}"
    check2(f"mul.wide.{kind} %d, %a, %b;", kind, lambda x, y: x * y, wide)
    check2(f"mad.wide.{kind} %d, %a, %b, 1000;", kind, lambda x, y: x * y + 1000, wide)


@pytest.mark.parametrize("kind", KINDS)
def test_division_truncates_and_never_faults(kind):
    def quotient(x, y):
        if y == 0:
            return -1
        return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)

    check2(f"div.{kind} %d, %a, %b;", kind, quotient)
    check2(f"rem.{kind} %d, %a, %b;", kind, lambda x, y: x - y * quotient(x, y) if y else x)


@pytest.mark.parametrize("kind", ["s16", "s32", "s64"])
def test_neg_abs(kind):
    a = integers(kind)
    for name, oracle in (("neg", lambda x: -x), ("abs", abs)):
        got = apply(f"{name}.{kind} %d, %a;", kind, (kind, a))
        assert got.tolist() == [wrap(oracle(x), kind) for x in a]


def clamp(value, low, high):
    return max(low, min(high, value))


def test_saturating():
    low, high = -(2**31), 2**31 - 1
    check2("add.sat.s32 %d, %a, %b;", "s32", lambda x, y: clamp(x + y, low, high))
    check2("sub.sat.s32 %d, %a, %b;", "s32", lambda x, y: clamp(x - y, low, high))
    check2(
        "mad.hi.sat.s32 %d, %a, %b, 2147483647;",
        "s32",
        lambda x, y: clamp((x * y >> 32) + 2147483647, low, high),
    )


def test_mad_and_sad():
    check2("mad.lo.u32 %d, %a, %b, %a;", "u32", lambda x, y: x * y + x)
    check2("mad.hi.s32 %d, %a, %b, %b;", "s32", lambda x, y: (x * y >> 32) + y)
    check2("mad.lo.s64 %d, %a, %b, -5;", "s64", lambda x, y: x * y - 5)
    check2("sad.u32 %d, %a, %b, 7;", "u32", lambda x, y: abs(x - y) + 7)
    check2("sad.s16 %d, %a, %b, 7;", "s16", lambda x, y: abs(x - y) + 7)


def test_24_bit():
    def low24(x, sign):
        x &= 0xFFFFFF
        return x - (1 << 24) if sign and x >> 23 else x

    for kind in ("u32", "s32"):
        sign = kind[0] == "s"
        check2(f"mul24.lo.{kind} %d, %a, %b;", kind, lambda x, y, s=sign: low24(x, s) * low24(y, s))
        check2(
            f"mul24.hi.{kind} %d, %a, %b;",
            kind,
            lambda x, y, s=sign: low24(x, s) * low24(y, s) >> 16,
        )
        check2(
            f"mad24.lo.{kind} %d, %a, %b, 9;",
            kind,
            lambda x, y, s=sign: low24(x, s) * low24(y, s) + 9,
        )


def test_carry_chains_make_128_bit_arithmetic():
    a, b = pairs(integers("u64"), "u64")
    high = ".reg .b64 %h; add.cc.u64 %h, %a, %b; addc.u64 %d, 0, 0;"
    got = apply(high, "u64", ("u64", a), ("u64", b))
    assert got.tolist() == [int(x) + int(y) >> 64 for x, y in zip(a, b, strict=True)]
    borrow = ".reg .b64 %h; sub.cc.u64 %h, %a, %b; subc.u64 %d, 5, 0;"
    got = apply(borrow, "u64", ("u64", a), ("u64", b))
    assert got.tolist() == [5 - (int(x) < int(y)) for x, y in zip(a, b, strict=True)]
    wide = (
        ".reg .b32 %a0,%a1,%b0,%b1,%r0,%r1,%r2,%r3; mov.b64 {%a0,%a1}, %a; mov.b64 {%b0,%b1}, %b;"
        "mul.lo.u32 %r0,%a0,%b0; mul.hi.u32 %r1,%a0,%b0; mad.lo.cc.u32 %r1,%a1,%b0,%r1;"
        "madc.hi.u32 %r2,%a1,%b0,0; mad.lo.cc.u32 %r1,%a0,%b1,%r1; madc.hi.cc.u32 %r2,%a0,%b1,%r2;"
        "addc.u32 %r3,0,0; mad.lo.cc.u32 %r2,%a1,%b1,%r2; madc.hi.u32 %r3,%a1,%b1,%r3;"
        "mov.b64 %d, {%r2,%r3};"
    )
    got = apply(wide, "u64", ("u64", a), ("u64", b))
    assert got.tolist() == [int(x) * int(y) >> 64 for x, y in zip(a, b, strict=True)]


@pytest.mark.parametrize("kind", ["b16", "b32", "b64"])
def test_logic_and_shifts(kind):
    bits = 8 * size(kind)
    for name, oracle in (
        ("and", lambda x, y: x & y),
        ("or", lambda x, y: x | y),
        ("xor", lambda x, y: x ^ y),
    ):
        check2(f"{name}.{kind} %d, %a, %b;", kind, oracle)
    counts = [0, 1, 5, bits - 1, bits, bits + 1, 2**32 - 1]
    a, by = zip(*((x, n) for x in integers(kind) for n in counts), strict=True)
    left = apply(f"shl.{kind} %d, %a, %b;", kind, (kind, a), ("u32", by))
    right = apply(f"shr.u{bits} %d, %a, %b;", kind, (kind, a), ("u32", by))
    signed = apply(f"shr.s{bits} %d, %a, %b;", kind, (kind, a), ("u32", by))
    for x, n, up, down, keep in zip(a, by, left, right, signed, strict=True):
        n = min(n, bits)  # noqa: PLW2901
        assert int(up) == wrap(x << n, kind)
        assert int(down) == x >> n
        assert int(keep) == wrap(wrap(x, f"s{bits}") >> n, kind)
    check2(f"shl.{kind} %d, %a, 3;", kind, lambda x, _: x << 3)
    check2(f"shr.u{bits} %d, %a, {bits};", kind, lambda _, __: 0)
    got = apply(f"not.{kind} %d, %a;", kind, (kind, integers(kind)))
    assert got.tolist() == [wrap(~x, kind) for x in integers(kind)]
    got = apply(f"cnot.{kind} %d, %a;", kind, (kind, integers(kind)))
    assert got.tolist() == [int(x == 0) for x in integers(kind)]


def test_funnel_shifts():
    a, b = pairs(integers("u32"), "u32")
    for by in (0, 1, 13, 31, 32, 40):
        for mode in ("clamp", "wrap"):
            n = min(by, 32) if mode == "clamp" else by & 31
            check2(
                f"shf.l.{mode}.b32 %d, %a, %b, {by};",
                "u32",
                lambda lo, hi, n=n: ((hi << 32 | lo) << n) >> 32,
                left=(a, b),
            )
            check2(
                f"shf.r.{mode}.b32 %d, %a, %b, {by};",
                "u32",
                lambda lo, hi, n=n: (hi << 32 | lo) >> n,
                left=(a, b),
            )


@pytest.mark.parametrize("bits", [32, 64])
def test_counts(bits):
    values = integers(f"u{bits}")
    wide = (f"b{bits}", values)
    assert apply(f"popc.b{bits} %d, %a;", "u32", wide).tolist() == [x.bit_count() for x in values]
    clz = [bits - x.bit_length() for x in values]
    assert apply(f"clz.b{bits} %d, %a;", "u32", wide).tolist() == clz
    rev = [int(f"{x:0{bits}b}"[::-1], 2) for x in values]
    assert apply(f"brev.b{bits} %d, %a;", f"u{bits}", wide).tolist() == rev
    top = [(x.bit_length() - 1) & 0xFFFFFFFF for x in values]
    assert apply(f"bfind.u{bits} %d, %a;", "u32", wide).tolist() == top
    signed = [wrap(x, f"s{bits}") for x in values]
    top = [((~x if x < 0 else x).bit_length() - 1) & 0xFFFFFFFF for x in signed]
    assert apply(f"bfind.s{bits} %d, %a;", "u32", wide).tolist() == top
    shift = [0xFFFFFFFF if t == 0xFFFFFFFF else bits - 1 - t for t in top]
    assert apply(f"bfind.shiftamt.s{bits} %d, %a;", "u32", wide).tolist() == shift


def extract(a, pos, length, bits, sign):
    """bfe, bit by bit as the manual defines it."""
    pos, length = pos & 255, length & 255
    top = min(pos + length - 1, bits - 1)
    fill = (a >> top & 1) if sign and length else 0
    out = 0
    for i in range(bits):
        bit = a >> (pos + i) & 1 if i < length and pos + i < bits else fill
        out |= bit << i
    return out


@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
def test_bit_fields(kind):
    bits = 8 * size(kind)
    values = [x & (1 << bits) - 1 for x in integers(kind)]
    edges = [0, 1, 3, 8, bits - 1, bits, 200, 255, 256]
    rows = [
        (a, b, p, n)
        for a, b in zip(values, values[::-1], strict=True)
        for p in edges
        for n in edges
    ]
    a, b, pos, length = (list(column) for column in zip(*rows, strict=True))
    whole = f"u{bits}"
    got = apply(f"bfe.{kind} %d, %a, %b, %c;", whole, (whole, a), ("u32", pos), ("u32", length))
    want = [extract(x, p, n, bits, kind[0] == "s") for x, p, n in zip(a, pos, length, strict=True)]
    assert got.tolist() == want
    code = f"bfi.b{bits} %d, %a, %b, %c, %e;"
    got = apply(code, whole, (whole, a), (whole, b), ("u32", pos), ("u32", length))
    assert got.tolist() == [insert(*row, bits) for row in rows]


def insert(a, b, pos, length, bits):
    """bfi, bit by bit as the manual defines it."""
    pos, length = pos & 255, length & 255
    for i in range(min(length, max(bits - pos, 0))):
        b = b & ~(1 << pos + i) | (a >> i & 1) << pos + i
    return b


@pytest.mark.parametrize("table", [0x00, 0xFF, 0xF0, 0xCA, 0x96, 0xE8, 0x1D])
def test_lop3(table):
    rng = np.random.default_rng(table)
    a, b, c = (rng.integers(0, 2**32, 50, np.uint32) for _ in range(3))
    got = apply(f"lop3.b32 %d, %a, %b, %c, {table};", "u32", ("u32", a), ("u32", b), ("u32", c))
    want = np.zeros(50, np.uint32)
    for i in range(32):
        row = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)
        want |= (np.uint32(table) >> row & 1).astype(np.uint32) << np.uint32(i)
    np.testing.assert_array_equal(got, want)


@settings(deadline=None, max_examples=20)
@given(st.lists(st.tuples(*[st.integers(0, 2**32 - 1)] * 3), min_size=1, max_size=40))
def test_prmt(rows):
    a, b, c = (list(column) for column in zip(*rows, strict=True))
    got = apply("prmt.b32 %d, %a, %b, %c;", "u32", ("u32", a), ("u32", b), ("u32", c))
    for x, y, s, d in zip(a, b, c, got, strict=True):
        source = (y << 32 | x).to_bytes(8, "little")
        want = []
        for i in range(4):
            pick = s >> 4 * i & 15
            byte = source[pick & 7]
            want.append((255 if byte & 128 else 0) if pick & 8 else byte)
        assert int(d) == int.from_bytes(bytes(want), "little")


def test_prmt_modes():
    """The rows of the manual's tables, for selectors 0 to 3."""
    bytes_of = {
        "f4e": ["3210", "4321", "5432", "6543"],
        "b4e": ["5670", "6701", "7012", "0123"],
        "rc8": ["0000", "1111", "2222", "3333"],
        "ecl": ["3210", "3211", "3222", "3333"],
        "ecr": ["0000", "1110", "2210", "3210"],
        "rc16": ["1010", "3232", "1010", "3232"],
    }
    for mode, rows in bytes_of.items():
        got = apply(
            f"prmt.b32.{mode} %d, %a, %b, %c;",
            "u32",
            ("u32", [0x03020100] * 4),
            ("u32", [0x07060504] * 4),
            ("u32", range(4)),
        )
        assert [f"{int(v):08x}"[1::2] for v in got] == rows, mode


def test_dot_products():
    rng = np.random.default_rng(5)
    a, b = (rng.integers(0, 2**32, 40, np.uint32) for _ in range(2))
    for ka, kb in (("u32", "u32"), ("s32", "u32"), ("s32", "s32")):
        da, db = (np.int8 if k == "s32" else np.uint8 for k in (ka, kb))
        four = (a.view(da).reshape(-1, 4).astype(int) * b.view(db).reshape(-1, 4)).sum(1) + 3
        got = apply(f"dp4a.{ka}.{kb} %d, %a, %b, 3;", "u32", ("u32", a), ("u32", b))
        np.testing.assert_array_equal(got, four.astype(np.int64).astype(np.uint32))
        ha = a.view(np.int16 if ka == "s32" else np.uint16).reshape(-1, 2).astype(int)
        hb = b.view(db).reshape(-1, 4).astype(int)
        for half, part in (("lo", hb[:, :2]), ("hi", hb[:, 2:])):
            got = apply(f"dp2a.{half}.{ka}.{kb} %d, %a, %b, 3;", "u32", ("u32", a), ("u32", b))
            np.testing.assert_array_equal(
                got, ((ha * part).sum(1) + 3).astype(np.int64).astype(np.uint32)
            )


def test_small_fields_and_masks():
    values = integers("u32")
    for n in (0, 1, 7, 31, 32, 40):
        got = apply(f"szext.clamp.s32 %d, %a, {n};", "s32", ("u32", values))
        assert got.tolist() == [wrap(extract(x, 0, min(n, 32), 32, True), "s32") for x in values]
        got = apply(f"bmsk.clamp.b32 %d, %a, {n};", "u32", ("u32", values))
        assert got.tolist() == [
            0 if x >= 32 else wrap(((1 << min(n, 32)) - 1) << x, "u32") for x in values
        ]
    got = apply(
        "fns.b32 %d, 0xF0F0, %a, %b;",
        "u32",
        ("u32", [0, 0, 5, 7, 7, 31]),
        ("s32", [1, 5, 0, -1, -4, 1]),
    )
    assert got.tolist() == [4, 12, 5, 7, 4, 0xFFFFFFFF]


def test_packed_16_bit():
    rng = np.random.default_rng(8)
    a, b = (rng.integers(0, 2**32, 60, np.uint32) for _ in range(2))
    for kind, half in (("u16x2", np.uint16), ("s16x2", np.int16)):
        x, y = a.view(half), b.view(half)
        for name, oracle in (("add", np.add), ("min", np.minimum), ("max", np.maximum)):
            got = apply(f"{name}.{kind} %d, %a, %b;", "u32", ("u32", a), ("u32", b))
            np.testing.assert_array_equal(got.view(half), oracle(x, y))
