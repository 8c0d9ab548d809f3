"""Models do what every program must do."""

from pathlib import Path

import jax.numpy as jnp
import numpy as np
from jax import lax

from gevolve.ir import stablehlo
from gevolve.testing.programs import ProgramConformance

FIXTURES = Path(__file__).parent / "fixtures"


def descend(x, w):
    def step(_, w):
        return w - 0.25 * jnp.tanh(x @ w)

    return lax.fori_loop(0, 8, step, w)


class TestFunction(ProgramConformance):
    def load(self):
        return stablehlo.load(descend, [np.ones((4, 4), np.float32), np.ones(4, np.float32)])

    def restore(self, text):
        return stablehlo.restore(text)


class TestFile(ProgramConformance):
    def load(self):
        return stablehlo.load(FIXTURES / "resnet.mlir")

    def restore(self, text):
        return stablehlo.restore(text)
