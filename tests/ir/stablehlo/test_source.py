"""Programs come in from functions and files of every form; what cannot be used says why in a line."""

import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax
from jax.extend.mlir.dialects import stablehlo as dialect

from gevolve.errors import SourceError, UnsupportedError, WorkloadError
from gevolve.ir import stablehlo
from gevolve.ir.stablehlo import mlir

FIXTURES = Path(__file__).parent / "fixtures"
ADD = "func.func @{name}(%a: tensor<3xf32>) -> tensor<3xf32> {{\n  {body}\n  return %0 : tensor<3xf32>\n}}\n"
PLUS = "%0 = stablehlo.add %a, %a : tensor<3xf32>"


def write(tmp_path, text, name="program.mlir"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def model(weights, x, unused):
    for w in weights["layers"]:
        x = jnp.tanh(x @ w)
    return {"y": x, "mean": jnp.where(x > 0, x, 0).mean()}


ARGUMENTS = [
    {"layers": [np.ones((4, 4), np.float32)] * 2},
    np.ones((2, 4), np.float32),
    np.zeros(3, np.int32),
]


def test_a_function_keeps_the_arguments_that_it_does_not_use():
    program = stablehlo.load(model, ARGUMENTS)
    assert "%a3: tensor<3xi32>" in program.text
    assert "call @" not in program.text
    assert program.text.count("func.func") == 1


def test_places_are_lines_of_the_function_alone():
    program = stablehlo.load(model, ARGUMENTS)
    places = {line.split(" = ")[0] for line in program.text.splitlines() if line.startswith("//")}
    line = model.__code__.co_firstlineno + 2
    assert f"// {Path(__file__).name}:{line}" in places
    assert "// weights['layers'][0]" in places
    assert not any(place.startswith("// source.py") for place in places)


def test_every_form_of_a_file_is_the_same_program(tmp_path):
    lowered = jax.jit(model, keep_unused=True).lower(*ARGUMENTS)
    module = lowered.compiler_ir("stablehlo")
    own = mlir.parse(mlir.bytecode(module.operation))
    version = dialect.get_current_version()
    files = [
        write(tmp_path, lowered.as_text(), "text.mlir"),
        write(tmp_path, lowered.as_text(debug_info=True), "places.mlir"),
        write(tmp_path, mlir.bytecode(own), "bytecode.mlirbc"),
        write(tmp_path, dialect.serialize_portable_artifact_str(lowered.as_text(), version), "p"),
    ]
    default = ", precision = [DEFAULT, DEFAULT]"  # which a portable artifact leaves out
    want = stablehlo.load(model, ARGUMENTS).text.replace(default, "")
    for path in files:
        text = stablehlo.load(path, ARGUMENTS).text.replace(default, "")
        assert stablehlo.canonical(text) == stablehlo.canonical(want), path.name


@pytest.mark.parametrize("platform", ["cpu", "tpu"])
def test_an_exported_artefact_gets_back_the_arguments_that_export_dropped(tmp_path, platform):
    exported = export.export(jax.jit(model), platforms=(platform,))(*ARGUMENTS)
    assert len(exported.module_kept_var_idx) == 3
    program = stablehlo.load(write(tmp_path, bytes(exported.serialize()), "model.bin"), ARGUMENTS)
    assert "%a3: tensor<3xi32>" in program.text
    assert program.verify(program.text) is None


def test_an_artefact_for_several_platforms_is_taken_for_the_cpu(tmp_path):
    def by_platform(x, unused):
        return lax.platform_dependent(x, tpu=jnp.sin, cpu=jnp.cos)

    arguments = [np.ones(3, np.float32), np.ones(2, np.int32)]
    exported = export.export(jax.jit(by_platform), platforms=("tpu", "cpu"))(*arguments)
    program = stablehlo.load(write(tmp_path, bytes(exported.serialize()), "m.bin"), arguments)
    assert "@main(%a0: tensor<3xf32>, %a1: tensor<2xi32>)" in program.text
    assert "constant dense<1> : tensor<i32>" in program.text
    assert program.verify(program.text) is None


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("", SourceError, "program.mlir: the file is empty"),
        ("some words", SourceError, "program.mlir: not MLIR: "),
        (b"\x00\x01\xff", SourceError, "program.mlir: neither MLIR nor a jax.export artefact"),
        (b"ML\xefR\x01\x02", SourceError, "program.mlir: "),
        (
            ADD.format(name="main", body="%0 = stablehlo.add %a, %b : tensor<3xf32>"),
            SourceError,
            "program.mlir:2: use of undeclared SSA value name",
        ),
        (
            ADD.format(name="main", body="%0 = linalg.abs %a : tensor<3xf32>"),
            UnsupportedError,
            "program.mlir:2: the dialect 'linalg' is not supported",
        ),
        (
            ADD.format(name="main", body='%0 = "foo.bar"(%a) : (tensor<3xf32>) -> tensor<3xf32>'),
            UnsupportedError,
            "program.mlir:2: the dialect 'foo' is not supported",
        ),
        (
            ADD.format(name="main", body="%0 = arith.addf %a, %a : tensor<3xf32>"),
            UnsupportedError,
            "program.mlir: arith.addf is of the dialect 'arith'",
        ),
        (
            ADD.format(name="main", body=PLUS).replace("3xf32", "?xf32"),
            UnsupportedError,
            "program.mlir:1: func.func has the dynamic shape tensor<?xf32>",
        ),
        ("module {\n}\n", SourceError, "program.mlir: there is no function in it"),
        (
            ADD.format(name="f", body=PLUS) + ADD.format(name="g", body=PLUS),
            SourceError,
            "program.mlir: no function `main`, several public functions: @f, @g",
        ),
        (
            ADD.format(name="main", body="%0 = call @main(%a) : (tensor<3xf32>) -> tensor<3xf32>"),
            UnsupportedError,
            "program.mlir: @main calls itself",
        ),
        (
            ADD.format(
                name="main",
                body="%0 = stablehlo.custom_call @f(%a) : (tensor<3xf32>) -> tensor<3xf32>",
            ),
            UnsupportedError,
            "program.mlir: there is nothing to edit: all it does is stablehlo.custom_call",
        ),
        (
            "func.func @main(%a: tensor<3xf32>) -> tensor<3xf32> {\n  return %a : tensor<3xf32>\n}",
            UnsupportedError,
            "program.mlir: there is nothing to edit: it computes nothing",
        ),
    ],
)
def test_what_cannot_be_loaded_says_why_in_one_line(tmp_path, text, error, message):
    with pytest.raises(error) as raised:
        stablehlo.load(write(tmp_path, text))
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)


def test_a_file_that_is_not_there():
    with pytest.raises(SourceError, match=r"nowhere\.mlir: No such file"):
        stablehlo.load("nowhere.mlir")


def test_the_only_public_function_is_main(tmp_path):
    program = stablehlo.load(write(tmp_path, ADD.format(name="forward", body=PLUS)))
    assert "@main(%a0: tensor<3xf32>)" in program.text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "program.mlir takes 1 arrays, the arguments hold 0; it wants tensor<3xf32>"),
        (
            [{"w": np.zeros(4, np.float32)}],
            "program.mlir: argument 0['w'] is tensor<4xf32>, the program takes tensor<3xf32> there",
        ),
        (
            [np.zeros(3, np.int64)],
            "program.mlir: argument 0 is tensor<3xi64>, the program takes tensor<3xf32> there",
        ),
        (["text"], "argument 0 is 'text'; a program takes arrays and numbers"),
    ],
)
def test_arguments_that_do_not_match_say_which_and_why(tmp_path, arguments, message):
    path = write(tmp_path, ADD.format(name="main", body=PLUS))
    with pytest.raises(WorkloadError) as raised:
        stablehlo.load(path, arguments)
    assert str(raised.value) == message


def test_a_function_that_cannot_be_traced():
    with pytest.raises(WorkloadError, match="model cannot be traced by JAX: TypeError"):
        stablehlo.load(model, [1.0])
    with pytest.raises(WorkloadError, match="needs example arguments"):
        stablehlo.load(model)


def test_nested_calls_are_inlined_in_loops_too():
    inner = jax.jit(lambda x: jnp.sin(x) * 2)
    middle = jax.jit(lambda x: inner(x) + inner(x + 1))

    def outer(x):
        return lax.while_loop(lambda s: s.sum() < 10, middle, middle(x))

    program = stablehlo.load(outer, [np.ones(3, np.float32)])
    assert "call @" not in program.text
    assert program.text.count("stablehlo.sine") == 4


def test_64_bit_arrays_are_as_jax_or_the_file_has_them(tmp_path):
    path = write(tmp_path, ADD.format(name="main", body=PLUS).replace("f32", "i64"))
    array = np.zeros(3, np.int64)
    assert stablehlo.load(path, [array]).text.count("tensor<3xi64>") == 4
    assert stablehlo.flatten([array], path)[0].dtype == np.int64
    assert stablehlo.flatten([array], model)[0].dtype == np.int32
    assert stablehlo.flatten([2.5, True])[0].dtype == np.float32


def test_results_come_back_in_the_form_of_the_source():
    results = [np.float32(1), np.zeros((2, 4))]
    found = stablehlo.unflatten(results, model, ARGUMENTS)
    assert set(found) == {"y", "mean"}
    assert found["mean"] is results[0]
    assert stablehlo.unflatten(results[:1], "program.mlir", []) is results[0]
    assert stablehlo.unflatten(results, "program.mlir", []) == tuple(results)


NO_BACKEND = """
import os, sys
from pathlib import Path
import numpy as np
from gevolve.ir import stablehlo
from gevolve.patch import Patch
from jax._src import xla_bridge

def work():
    edits = [program.propose(kind, np.random.default_rng(1), None) for kind in program.kinds]
    edits = [edit for edit in edits if edit is not None]
    variant = program.apply(Patch(tuple(edits)))
    assert program.verify(variant.text) is None
    return stablehlo.canonical(variant.text)

program = stablehlo.restore(Path(sys.argv[1]).read_text())
here = work()
assert stablehlo.unflatten([1], lambda x: x * 2, [np.zeros(3)]) == 1
assert not xla_bridge.backends_are_initialized()
child = os.fork()
if not child:
    os._exit(0 if work() == here else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


@pytest.mark.slow
def test_a_worker_restores_and_edits_without_a_backend_and_may_fork():
    subprocess.run([sys.executable, "-c", NO_BACKEND, FIXTURES / "lstm.mlir"], check=True)
