"""Functions that the compiler has inlined are known by what they compute, and computed by the hardware."""

import re

import numpy as np
import pytest

from gevolve.device.sim import Sim
from gevolve.ir.llvm import load
from gevolve.ir.llvm.codegen import to_ptx
from gevolve.ir.llvm.recognize import calls

CALLS = {
    "expf(x)": ("exp", "1.4426950408889634"),
    "exp2f(-x)": None,  # the hardware's already
    "__expf(x)": None,
    "exp10f(x)": ("exp", "3.321928094887362"),
    "logf(x)": ("log", "0.6931471805599453"),
    "log10f(x)": ("log", "0.3010299956639812"),
    "sinf(x)": ("sin", "1.0"),
    "cosf(x)": ("cos", "1.0"),
    "tanf(x)": ("tan", "1.0"),
    "tanhf(x)": ("tanh", "1.0"),
    "powf(x, y)": ("pow", "y"),
    "powf(x, 1.7f)": ("pow", "1.7"),
    "powf(x, 4.0f)": ("pow", "4.0"),
    "powf(2.5f, x)": ("exp", None),
    "erff(x)": None,
    "x * x * x * x * x * x * x + y": None,
    "exp(d)": ("exp", "1.4426950408889634"),
    "pow(d, 2.5)": ("pow", "2.5"),
}
KERNEL = """
extern "C" __global__ void k{number}(float *out, const float *in, double *twice)
{{
    float x = in[threadIdx.x], y = in[threadIdx.x + 32];
    double d = twice[threadIdx.x];
    {result}[threadIdx.x] = {call};
}}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("calls") / "k.cu"
    path.write_text(
        "".join(
            KERNEL.format(number=n, call=call, result="twice" if "d" in call else "out")
            for n, call in enumerate(CALLS)
        )
    )
    return load(path)


def found_in(program, number):
    index = program._index
    return [
        call
        for call in calls(program.sites(None))
        if index.functions[index.function_of[index.block_of[call.value]]].name == f"k{number}"
    ]


@pytest.mark.parametrize("number", range(len(CALLS)), ids=list(CALLS))
def test_what_is_computed(program, number):
    wanted = list(CALLS.values())[number]
    found = found_in(program, number)
    if wanted is None:
        assert not found
        return
    (call,) = found
    assert call.function == wanted[0]
    if wanted[1] == "y":
        assert {program._index.instr[one].opcode for one in (call.x, call.other)} == {"load"}
    elif wanted[1] is not None:
        assert call.other == wanted[1]


def test_a_branch_that_never_ran_is_still_part_of_its_function(program):
    """Large angles have code of their own, which a profile knows as never run."""
    profile = dict.fromkeys(program._index.body, 1.0)
    index = program._index
    cold = [
        block
        for block, body in index.body.items()
        if any("two_over_pi" in index.instr[id_].text for id_ in body)
    ]
    assert cold
    patches = program.sweep(["hardware"], profile | dict.fromkeys(cold, 0.0))
    assert {"sin", "cos", "tan"} <= {edit.args[1] for patch in patches for edit in patch}


def test_all_at_once_are_by_the_hardware(program):
    before = to_ptx(program.text)
    patch = program.sweep(["hardware"], None)[0]
    variant = program.apply(patch)
    assert not variant.skipped
    assert program.verify(variant.text) is None
    after = to_ptx(variant.text)
    assert "sin.approx" in after
    assert "sin.approx" not in before
    assert after.count("\n") < 0.5 * before.count("\n")


SHARED = """
extern "C" __global__ void k(float *out, const float *in)
{
    float x = in[threadIdx.x], s, c;
    sincosf(x, &s, &c);
    out[threadIdx.x] = s * c;
    out[threadIdx.x + 32] = sinf(in[threadIdx.x + 64]) + cosf(in[threadIdx.x + 64]);
}
"""


def test_a_sine_and_its_cosine_are_one_edit(tmp_path):
    path = tmp_path / "k.cu"
    path.write_text(SHARED)
    program = load(path)
    assert [call.function for call in calls(program.sites(None))] == ["sincos", "sincos"]
    (one, *_) = program.sweep(["hardware"], None)[1:]
    form = program.source_form(one, SHARED, str(path))
    assert re.search(r"__(sincosf|sinf|cosf)\(", form.text), form.left


def test_results_are_those_of_the_function(program):
    """The hardware's own results, run by the simulator, against NumPy's."""
    x = np.linspace(0.1, 40, 64).astype(np.float32)
    y = np.linspace(-1, 3, 64).astype(np.float32)
    wanted = {"sinf(x)": np.sin, "cosf(x)": np.cos, "logf(x)": np.log, "tanhf(x)": np.tanh}
    names = list(CALLS)
    variant = program.apply(program.sweep(["hardware"], None)[0])
    ptx = to_ptx(variant.text).encode()
    gpu = Sim().open(ptx)
    try:
        twice = gpu.array(np.ones(32))
        for call, function in wanted.items():
            out = gpu.empty(32)
            gpu.launch(f"k{names.index(call)}", 1, 32, out, gpu.array(x), twice)
            np.testing.assert_allclose(out.get(), function(x[:32].astype(np.float64)), atol=2e-6)
        out, both = gpu.empty(32), gpu.array(np.concatenate([x[:32], y[:32]]))
        gpu.launch(f"k{names.index('powf(x, y)')}", 1, 32, out, both, twice)
        np.testing.assert_allclose(out.get(), x[:32].astype(np.float64) ** y[:32], rtol=1e-5)
    finally:
        gpu.close()
