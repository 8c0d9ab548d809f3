"""A small network that predicts, with what `--refit` needs, and some that lack it."""

from typing import ClassVar

import jax
import numpy as np

import gevolve

RNG = np.random.default_rng(7)
CENTRES = RNG.normal(size=(4, 16)).astype(np.float32)
WEIGHTS = {
    "first": np.eye(16, dtype=np.float32),
    "second": CENTRES.T.copy(),
    "bias": -(CENTRES**2).sum(1) / 2,
}


def predict(weights, rows):
    hidden = jax.numpy.maximum(rows @ weights["first"] + 4, 0) - 4
    return jax.numpy.tanh(hidden + rows) @ weights["second"] + weights["bias"]


class Fitted(gevolve.ModelWorkload):
    """Judged by rows around four centres; re-fit on others."""

    in_parts = ("rows", "labels")
    seeds: ClassVar = {"search": 1, "held-out": 2, "refit": 3}

    def program(self):
        return predict

    def data(self, split):
        rng = np.random.default_rng(self.seeds[split])
        labels = rng.integers(0, 4, (12, 32))
        rows = CENTRES[labels] + 1.2 * rng.normal(size=(12, 32, 16))
        return gevolve.Case(weights=WEIGHTS, rows=rows.astype(np.float32), labels=labels)

    def error(self, outputs, data):
        return float(np.mean(outputs.argmax(-1) != data.labels))

    def loss(self, outputs, data):
        scores = jax.nn.log_softmax(outputs)
        return -jax.numpy.take_along_axis(scores, data.labels[:, None], -1).mean()


class Overlapping(Fitted):
    """Would learn the answers by heart."""

    seeds: ClassVar = {"search": 1, "held-out": 2, "refit": 2}


class Unprepared(Fitted):
    """Has no data to re-fit on."""

    seeds: ClassVar = {"search": 1, "held-out": 2}


def predict_by_itself(rows):
    return predict(WEIGHTS, rows)


class Constant(Fitted):
    """Has its weights in the program."""

    def program(self):
        return predict_by_itself


def loop(weights, rows):
    return jax.lax.fori_loop(0, 2, lambda _, y: y * 0.5, predict(weights, rows))


class Looping(Fitted):
    """Has no gradient."""

    def program(self):
        return loop
