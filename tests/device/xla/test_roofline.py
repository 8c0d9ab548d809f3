"""The modelled time: deterministic, ordered as the work is, with loops times their trip counts."""

import jax
import jax.numpy as jnp
import msgspec
import numpy as np
import pytest

from gevolve.device.xla import Xla
from gevolve.device.xla.hlo import read_module
from gevolve.device.xla.roofline import Rates, Roofline, UnknownTripsError
from gevolve.evaluate.child.timing import Precision, compare
from gevolve.ir.stablehlo import load

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
    ten = Roofline(HLO, Rates()).seconds
    hundred = Roofline(HLO.replace('"n":"10"', '"n":"100"'), Rates()).seconds
    assert hundred == pytest.approx(10 * ten, rel=0.01)


def test_a_loop_whose_trip_count_is_not_known_has_no_time():
    with pytest.raises(UnknownTripsError):
        _ = Roofline(HLO.replace("known_trip_count", "unknown"), Rates()).seconds


def modelled(function, *arguments) -> float:
    device = Xla("cpu")
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
    assert 4 < many / few < 9


def test_a_loop_until_something_happens_is_left_to_the_clock():
    device = Xla("cpu")

    def until(x):
        return jax.lax.while_loop(lambda y: y.sum() < 1e6, lambda y: y * 2, x)

    assert device.modelled(device.build(load(until, [np.ones(8, np.float32)]).text)) is None


def test_the_rates_of_the_machine_decide():
    device = Xla("cpu")
    artefact = device.build(load(lambda x: x @ x, [np.ones((128, 128), np.float32)]).text)
    before = device.modelled(artefact)
    device.use(msgspec.to_builtins(Rates(multiply=1e-9)))
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


def convolution(inputs, outputs, *, fused=False, groups=1):
    """The modelled time of a convolution of 3 x 3 places on 14 x 14."""
    kernel = f"f32[3,3,{inputs // groups},{outputs}]{{3,2,1,0}}"
    image, made = (f"f32[4,14,14,{n}]{{3,2,1,0}}" for n in (inputs, outputs))
    grouped = f", feature_group_count={groups}" if groups > 1 else ""
    product = (
        f"{made} convolution(%x, %w), window={{size=3x3 pad=1_1x1_1}}, dim_labels=b01f_01io->b01f"
    )
    inner = f"  %x = {image} parameter(0)\n  %w = {kernel} parameter(1)\n  ROOT %c = {product}{grouped}\n"
    entry = "ENTRY %main (x: f32[], w: f32[]) -> f32[] {\n"
    if not fused:
        return Roofline(f"HloModule main\n\n{entry}{inner}}}\n", Rates()).seconds
    called = f"{made} fusion(%x, %w), kind=kCustom, calls=%body"
    outer = inner.replace(f"{product}{grouped}", called)
    body = "%body (x: f32[], w: f32[]) -> f32[] {\n"
    return Roofline(f"HloModule main\n\n{body}{inner}}}\n\n{entry}{outer}}}\n", Rates()).seconds


def test_a_convolution_pays_for_the_places_of_its_window_whatever_channels_it_has():
    assert convolution(16, 16) < 4 * convolution(1, 16)  # of 16 times the products
    assert convolution(64, 64) > 8 * convolution(16, 16)  # where products are what takes time
    assert convolution(4, 16, fused=True) < 0.5 * convolution(4, 16)  # a library does it


def test_a_grouped_convolution_pays_for_each_product():
    products, others = 32 * 9, 32 * 32 * 9
    each = convolution(32, 32, groups=32) / products
    assert each > 20 * convolution(32, 32) / others
