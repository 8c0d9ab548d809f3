import math
import signal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gevolve.evaluate.child.process import ChildEndedError, ChildFailedError, DeadlineError
from gevolve.evaluate.protocol import Failed, Header, MalformedMessageError
from gevolve.evaluate.verdict import Verdict
from gevolve.evaluate.worker import judge
from gevolve.workload.base import Case
from gevolve.workload.error import relative_error
from gevolve.workload.kernel import KernelWorkload

ARRAYS = hnp.arrays(
    st.sampled_from([np.float32, np.float64, np.float16]), hnp.array_shapes(max_side=5)
)


def failed(how):
    return ChildFailedError(Failed(how, "why", {}))


@pytest.mark.parametrize(
    ("error", "verdict", "detail"),
    [
        (DeadlineError(), "timeout", "not done after 5 s"),
        (ChildEndedError(-signal.SIGSEGV, ""), "crash", "SIGSEGV"),
        (ChildEndedError(-signal.SIGABRT, "LLVM ERROR: x"), "crash", "SIGABRT: LLVM ERROR: x"),
        (ChildEndedError(-64, ""), "crash", "SIGRTMAX"),
        (ChildEndedError(-50, ""), "crash", "signal 50"),
        (ChildEndedError(3, ""), "crash", "exited with status 3 before it was done"),
        (ChildEndedError(None, ""), "crash", "closed its channel"),
        (MalformedMessageError("noise"), "crash", "spoiled its channel: noise"),
        (failed("compile"), "compile", "why"),
        (failed("fuel"), "fuel", "why"),
        (failed("memory"), "memory", "why"),
        (failed("crash"), "crash", "why"),
        (failed("raised"), "crash", "why"),
        (failed("ok"), "crash", "why"),  # a child cannot acquit itself
        (judge.Fault(Verdict.WRONG, "why"), "wrong", "why"),
    ],
)
def test_endings(error, verdict, detail):
    fault = judge.fault_of(error, 5.0)
    assert (fault.verdict, fault.detail) == (verdict, detail)


def test_details_are_one_short_line():
    fault = judge.Fault(Verdict.CRASH, "a\nb\t c" + "x" * 1000)
    assert fault.detail.startswith("a b cxx")
    assert len(fault.detail) == 300


@pytest.mark.parametrize("time", [math.nan, math.inf, -1.0])
def test_times_that_are_none(time):
    with pytest.raises(judge.Fault):
        judge.check_time(time)


def test_headers():
    want = [Header("0", "<f4", (2, 3))]
    judge.check_headers([Header("0", "<f4", (2, 3))], want, "case 0")
    for got in (
        [],
        [Header("0", "<f4", (3, 2))],
        [Header("0", "<f8", (2, 3))],
        [Header("1", "<f4", (2, 3))],
        want * 2,
        [Header("0", "nonsense" * 100, (1,) * 1000)],
    ):
        with pytest.raises(judge.Fault) as caught:
            judge.check_headers(got, want, "case 0")
        assert caught.value.verdict is Verdict.WRONG


def test_inputs():
    judge.check_inputs((), (), "case 0")
    judge.check_inputs((1,), (0, 1), "case 0")
    with pytest.raises(judge.Fault, match="case 0: it wrote to uploaded buffer 2"):
        judge.check_inputs((1, 2), (1,), "case 0")


@given(ARRAYS)
def test_an_array_agrees_with_itself(array):
    judge.check_same({"y": array}, {"y": array.copy()}, "case 0")


@given(ARRAYS, st.data())
def test_one_changed_bit_is_flaky_unless_both_are_nan(array, data):
    other = array.copy()
    flat = other.reshape(-1).view(np.uint8)
    byte = data.draw(st.integers(0, flat.size - 1))
    flat[byte] ^= 1 << data.draw(st.integers(0, 7))
    changed = byte // array.itemsize
    if np.isnan(array.reshape(-1)[changed]) and np.isnan(other.reshape(-1)[changed]):
        judge.check_same({"y": array}, {"y": other}, "case 0")
    else:
        with pytest.raises(judge.Fault) as caught:
            judge.check_same({"y": array}, {"y": other}, "case 0")
        assert caught.value.verdict is Verdict.FLAKY


def test_signed_zeros_differ_and_nans_do_not():
    zero, nan = np.zeros(1, np.float32), np.array([0x7FC00001], np.uint32).view(np.float32)
    with pytest.raises(judge.Fault):
        judge.check_same({"y": zero}, {"y": -zero}, "case 0")
    judge.check_same({"y": nan}, {"y": np.full(1, np.nan, np.float32)}, "case 0")


def error_of(got, want, error=relative_error):
    return judge.measure_error(
        {"y": np.asarray(got)},
        {"y": np.asarray(want)},
        lambda got, want: error(got["y"], want["y"]),
        "case 0",
    )


@given(ARRAYS)
def test_an_array_has_no_error_against_itself(array):
    with np.errstate(over="ignore"):
        assert error_of(array, array) == 0


@given(hnp.arrays(np.float64, 6, elements=st.floats(-1e6, 1e6)), st.integers(0, 5))
def test_nonfinite_is_a_fault_before_any_comparison(want, index):
    for value in (np.nan, np.inf, -np.inf):
        got = want.copy()
        got[index] = value
        with pytest.raises(judge.Fault, match=rf"at \[{index}\]") as caught:
            error_of(got, want, lambda _got, _want: 0.0)
        assert caught.value.verdict is Verdict.NONFINITE


def test_where_the_reference_is_not_finite_the_output_must_be_the_same():
    want = np.array([1.0, np.nan, np.inf, -np.inf])
    assert error_of(want, want) == 0
    assert error_of([1.5, np.nan, np.inf, -np.inf], want) == 0.5
    for got in ([1, 2, np.inf, -np.inf], [1, np.nan, 2, -np.inf], [1, np.nan, np.inf, np.inf]):
        with pytest.raises(judge.Fault, match="reference is not finite") as caught:
            error_of(got, want)
        assert caught.value.verdict is Verdict.WRONG
    with pytest.raises(judge.Fault) as caught:
        error_of([np.nan, np.nan, np.inf, -np.inf], want)
    assert caught.value.verdict is Verdict.NONFINITE


def test_integers_booleans_scalars_and_nothing():
    assert error_of(np.arange(4), np.arange(4)) == 0
    assert error_of(np.array([True, False]), np.array([True, True])) == 0.5
    assert error_of(np.float32(2.5), np.float32(2.0)) == 0.25
    assert error_of(np.zeros(0), np.zeros(0)) == 0


def test_the_largest_error_counts():
    got = {"a": np.array([1.0]), "b": np.array([3.0])}
    want = {"a": np.array([1.0]), "b": np.array([2.0])}
    assert KernelWorkload().measure(got, want, Case()) == 0.5


@pytest.mark.parametrize(("error", "fine"), [(0.0, True), (1.0, True), (1.1, False)])
def test_tolerance(error, fine):
    if fine:
        judge.check_error(error, 1.0, "case 0")
    else:
        with pytest.raises(judge.Fault, match="is above 1"):
            judge.check_error(error, 1.0, "case 0")
    with pytest.raises(judge.Fault):
        judge.check_error(math.nan, 1.0, "case 0")


def test_an_error_function_that_raises_or_returns_nonsense():
    for bad in (lambda _g, _w: 1 / 0, lambda _g, _w: "much", lambda _g, _w: None):
        with pytest.raises(judge.Fault, match=r"error\(\) raised") as caught:
            error_of([1.0], [1.0], bad)
        assert caught.value.verdict is Verdict.CRASH
