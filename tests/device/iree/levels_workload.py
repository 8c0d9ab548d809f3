"""Two layers, small enough for a search of both levels in a test."""

import numpy as np

import gevolve


def two_layers(x, w, v):
    import jax.numpy as jnp

    return jnp.maximum(x @ w, 0) @ v


class TwoLayers(gevolve.ModelWorkload):
    def program(self):
        return two_layers

    def data(self, split):
        rng = np.random.default_rng(split != "search")
        x, w, v = (
            rng.normal(size=shape).astype(np.float32) for shape in ((32, 24), (24, 16), (16, 8))
        )
        return gevolve.Case(x=x, w=w, v=v, want=np.maximum(x @ w, 0) @ v)

    def error(self, outputs, data):
        return float(np.abs(outputs - data.want).max() / np.abs(data.want).max())
