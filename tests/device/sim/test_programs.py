"""PTX that nvcc wrote (``ptx/programs.cu``, built with ``nvcc -ptx -arch=sm_80``) runs like any other."""

import math
from pathlib import Path

import numpy as np
import pytest

from gevolve.device.base import Limits, Stopped
from gevolve.device.sim import Sim

F = np.float32
PTX = (Path(__file__).parent / "ptx/programs.ptx").read_bytes()


@pytest.fixture
def gpu():
    gpu = Sim().open(PTX, Limits(fuel=1_000_000))
    yield gpu
    gpu.close()


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_structs_by_value_with_dynamic_indices(gpu):
    dtype = np.dtype([("a", "i4"), ("b", "f4"), ("c", "f8"), ("d", "i2", 5)], align=True)
    s = np.zeros((), dtype)
    s["a"], s["b"], s["c"], s["d"] = 3, 1.5, 2.25, [1, 2, 3, 4, 5]
    big, out, i = np.arange(20, dtype=F), gpu.empty(64), np.arange(64)
    gpu.launch("byval", 1, 64, s, big, 7, out)
    np.testing.assert_array_equal(out.get(), 3 + 1.5 + 2.25 + (i % 5 + 1) + big[(i + 7) % 20])


def test_module_variables(gpu, rng):
    gpu.symbol("table", F).set(np.arange(16, dtype=F) * 3)
    a, out = rng.integers(0, 1000, 64).astype(np.int32), gpu.empty(64)
    gpu.launch("consts", 2, 32, gpu.array(a), out)
    np.testing.assert_array_equal(out.get(), (a & 15) * 3 + np.array([10, 20, 30, 40])[a & 3])
    assert gpu.symbol("counter", np.int32).get()[0] == 12
    assert gpu.symbol("grid_buf", F).get()[3] == 2.5


def test_recursion(gpu):
    out = gpu.empty(64, np.int32)
    gpu.launch("recur", 1, 64, out)
    fib = [0, 1, 1, 2, 3, 5, 8, 13, 21]
    assert out.get().tolist() == [math.factorial(i % 10) + fib[i % 9] for i in range(64)]


def test_function_pointers_even_to_functions_that_wait(gpu):
    i = np.arange(32)
    for which, want in enumerate((i + 3, i * 3, (i ^ 1) - 3)):
        out = gpu.empty(32)
        gpu.launch("indirect", 1, 32, gpu.array(np.array([which], np.int32)), out)
        np.testing.assert_array_equal(out.get(), want + np.where(i & 1, i * 2, i + 2))


def test_virtual_functions(gpu):
    out, i = gpu.empty(32), np.arange(32)
    gpu.launch("virt", 1, 32, out)
    np.testing.assert_array_equal(out.get(), np.where(i & 1, i * i, i * i * 0.5))


def test_local_arrays(gpu, rng):
    a, out = rng.integers(0, 1000, 100).astype(np.int32), gpu.empty(64, np.int32)
    gpu.launch("localarr", 1, 64, gpu.array(a), out, 100)
    rows = [sorted(a[(i + k) % 100] for k in range(32)) for i in range(64)]
    assert out.get().tolist() == [row[a[i] & 31] for i, row in enumerate(rows)]


def test_switch(gpu):
    a, out = (np.arange(64) % 10).astype(np.int32), gpu.empty(64, np.int32)
    gpu.launch("sw", 1, 64, gpu.array(a), out)
    cases = [lambda _: 11, lambda _: 77, lambda i: i, lambda i: -i, lambda i: i * i, lambda _: 99, lambda _: 0,
             lambda _: 5, lambda _: -1, lambda _: -1]  # fmt: skip
    assert out.get().tolist() == [cases[v](i) for i, v in enumerate(a)]


def test_half_precision(gpu, rng):
    a, b = rng.normal(0, 2, 32).astype(np.float16), rng.normal(0, 2, 64).astype(np.float16)
    c, d, e = gpu.empty(32, np.float16), gpu.empty(64, np.float16), gpu.empty(32, np.uint16)
    gpu.launch("halfk", 1, 32, gpu.array(a), gpu.array(b), c, d, e)
    want = np.float16(a.astype(float) * a + 1.5) / np.float16(3)
    np.testing.assert_allclose(c.get(), np.where(a > want, np.sqrt(np.abs(a)), want), rtol=1e-3)
    np.testing.assert_array_equal(d.get(), b + b * np.float16(2))
    brain = (e.get().astype(np.uint32) << 16).view(F)
    np.testing.assert_allclose(brain, a.astype(F) * F(1.7), rtol=4e-3)


def test_cooperative_groups(gpu, rng):
    a, out = rng.normal(0, 1, 64).astype(F), gpu.zeros(65)
    gpu.launch("coop", 1, 64, gpu.array(a), out, 64)
    got = out.get()
    np.testing.assert_allclose(got[0], a.sum(), rtol=1e-5)
    for i in range(0, 64, 3):
        mates = [j for j in range(i // 32 * 32, i // 32 * 32 + 32) if j % 3 == 0]
        assert got[1 + i] == len(mates) * 100 + mates.index(i)


def test_lanes_move_together_between_volatile_accesses(gpu, rng):
    a, out = rng.normal(0, 1, 64).astype(F), gpu.zeros(1)
    gpu.launch("warpsync_legacy", 1, 64, gpu.array(a), out)
    np.testing.assert_allclose(out.get()[0], a.sum(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kernel", ["lock", "lock2"])
def test_spin_locks_make_progress(gpu, kernel):
    mutex, value = gpu.zeros(1, np.int32), gpu.zeros(1, np.int32)
    gpu.launch(kernel, 2, 64, mutex, value)
    assert value.get()[0] == 128


def test_printf_does_nothing_and_assert_stops(gpu):
    out = gpu.zeros(32, np.int32)
    gpu.launch("prints", 1, 32, out)
    assert out.get().tolist() == list(range(1, 33))
    with pytest.raises(Stopped, match="asserts: an assertion failed") as stopped:
        gpu.launch("asserts", 1, 32, out)
    assert stopped.value.verdict == "crash"


def test_atomics(gpu):
    a, f, d, wide = (
        gpu.zeros(4, np.int32),
        gpu.zeros(1),
        gpu.zeros(1, np.float64),
        gpu.zeros(2, np.uint64),
    )
    u = gpu.array(np.array([2**32 - 1, 0, 0, 0, 0], np.uint32))
    gpu.launch("atoms", 1, 64, a, u, f, d, wide)
    assert a.get().tolist() == [63, -63, -128, 42]
    up = down = flips = 0
    for i in range(64):
        up = 0 if up >= 10 else up + 1
        down = 10 if down == 0 or down > 10 else down - 1
        flips ^= i
    assert u.get().tolist() == [0, 2**32 - 1, flips, up, down]
    assert (f.get()[0], d.get()[0], wide.get().tolist()) == (32, 16, [sum(range(64)) << 33, 189])


def test_three_dimensions(gpu):
    out = gpu.empty(6 * 8 * 10, np.int32)
    gpu.launch("dims", (2, 4, 5), (3, 2, 2), out)
    z, y, x = np.meshgrid(range(10), range(8), range(6), indexing="ij")
    np.testing.assert_array_equal(out.get(), (x + 1000 * y + 1000000 * z).ravel())


def test_dynamic_shared_memory_ends_where_the_launch_says(gpu, rng):
    a, out = gpu.array(rng.normal(0, 1, 50).astype(F)), gpu.empty(50)
    gpu.launch("dyn", 1, 50, a, out, 50, shared=200)
    np.testing.assert_array_equal(out.get(), a.get()[::-1])
    with pytest.raises(Stopped, match="out of bounds"):
        gpu.launch("dyn", 1, 50, a, out, 50, shared=196)


def test_64_bit_division_and_double_maths(gpu, rng):
    a, b = rng.integers(-(2**62), 2**62, 64), rng.integers(1, 2**40, 64)
    b[::3] *= -1
    b[:10] %= 100
    b[b == 0] = 7
    q, r, d = gpu.empty(64, np.int64), gpu.empty(64, np.uint64), gpu.empty(64, np.float64)
    gpu.launch("div64", 1, 64, gpu.array(a), gpu.array(b), q, r, d)
    rows = [(int(x), int(y)) for x, y in zip(a, b, strict=True)]
    assert q.get().tolist() == [
        abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) for x, y in rows
    ]
    assert r.get().tolist() == [x % 2**64 % (y % 2**64) for x, y in rows]
    x, y = a.astype(float), b.astype(float)
    want = x / y + np.sqrt(np.abs(x)) + np.exp2(np.fmod(y, 10))
    np.testing.assert_allclose(d.get(), want, rtol=1e-14)


def test_vectors(gpu, rng):
    a, c = rng.normal(0, 1, (32, 4)).astype(F), rng.integers(-128, 128, (32, 4)).astype(np.int8)
    out, s, d = gpu.empty((32, 4)), gpu.empty(32, np.int32), gpu.empty((32, 2), np.float64)
    gpu.launch("vec", 1, 32, gpu.array(a), out, gpu.array(c), s, d)
    np.testing.assert_array_equal(out.get(), a[:, ::-1])
    np.testing.assert_array_equal(s.get(), c.astype(int) @ [1, 2, 3, 4])
    np.testing.assert_array_equal(d.get(), a[:, :2].astype(float))


def test_match_reduce_and_ballot(gpu):
    a, out = (np.arange(32) % 5).astype(np.int32), gpu.zeros(192, np.uint32)
    gpu.launch("match", 1, 32, gpu.array(a), out)
    got = out.get().reshape(6, 32)
    assert got[0].tolist() == [sum(1 << j for j in range(32) if a[j] == a[i]) for i in range(32)]
    assert [set(row) for row in got[1:5].tolist()] == [{0}, {a.sum()}, {4}, {2**32 - 1}]
    assert got[5, 1::2].tolist() == [sum(1 << j for j in range(1, 32, 2) if a[j] > 2)] * 16
