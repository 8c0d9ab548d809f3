"""Programs from elsewhere: torch-mlir's constants, LAPACK's calls, callbacks, symbolic shapes, PyTorch itself."""

import subprocess
import sys

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest

from gevolve.device.xla import Xla
from gevolve.errors import UnsupportedError
from gevolve.ir.stablehlo import load, restore

TORCH_MLIR = """module {
  func.func @main(%arg0: tensor<2x2xf32>) -> tensor<2x2xf32> {
    %cst = arith.constant dense<2.000000e+00> : tensor<2x2xf32>
    %w = stablehlo.constant dense_resource<torch_tensor_2_2_torch.float32> : tensor<2x2xf32>
    %0 = stablehlo.multiply %arg0, %cst : tensor<2x2xf32>
    %1 = stablehlo.add %0, %w : tensor<2x2xf32>
    return %1 : tensor<2x2xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_2_2_torch.float32: "0x040000000000803F000000400000404000008040"
    }
  }
#-}
"""


def run(program, *arguments):
    device = Xla("cpu")
    return device.open(device.build(program.text))(*arguments)


def test_constants_of_torch_mlir_are_converted(tmp_path):
    file = tmp_path / "model.mlir"
    file.write_text(TORCH_MLIR)
    (got,) = run(load(file), np.ones((2, 2), np.float32))
    assert got.tolist() == [[3, 4], [5, 6]]


def test_a_program_and_its_text_give_one_artefact(tmp_path):
    file = tmp_path / "model.mlir"
    file.write_text(TORCH_MLIR)
    device, program = Xla("cpu"), load(file)
    assert device.build(restore(program.text).text) == device.build(program.text)


SOLVE = """
import sys
import numpy as np
from gevolve.device.xla import Xla
from gevolve.ir.stablehlo import load

device = Xla("cpu")
(got,) = device.open(device.build(load(sys.argv[1]).text))(np.diag([4.0, 9.0]).astype(np.float32))
assert got.tolist() == [[2, 0], [0, 3]], got
"""


def test_a_factorization_by_lapack_runs_in_a_process_that_has_traced_none(tmp_path):
    file = tmp_path / "cholesky.mlir"
    traced = jax.jit(jnp.linalg.cholesky).lower(np.eye(2, dtype=np.float32))
    file.write_text(traced.as_text())
    assert "lapack" in file.read_text()
    subprocess.run([sys.executable, "-c", SOLVE, file], check=True)


def test_nothing_of_lapack_is_loaded_for_programs_that_call_none_of_it(tmp_path):
    file = tmp_path / "sums.mlir"
    file.write_text(jax.jit(lambda x: x + x).lower(np.eye(2, dtype=np.float32)).as_text())
    script = """
import sys
from gevolve.device.xla import Xla
from gevolve.ir.stablehlo import load

device = Xla("cpu")
device.prepare(device.build(load(sys.argv[1]).text), ())
assert "scipy.linalg" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script, file], check=True)


def test_callbacks_are_refused_in_one_line():
    def shows(x):
        jax.debug.print("{}", x)
        return x + 1

    with pytest.raises(UnsupportedError, match="calls back into Python"):
        load(shows, [np.ones(2, np.float32)])


def test_symbolic_shapes_are_refused_in_one_line(tmp_path):
    shape = jax.export.symbolic_shape("n, 2")
    file = tmp_path / "any.jax"
    one = jax.ShapeDtypeStruct(shape, np.float32)
    file.write_bytes(jax.export.export(jax.jit(lambda x: x + 1))(one).serialize())
    with pytest.raises(UnsupportedError, match="shapes that are not known"):
        load(file)


def adam(weights, inputs, targets):
    def step(_, state):
        w, m, v = state
        slope = jax.grad(lambda w: ((jnp.tanh(inputs @ w) - targets) ** 2).mean())(w)
        m, v = 0.9 * m + 0.1 * slope, 0.999 * v + 0.001 * slope * slope
        return w - 0.01 * m / (jnp.sqrt(v) + 1e-8), m, v

    return jax.lax.fori_loop(0, 20, step, (weights, weights * 0, weights * 0))[0]


def test_the_unedited_program_gives_the_bits_that_jit_gives():
    rng = np.random.default_rng(0)
    arguments = [rng.normal(size=s).astype(np.float32) for s in ((8, 4), (32, 8), (32, 4))]
    options = {"xla_disable_hlo_passes": "constant_folding", "xla_cpu_multi_thread_eigen": False}
    want = jax.jit(adam).lower(*arguments).compile(compiler_options=options)(*arguments)
    (got,) = run(load(adam, arguments), *arguments)
    assert np.array_equal(got, np.asarray(want))


def test_a_pytorch_model_gives_what_pytorch_gives():
    torch = pytest.importorskip("torch")
    from gevolve.torch import from_torch

    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, padding=1),
        torch.nn.BatchNorm2d(8),
        torch.nn.GELU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(128, 10),
    )
    images = torch.randn(2, 3, 8, 8)
    model = from_torch(net, (images,))
    (got,) = run(
        load(model.function, [model.weights, images.numpy()]),
        *[model.weights[name] for name in sorted(model.weights)],
        images.numpy(),
    )
    assert np.allclose(got, net.eval()(images).detach().numpy(), atol=1e-5)


def test_what_ends_a_loop_is_never_skipped():
    def train(w):
        return jax.lax.while_loop(lambda c: c[1] < 7, lambda c: (c[0] * 0.5 + 1, c[1] + 1), (w, 0))

    sites = load(train, [np.ones(3, np.float32)]).sites(None)
    kinds = {sites.index.type[target] for target, _ in sites.bypasses}
    assert kinds == {"tensor<3xf32>"}  # the value's steps, not the counter's
