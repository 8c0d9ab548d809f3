"""The modelled time: deterministic, ordered as the work is, with loops times their trip counts."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gevolve.device.xla import Xla
from gevolve.device.xla.calibration import fitted, probes
from gevolve.device.xla.client import Client
from gevolve.device.xla.hlo import read_module
from gevolve.device.xla.rates import Rates
from gevolve.device.xla.roofline import Roofline, UnknownTripsError
from gevolve.evaluate.child.timing import Precision, compare
from gevolve.ir.stablehlo import canonical, load

ALONE = Rates(run=0, result=0, first=0)
"""Without what a run takes whatever it does."""
HLO = """HloModule main, is_scheduled=true

%body (p: (s32[], f32[64,64])) -> (s32[], f32[64,64]) {
  %p = (s32[], f32[64,64]{1,0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %x = f32[64,64]{1,0} get-tuple-element(%p), index=1
  %dot.1 = f32[64,64]{1,0} dot(%x, %x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %t = (s32[], f32[64,64]{1,0}) tuple(%i, %dot.1)
}

%condition (p.1: (s32[], f32[64,64])) -> pred[] {
  %p.1 = (s32[], f32[64,64]{1,0}) parameter(0)
  %i.1 = s32[] get-tuple-element(%p.1), index=0
  %n = s32[] constant(10)
  ROOT %less = pred[] compare(%i.1, %n), direction=LT
}

ENTRY %main (a: s32[], b: f32[64,64]) -> (s32[], f32[64,64]) {
  %a = s32[] parameter(0)
  %b = f32[64,64]{1,0} parameter(1)
  %t.1 = (s32[], f32[64,64]{1,0}) tuple(%a, %b)
  ROOT %while.1 = (s32[], /*index=1*/f32[64,64]{1,0}) while(%t.1), condition=%condition, body=%body, backend_config={"known_trip_count":{"n":"10"}}
}
"""


def test_a_module_is_read_whole():
    module = read_module(HLO)
    assert module.entry == "main"
    body = module.computations["body"]
    assert (body.root, body.instructions["dot.1"].operands) == ("t", ("x", "x"))
    assert [shape.sizes for shape in body.instructions["p"].shapes] == [(), (64, 64)]
    loop = module.computations["main"].instructions["while.1"]
    assert loop.trips == 10
    assert loop.called == {"condition": ["condition"], "body": ["body"]}


def test_a_loop_takes_its_body_times_its_trip_count():
    ten = Roofline(HLO, ALONE).seconds
    hundred = Roofline(HLO.replace('"n":"10"', '"n":"100"'), ALONE).seconds
    assert hundred == pytest.approx(10 * ten, rel=0.01)


def test_a_run_takes_something_whatever_it_does():
    more = Rates(run=1, result=0.5)
    assert Roofline(HLO, more).seconds == pytest.approx(2 + Roofline(HLO, ALONE).seconds)


def test_a_loop_whose_trip_count_is_not_known_has_no_time():
    with pytest.raises(UnknownTripsError):
        _ = Roofline(HLO.replace("known_trip_count", "unknown"), Rates()).seconds


def modelled(function, *arguments) -> float:
    device = Xla("cpu")
    device.use(ALONE.flat())
    time = device.modelled(device.build(load(function, list(arguments)).text))
    assert time is not None
    return time


def test_less_work_takes_less_time():
    x, w = np.ones((64, 256), np.float32), np.ones((256, 256), np.float32)
    none = modelled(lambda x, w: x @ w, x, w)
    one = modelled(lambda x, w: jnp.tanh(x @ w) @ w, x, w)
    narrow = modelled(lambda x, w: jnp.tanh(x @ w[:, :64]) @ w[:64], x, w)
    assert narrow < none < one
    assert modelled(lambda x, w: x @ w, x, w) == none


def test_a_slice_that_is_written_in_place_costs_what_is_written():
    x = np.ones((64, 512), np.float32)

    def rows(x, count):
        return jax.lax.fori_loop(0, count, lambda i, y: y.at[i].set(y[i] * 2), x)

    few, many = (modelled(lambda x, n=n: rows(x, n), x) for n in (8, 64))
    each = (many - few) / 56
    assert 0 < each < modelled(lambda x: x * 2, x) / 4


def test_a_loop_until_something_happens_is_left_to_the_clock():
    device = Xla("cpu")

    def until(x):
        return jax.lax.while_loop(lambda y: y.sum() < 1e6, lambda y: y * 2, x)

    assert device.modelled(device.build(load(until, [np.ones(8, np.float32)]).text)) is None


def test_the_rates_of_the_machine_decide():
    device = Xla("cpu")
    artefact = device.build(load(lambda x: x @ x, [np.ones((128, 128), np.float32)]).text)
    before = device.modelled(artefact)
    device.use({"multiply": 1e-9})
    assert before is not None
    assert (device.modelled(artefact) or 0) > 5 * before


def test_one_slip_of_the_clock_does_not_decide():
    """A clock that now and then shows far too little must not make a program faster."""
    rng = np.random.default_rng(0)
    calls = 0

    def clock(_):
        nonlocal calls
        calls += 1
        return 0.001 if calls % 37 == 0 else 0.01 * (1 + 0.02 * rng.random())

    found = [compare(clock, clock, Precision(0.0, 30, 30, 1e9)).value for _ in range(20)]
    assert np.std(found) < 0.02
    assert 0.97 < min(found) <= max(found) < 1.03


def test_a_convolution_in_another_form_is_done_by_plain_loops():
    """As the gradient of one with a stride is."""
    assert convolution(16, 16, form="b01f_01oi->b01f") > 3 * convolution(16, 16)


def test_the_library_takes_longer_for_an_odd_number_of_channels():
    """As a network's first convolution on colours has; but not for any number of columns."""
    assert convolution(3, 24, fused=True) > 3 * convolution(4, 24, fused=True)
    assert convolution(3, 64, fused=True) < convolution(4, 64, fused=True)
    assert convolution(6, 24, fused=True) < convolution(8, 24, fused=True)


def test_rows_of_zeros_after_all_others_leave_a_function_as_fast_as_it_was():
    x = np.ones((64, 480), np.float32)
    whole, beside = (
        modelled(lambda x, around=around: jnp.pad(jnp.tanh(x), around), x)
        for around in (((0, 8), (0, 0)), ((0, 0), (0, 60)))
    )
    assert beside > 2 * whole


def test_arguments_and_results_take_time():
    ones = [np.ones(8, np.float32)] * 16
    one = modelled(lambda *x: x[0] + 1, *ones[:1])
    assert modelled(lambda *x: sum(x), *ones) > one
    assert modelled(lambda x: [x + n for n in range(16)], ones[0]) > one


def test_sums_along_rows_are_not_as_slow_as_the_place_of_a_maximum():
    x = np.ones((32, 32), np.float32)
    assert modelled(lambda x: jnp.argmax(x, -1), x) > modelled(lambda x: x.sum(-1), x)


def test_a_function_that_only_some_elements_need_is_done_one_by_one():
    x = np.ones((64, 480), np.float32)
    after, before = (
        modelled(function, x)
        for function in (
            lambda x: jnp.pad(jnp.tanh(x), ((0, 0), (0, 32))),
            lambda x: jnp.tanh(jnp.pad(x, ((0, 0), (0, 32)))),
        )
    )
    assert after > 2 * before


def test_a_cut_through_rows_takes_longer_than_one_between_them():
    x = np.ones((256, 256), np.float32)
    assert modelled(lambda x: x[:, 64:], x) > 1.5 * modelled(lambda x: x[64:], x)


LIBRARY = 'backend_config={"fusion_config":{"kind":"__ynn_fusion"}}'


def convolution(inputs, outputs, *, fused=False, groups=1, form="b01f_01io->b01f"):
    """The modelled time of a convolution of 3 x 3 places on 14 x 14."""
    kernel = f"f32[3,3,{inputs // groups},{outputs}]{{3,2,1,0}}"
    image, made = (f"f32[4,14,14,{n}]{{3,2,1,0}}" for n in (inputs, outputs))
    grouped = f", feature_group_count={groups}" if groups > 1 else ""
    product = f"{made} convolution(%x, %w), window={{size=3x3 pad=1_1x1_1}}, dim_labels={form}"
    inner = f"  %x = {image} parameter(0)\n  %w = {kernel} parameter(1)\n  ROOT %c = {product}{grouped}\n"
    entry = "ENTRY %main (x: f32[], w: f32[]) -> f32[] {\n"
    if not fused:
        return Roofline(f"HloModule main\n\n{entry}{inner}}}\n", ALONE).seconds
    called = f"{made} fusion(%x, %w), kind=kCustom, calls=%body, {LIBRARY}"
    outer = inner.replace(f"{product}{grouped}", called)
    body = "%body (x: f32[], w: f32[]) -> f32[] {\n"
    return Roofline(f"HloModule main\n\n{body}{inner}}}\n\n{entry}{outer}}}\n", ALONE).seconds


def test_a_convolution_pays_for_the_places_of_its_window_whatever_channels_it_has():
    assert convolution(16, 16) < 4 * convolution(1, 16)  # of 16 times the products
    assert convolution(64, 64) > 6 * convolution(16, 16)  # 16 columns take longer each than 64
    assert convolution(4, 16, fused=True) < 0.5 * convolution(4, 16)  # a library does it


def test_a_grouped_convolution_pays_for_each_product():
    products, others = 32 * 9, 32 * 32 * 9
    each = convolution(32, 32, groups=32) / products
    assert each > 20 * convolution(32, 32) / others


@given(rows=st.integers(8, 600), depth=st.integers(8, 300), packets=st.integers(1, 16))
def test_a_product_takes_no_less_for_being_larger(rows, depth, packets):
    """But of terms: some that are left over take longer than four at a time; it was measured."""
    one = product_seconds(rows, depth, 16 * packets)
    assert one <= product_seconds(rows + 1, depth, 16 * packets)
    assert one <= product_seconds(rows, depth + 4, 16 * packets)
    assert one <= product_seconds(rows, depth, 16 * packets + 64)


def product_seconds(rows, depth, columns):
    left, right, made = (
        f"f32[{a},{b}]{{1,0}}" for a, b in ((rows, depth), (depth, columns), (rows, columns))
    )
    taken = f"  %x = {left} parameter(0)\n  %w = {right} parameter(1)\n"
    numbers = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    body = f"%body (x: f32[], w: f32[]) -> f32[] {{\n{taken}  ROOT %d = {made} dot(%x, %w), {numbers}\n}}\n\n"
    entry = f"ENTRY %main (x: f32[], w: f32[]) -> f32[] {{\n{taken}"
    called = f"  ROOT %f = {made} fusion(%x, %w), kind=kCustom, calls=%body, {LIBRARY}\n}}\n"
    return Roofline(f"HloModule main\n\n{body}{entry}{called}", ALONE).seconds


def test_what_is_left_over_of_a_row_of_columns_takes_longer_each():
    each = {n: product_seconds(256, 64, n) / n for n in (10, 16, 32, 60, 64, 128)}
    assert each[10] > each[16] > each[32] > each[64]
    assert each[60] > each[64] == pytest.approx(each[128], rel=0.2)


def test_functions_take_what_each_takes():
    x = np.ones((64, 512), np.float32)
    simple, square, tanh, power = (
        modelled(function, x) for function in (lambda x: x + 1, jnp.sqrt, jnp.tanh, lambda x: x**x)
    )
    assert simple < square < power
    assert simple < tanh < power / 5


def test_what_a_library_does_takes_a_pass_for_each_operation():
    """A loop does several operations on an element while it has it; the library passes over the array for each."""
    x = np.ones((64, 512), np.float32)

    def chain(x):
        for number in range(8):
            x = jnp.maximum(x * np.float32(0.5), np.float32(number))
        return x

    looped = modelled(chain, x) - modelled(lambda x: x + 1, x)
    reduced = modelled(lambda x: chain(x).sum(-1), x) - modelled(lambda x: x.sum(-1), x)
    assert reduced > 2 * looped


def test_one_operation_alone_takes_longer_than_two_together():
    """XLA compiles an operation on whole arrays, without so much as a constant, in tiles."""
    x, y = np.ones((64, 512), np.float32), np.ones((64, 512), np.float32)
    assert modelled(lambda x, y: x - y, x, y) > 1.3 * modelled(lambda x, y: x - 0.5 * y, x, y)


def test_a_product_that_sums_the_rows_of_its_left_side_takes_longer():
    """It is the slope of weights: no library does it, and its left side lies across."""
    x, y = np.ones((32, 784), np.float32), np.ones((32, 64), np.float32)
    across = modelled(lambda x, y: x.T @ y, x, y)
    assert across > 1.3 * modelled(lambda x, y: x @ y, np.ones((784, 32), np.float32), y)
    fewer = modelled(lambda x, y: x.T @ y, x[:, :588], y)
    assert fewer / across == pytest.approx(588 / 784, rel=0.05)


def test_zeros_around_what_is_turned_need_not_be_fetched():
    x, y = np.ones((64, 400), np.float32), np.ones((784, 64), np.float32)

    def padded(x, y):
        return y - 0.5 * jnp.pad(x, [(0, 0), (192, 192)]).T

    whole = modelled(lambda x, y: y - 0.5 * x.T, np.ones((64, 784), np.float32), y)
    assert modelled(padded, x, y) < 0.7 * whole


def test_rates_are_the_same_when_they_are_read_again():
    assert Rates.of(ALONE.flat()) == ALONE
    assert Rates.of({"functions.tanh": 1.0}).functions == Rates().functions | {"tanh": 1.0}
    assert Rates.of({}) == Rates()


def test_rates_are_found_from_times():
    """Programs that take what they would with other rates give these rates."""
    modules = [(probe.rate, compiled(probe)) for probe in probes() if probe.rate in FOUND]
    machine = Rates.of(Rates().flat() | FOUND)
    seconds = [Roofline(module, machine).seconds for _, module in modules]
    found = fitted(modules, seconds).flat()
    assert {name: found[name] for name in FOUND} == pytest.approx(FOUND, rel=0.05)
    assert found["functions.sine"] == pytest.approx(2 * Rates().functions["sine"], rel=0.05)


FOUND = {"multiply": 2e-11, "run": 5e-5, "functions.tanh": 7e-10, "columns16": 2.0}


def compiled(probe):
    program = Client("cpu", 0).compile(canonical(load(probe.function, list(probe.arguments)).text))
    return read_module(program.text())
