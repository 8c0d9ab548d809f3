"""How a fusion's loop is compiled decides what an element takes; and the same program always takes the same time."""

import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gevolve.device.xla.calibration import probes
from gevolve.device.xla.client import Client
from gevolve.device.xla.demand import result
from gevolve.device.xla.hlo import Computation, Module, read_module
from gevolve.device.xla.loops import left_over, one_by_one, tiled
from gevolve.device.xla.rates import Rates
from gevolve.device.xla.roofline import Roofline
from gevolve.ir.stablehlo import canonical, load

ALONE = Rates(run=0, argument=0, result=0, first=0, start=0, near=2e-12)
"""What a loop takes by itself, on a machine whose cache does not hold it up."""
GATHER = """HloModule main

%body (x: f32[200,40], at: s32[900,1]) -> f32[900,40] {
  %x = f32[200,40]{1,0} parameter(0)
  %at = s32[900,1]{1,0} parameter(1)
  %more = s32[900,1]{1,0} add(%at, %at)
  ROOT %rows = f32[900,40]{1,0} gather(%x, %more), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,40}
}

ENTRY %main (x: f32[200,40], at: s32[900,1]) -> f32[900,40] {
  %x = f32[200,40]{1,0} parameter(0)
  %at = s32[900,1]{1,0} parameter(1)
  ROOT %f = f32[900,40]{1,0} fusion(%x, %at), kind=kLoop, calls=%body
}
"""


def compiled(function, *arguments) -> Module:
    client = Client("cpu", 0)
    return read_module(client.compile(canonical(load(function, list(arguments)).text)).text())


def fusion(function, *arguments) -> Computation:
    """The body of the one fusion that XLA makes of it."""
    module = compiled(function, *arguments)
    (one,) = (
        i for i in module.computations[module.entry].instructions.values() if i.opcode == "fusion"
    )
    return module.computations[one.called["calls"][0]]


def each(function, columns: int) -> float:
    """Seconds of an element in rows of so many."""
    x, row = np.ones((7680 // columns, columns), np.float32), np.ones(columns, np.float32)
    return Roofline(compiled(function, x, row), ALONE).seconds / x.size


@pytest.mark.parametrize("columns", [10, 16, 24, 32, 40])
def test_rows_of_a_few_packets_take_longer_an_element(columns):
    """By eight times, as was measured; rows of eight and of many do not."""
    short, usual, long = (each(lambda x, r: x * r + 1, n) for n in (8, columns, 128))
    assert usual > 3 * max(short, long)


def test_what_a_long_round_does_is_not_unrolled():
    def chain(x, row):
        for number in range(8):
            x = jnp.maximum(x * np.float32(0.5), np.float32(number)) + row
        return x

    def plain(x, row):
        return x * row + 1

    x, row = np.ones((256, 32), np.float32), np.ones(32, np.float32)
    short, long = fusion(plain, x, row), fusion(chain, x, row)
    assert one_by_one(short, result(short))
    assert not one_by_one(long, result(long))


def test_what_is_done_once_for_a_row_makes_no_round_longer():
    """Else an edit would gain by a value of each row that needs more to be computed."""
    x, column = np.ones((256, 40), np.float32), np.ones((256, 1), np.float32)

    def once(x, column):
        for number in range(12):
            column = column * np.float32(0.5) + np.float32(number)
        return x * column

    body = fusion(once, x, column)
    assert one_by_one(body, result(body))


def test_a_division_that_is_done_one_by_one_takes_longer():
    apart, at_once = (
        each(lambda x, r: 2 / (x + r), n) - each(lambda x, r: 2 * (x + r), n) for n in (16, 128)
    )
    assert apart > 4 * at_once


def test_what_is_left_over_of_a_row_is_done_one_by_one():
    def functions(x, row):
        return jnp.tanh(jnp.tanh(x) + row)

    def rest(columns):
        body = fusion(functions, np.ones((64, columns), np.float32), np.ones(columns, np.float32))
        return left_over(body, result(body))

    assert rest(96) == 1
    assert 1.2 < rest(100) < 1.4
    assert rest(103) > rest(100)


def test_whole_arrays_alone_are_done_in_tiles():
    x = np.ones((64, 96), np.float32)
    assert tiled(fusion(lambda x, y: x * y - x, x, x))
    assert not tiled(fusion(lambda x, y: x * y - 2 * x, x, x))  # a constant is not done so
    wide, narrow = (
        fusion(lambda x, y: x * y, *[np.ones((64, n), np.float32)] * 2) for n in (96, 90)
    )
    assert tiled(narrow) > 2 * tiled(wide)


def test_the_first_time_is_paid_once_however_often_a_loop_turns():
    def rounds(count):
        def whole(x):
            return jax.lax.fori_loop(0, count, lambda _, x: jnp.tanh(x @ x) + 1, x)

        module = compiled(whole, np.ones((64, 64), np.float32))
        return Roofline(module, Rates(first=1)).seconds - Roofline(module, Rates(first=0)).seconds

    assert rounds(40) == pytest.approx(rounds(5))
    assert rounds(5) >= 3


def test_a_time_does_not_depend_on_how_names_are_hashed():
    """Workers are processes of their own."""
    code = (
        "import sys; from gevolve.device.xla.roofline import Roofline; from gevolve.device.xla.rates import Rates\n"
        "print(repr(Roofline(sys.stdin.read(), Rates()).seconds))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            input=GATHER,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(4)
    }
    assert len(found) == 1


def test_the_programs_that_rates_are_found_by_are_compiled_as_what_they_stand_for():
    """XLA left eleven of twelve arrays out of one of them once, so that its rate was a fifteenth of what it is."""
    by_rate = {probe.rate: probe for probe in probes()}

    def bodies(rate):
        probe = by_rate[rate]
        module = compiled(probe.function, *probe.arguments)
        return [
            module.computations[n] for n in module.computations if "fused" in n or "wrapped" in n
        ]

    large = [b for b in bodies("apart") if result(b).shape.count > 1]
    assert large
    assert all(one_by_one(body, result(body)) for body in large)
    large = [b for b in bodies("tile") if result(b).shape.count > 1]
    assert large
    assert all(map(tiled, large))
    for name in ("rsqrt", "tanh", "log-plus-one"):
        assert not any(tiled(b) for b in bodies(f"functions.{name}") if result(b).shape.count > 1)
    first = compiled(by_rate["first"].function, *by_rate["first"].arguments)
    started = [
        i for i in first.computations[first.entry].instructions.values() if i.opcode != "parameter"
    ]
    assert len(started) >= 32
