"""What the device `xla:cpu` must do, as checks that take one.

JAX does not survive a fork, so none of this may run in the process of the other tests:
``python -m tests.device.xla.checks`` runs all checks and prints what went wrong with each, as JSON.
"""

import json
import sys
import traceback
from pathlib import Path
from unittest import mock

import ml_dtypes
import numpy as np
import pytest

from gevolve.device.base import Limits, Stopped
from gevolve.device.xla import Xla
from gevolve.device.xla.client import Client
from gevolve.device.xla.outputs import Outputs
from gevolve.errors import CompileError, DeviceError, LaunchError, SourceError, WorkloadError
from tests.ir.stablehlo import test_pieces

CHECKS = {}
X = np.arange(12, dtype=np.float32).reshape(3, 4)


def check(function):
    CHECKS[function.__name__] = function
    return function


def program(body, takes="%a: tensor<3x4xf32>, %b: tensor<3x4xf32>", gives="tensor<3x4xf32>"):
    return f"module {{ func.func public @main({takes}) -> ({gives}) {{\n{body}\n}} }}"


def unary(kind, operation="stablehlo.add %a, %a"):
    return program(f"%r = {operation} : {kind}\nreturn %r : {kind}", f"%a: {kind}", kind)


SUM = program("%r = stablehlo.add %a, %b : tensor<3x4xf32>\nreturn %r : tensor<3x4xf32>")


@check
def a_program_runs(device):
    run = device.open(device.build(SUM), Limits())
    (got,) = run(X, X + 1)
    assert np.array_equal(got, X + X + 1)
    assert got.dtype == np.float32
    usage = run.usage()
    assert usage.time > 0
    assert usage.launches == 1
    assert usage.memory == 3 * X.nbytes
    run(X, X)
    assert run.usage().launches == 2


@check
def what_is_compiled_in_haste_is_the_same_program(device):
    """Its fingerprint, its modelled time and what it gives do not depend on how well it is compiled."""
    body = "%r = stablehlo.exponential %a : tensor<3x4xf32>\n%s = stablehlo.add %r, %b : tensor<3x4xf32>"
    artefact = device.build(program(f"{body}\nreturn %s : tensor<3x4xf32>"))
    hasty, other = Xla("cpu"), Xla("cpu")
    hasty.hasten()
    hasty.prepare_sketch(artefact)
    assert hasty.sketches
    assert not hasty._compiled  # neither needs more
    assert hasty.fingerprint(artefact)
    first = hasty.modelled(artefact)
    (sketched,) = hasty.open_sketch(artefact, Limits())(X, X)
    assert not hasty._compiled
    (soon,) = hasty.open(artefact, Limits())(X, X)
    (full,) = device.open(artefact, Limits())(X, X)
    assert np.allclose(sketched, full, rtol=1e-6)
    assert np.allclose(soon, full, rtol=1e-6)
    assert first == device.modelled(artefact)
    other.hasten()
    other.prepare(artefact, ())
    assert other.modelled(artefact) == first
    assert other.fingerprint(artefact) == hasty.fingerprint(artefact)


@check
def fixed_arrays_are_compared_once_and_others_always(device):
    run = device.open(device.build(SUM), Limits())
    fixed, moving = X.copy(), X.copy()
    fixed.setflags(write=False)
    for step in range(3):
        moving += 1
        (got,) = run(fixed, moving)
        assert np.array_equal(got, 2 * X + 1 + step)
    fixed = fixed + 5  # another array in its place
    assert np.array_equal(run(fixed, moving)[0], 2 * X + 8)


@check
def several_results_come_in_order(device):
    text = program(
        "%r = stablehlo.add %a, %b : tensor<3x4xf32>\n%z = stablehlo.constant dense<7> : tensor<i32>\n"
        "return %z, %r, %a : tensor<i32>, tensor<3x4xf32>, tensor<3x4xf32>",
        gives="tensor<i32>, tensor<3x4xf32>, tensor<3x4xf32>",
    )
    seven, added, first = device.open(device.build(text), Limits())(X, X)
    assert seven == 7
    assert np.array_equal(added, X + X)
    assert np.array_equal(first, X)


@check
def all_kinds_of_numbers_pass(device):
    for name, array in {
        "f64": np.array([1.0, 1e300]),
        "i64": np.array([1, 2**60]),
        "ui8": np.array([1, 200], np.uint8),
        "bf16": np.array([1, 3], ml_dtypes.bfloat16),
        "f16": np.array([1, 3], np.float16),
        "complex<f32>": np.array([1j, 3], np.complex64),
        "complex<f64>": np.array([1j, 1e300]),
    }.items():
        (got,) = device.open(device.build(unary(f"tensor<2x{name}>")), Limits())(array)
        assert got.dtype == array.dtype, name
        assert np.array_equal(got, array + array), name
    truth = unary("tensor<2xi1>", "stablehlo.not %a")
    assert list(device.open(device.build(truth), Limits())([True, False])[0]) == [False, True]


@check
def plain_numbers_take_the_type_of_the_program(device):
    run = device.open(device.build(unary("tensor<f32>")), Limits())
    assert run(1.5) == [np.float32(3)]
    assert run(2)[0].dtype == np.float32
    assert device.open(device.build(unary("tensor<i64>")), Limits())(2**40) == [2**41]


@check
def empty_and_strided_arrays_pass(device):
    run = device.open(device.build(unary("tensor<0x4xf32>")), Limits())
    assert run(np.zeros((0, 4), np.float32))[0].shape == (0, 4)
    run = device.open(device.build(SUM), Limits())
    turned = np.asfortranarray(X)
    assert np.array_equal(run(turned, X[::-1])[0], X + X[::-1])


@check
def inputs_stay_as_they_are(device):
    """Even where a program takes over the memory of its argument."""
    kind = "tensor<64x64xf32>"
    text = unary(kind).replace(f"%a: {kind}", f"%a: {kind} {{tf.aliasing_output = 0 : i32}}")
    run = device.open(device.build(text), Limits())
    array = np.random.default_rng(0).random((64, 64), np.float32)
    before = array.copy()
    for _ in range(3):
        assert np.array_equal(run(array)[0], before + before)
        assert np.array_equal(array, before)


@check
def an_array_that_was_changed_is_sent_again(device):
    run = device.open(device.build(SUM), Limits())
    array = X.copy()
    assert np.array_equal(run(array, X)[0], X + X)
    array += 1
    assert np.array_equal(run(array, X)[0], X + X + 1)
    array[0, 0] = np.nan
    assert np.isnan(run(array, X)[0][0, 0])


@check
def results_do_not_change_later(device):
    run = device.open(device.build(SUM), Limits())
    first = run(X, X)[0]
    kept = first.copy()
    for scale in range(5):
        run(X * scale, X)
    assert np.array_equal(first, kept)


@check
def wrong_arguments_are_refused(device):
    run = device.open(device.build(SUM), Limits())
    for arguments, message in {
        "none": ((), "takes 2 arrays, not 0"),
        "three": ((X, X, X), "takes 2 arrays, not 3"),
        "shape": ((X, X[:2]), r"argument 1 of the program is float32\[3, 4\], not float32\[2, 4\]"),
        "type": ((X.astype(int), X), r"argument 0 .* not int64\[3, 4\]"),
        "text": ((X, "x"), "argument 1"),
        "scalar": ((X, 1.0), r"argument 1 .* not float32\[\]"),
    }.values():
        with pytest.raises(LaunchError, match=message) as caught:
            run(*arguments)
        assert "\n" not in str(caught.value)
    assert run.usage().launches == 0


@check
def what_does_not_compile_says_why(device):
    with pytest.raises(
        CompileError, match=r"^MLIR rejects it: use of undeclared SSA value"
    ) as caught:
        device.build(SUM.replace("%b :", "%c :"))
    assert "\n" not in str(caught.value)
    call = "%r = stablehlo.custom_call @nowhere(%a) : (tensor<3x4xf32>) -> tensor<3x4xf32>"
    artefact = device.build(program(f"{call}\nreturn %r : tensor<3x4xf32>"))
    with pytest.raises(SourceError, match=r"^XLA does not compile it: .*nowhere") as caught:
        device.prepare(artefact, ())
    assert "\n" not in str(caught.value)
    with pytest.raises(SourceError, match="XLA does not compile it"):
        device.prepare(b"nonsense", ())


@check
def limits_hold(device):
    artefact = device.build(SUM)
    with pytest.raises(Stopped, match="needs 144 bytes, allowed are 100") as caught:
        device.open(artefact, Limits(memory=100))(X, X)
    assert caught.value.verdict == "memory"
    run = device.open(artefact, Limits(launches=2))
    run(X, X)
    run(X, X)
    with pytest.raises(Stopped, match="more than 2 runs") as caught:
        run(X, X)
    assert caught.value.verdict == "fuel"


@check
def a_closed_executable_is_closed(device):
    run = device.open(device.build(SUM), Limits())
    run.close()
    with pytest.raises(LaunchError, match="closed"):
        run(X, X)


@check
def the_same_after_xla_has_one_fingerprint(device):
    kind = "tensor<3x4xf32>"

    def fingerprint(body):
        return device.fingerprint(device.build(program(f"{body}\nreturn %r : {kind}")))

    plain = fingerprint(f"%r = stablehlo.add %a, %b : {kind}")
    turned = "stablehlo.transpose {}, dims = [1, 0] : (tensor<{}xf32>) -> tensor<{}xf32>"
    twice = fingerprint(
        f"%s = {turned.format('%a', '3x4', '4x3')}\n%t = {turned.format('%s', '4x3', '3x4')}\n"
        f"%r = stablehlo.add %t, %b : {kind}"
    )
    assert plain == twice
    assert len({plain, fingerprint(f"%r = stablehlo.multiply %a, %b : {kind}")}) == 2
    # Constants count, also those that XLA does not print by default.
    rows = "[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, {}]"
    one, other = (
        fingerprint(
            f"%c = stablehlo.constant dense<[{rows.format(last)}]> : {kind}\n"
            f"%r = stablehlo.multiply %a, %c : {kind}"
        )
        for last in ("11.0", "12.0")
    )
    assert one != other


@check
def which_computation_is_called_counts(device):
    """Of two loops, one doubles and one squares: three calls of them in two ways."""
    kind = "tensor<3x4xf32>"

    def loop(name, operation, given):
        return (
            f"%{name}:2 = stablehlo.while(%i = %a, %n = %{given}) : {kind}, {kind}\n"
            "cond {\n%z = stablehlo.constant dense<9.0> : tensor<f32>\n"
            f"%s = stablehlo.reduce(%n init: %z) applies stablehlo.maximum across dimensions = [0, 1]"
            f" : ({kind}, tensor<f32>) -> tensor<f32>\n"
            "%t = stablehlo.compare LE, %s, %z : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
            "stablehlo.return %t : tensor<i1>\n} do {\n"
            f"%m = stablehlo.{operation} %n, %n : {kind}\n"
            f"stablehlo.return %i, %m : {kind}, {kind}\n}}\n"
        )

    def fingerprint(*operations):
        given, body = "b", ""
        for number, operation in enumerate(operations):
            body += loop(f"w{number}", operation, given)
            given = f"w{number}#1"
        return device.fingerprint(device.build(program(f"{body}return %{given} : {kind}")))

    one = fingerprint("add", "multiply", "multiply")
    assert one == fingerprint("add", "multiply", "multiply")
    assert (
        len({one, fingerprint("add", "add", "multiply"), fingerprint("multiply", "add", "add")})
        == 3
    )


@check
def what_is_kept_stays_and_others_go(device):
    own = Xla("cpu")
    artefacts = [device.build(unary(f"tensor<{size}xf32>")) for size in range(1, 13)]
    own.keep(artefacts[1])
    made = {artefact: own._get(artefact) for artefact in artefacts}
    assert own._get(artefacts[1]) is made[artefacts[1]]
    assert own._get(artefacts[-2]) is made[artefacts[-2]]
    assert len(own._compiled) == 5


@check
def large_constants_are_not_folded(device):
    """Else XLA would compute this sum of 1e12 numbers before it is asked to."""
    text = program(
        "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
        "%i = stablehlo.iota dim = 0 : tensor<4000x4000xf32>\n"
        '%w = "stablehlo.reduce_window"(%i, %z) <{window_dimensions = array<i64: 999, 999>}> ({\n'
        "^bb0(%p: tensor<f32>, %q: tensor<f32>):\n%l = stablehlo.add %p, %q : tensor<f32>\n"
        "stablehlo.return %l : tensor<f32>\n"
        "}) : (tensor<4000x4000xf32>, tensor<f32>) -> tensor<3002x3002xf32>\n"
        "return %w : tensor<3002x3002xf32>",
        "",
        "tensor<3002x3002xf32>",
    )
    device.prepare(device.build(text), ())


@check
def costs_are_known(device):
    cost = device.cost(device.build(SUM), print, Limits())
    assert cost.terms == {"flops": X.size, "bytes": 3 * X.nbytes}
    assert not cost.additive


@check
def a_program_in_pieces_gives_what_the_whole_does(device):
    x, *weights = (
        np.random.default_rng(n).normal(size=(4, 4)).astype(np.float32) for n in range(4)
    )
    for text, arguments in (
        (test_pieces.network(3), (x, *weights)),
        (test_pieces.network(3, last="r"), (x, *weights)),
        (test_pieces.LOOP, (x, np.int32(5))),
    ):
        artefact = device.build(text)
        (want,) = device.open(artefact, Limits())(*arguments)
        handle = Outputs().open(artefact, Limits())
        (got,) = handle(*arguments)
        assert np.allclose(got, want, rtol=1e-5)
        assert handle.usage().memory >= 3 * x.nbytes


@check
def a_variant_has_only_its_own_pieces_compiled(device):
    outputs, compiled = Outputs(), []
    whole = Client.compile
    with mock.patch.object(
        Client, "compile", lambda *given: compiled.append(given) or whole(*given)
    ):
        for text, new in (
            (test_pieces.network(6), 1),
            (test_pieces.network(6).replace("maximum %p3", "minimum %p3"), 1),
            (test_pieces.network(6).replace("maximum %p5", "minimum %p5"), 0),
            (test_pieces.network(7), 0),
        ):
            compiled.clear()
            outputs.prepare(device.build(text))
            assert len(compiled) == new


@check
def one_thread_does_the_work(device):
    """So that the time of a run hardly depends on what else the machine does."""

    names = [path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")]
    assert names.count("tf_XLAEigen") <= 1


@check
def what_is_not_there_is_named(device):
    with pytest.raises(DeviceError, match=r"^JAX finds no gpu here; use xla:cpu") as caught:
        Xla("gpu:0").prepare(device.build(SUM), ())
    assert "\n" not in str(caught.value)


@check
def a_process_that_computes_cannot_fork(device):
    device.prepare(device.build(SUM), ())
    with pytest.raises(WorkloadError, match="does not survive a fork"):
        device.check_fork()


if __name__ == "__main__":
    fresh = Xla("cpu")
    fresh.check_fork()
    found = {}
    for name, function in CHECKS.items():
        try:
            function(fresh)
            found[name] = ""
        except Exception:  # noqa: BLE001  (whatever a check trips over)
            found[name] = traceback.format_exc()
    json.dump(found, sys.stdout)
