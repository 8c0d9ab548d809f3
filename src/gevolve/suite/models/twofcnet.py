"""Two dense layers that are trained inside the program."""

from typing import Any, ClassVar

import numpy as np

from gevolve.suite.datasets import Images, accuracy, digits, has_mnist, mnist
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.model import ModelWorkload, Source

BATCH, HIDDEN, CLASSES = 32, 64, 10
STARTS = 3
"""A training is judged by so many, which differ in the weights that they start from."""


class TwoFCNet(ModelWorkload):
    """One short training by plain SGD: initial weights and batches in, trained weights out.

    The error is the mean over trainings from three starts, for one may be lucky.
    On MNIST where `GEVOLVE_DATA` has it: one pass over 9,984 images, tested on 5,000 others. Elsewhere
    on the 8x8 digits of the package: ten passes over 896, tested on 448. What is held out starts
    from other weights, trains on other images (of the digits: on the same, in another order), and is
    tested on images that no search has seen.

    The learning rate is the best constant one on MNIST: a rate left too small would let the search
    win by a mere factor in front of the gradient.
    """

    inputs: ClassVar[tuple[str, ...]] = ("weights", "images", "labels")
    in_parts: ClassVar[tuple[str, ...]] = ("weights",)

    def program(self) -> Source:
        from gevolve.suite.models.training import train  # noqa: PLC0415  (JAX loads when needed)

        return train

    def data(self, split: Split) -> Case:
        return self.case(0 if split == "search" else 1)

    def case(self, number: int) -> Case:
        """Trainings on the same batches: number 0 is the search's, 1 is held out, and 2 to 4 are further ones."""
        rng = np.random.default_rng(number)
        batches, unseen = self.on_mnist(rng, number) if has_mnist() else digits_case(rng, number)
        return Case(
            weights=starts(rng, batches.images.shape[-1]),
            images=batches.images,
            labels=batches.labels,
            unseen=unseen.images,
            classes=unseen.labels,
        )

    @staticmethod
    def on_mnist(rng: np.random.Generator, number: int) -> tuple[Images, Images]:
        """What a training sees, in batches, and what it is tested on."""
        count = 312 * BATCH
        train = mnist("train")
        seen = train.part(number * count, count)
        unseen = mnist("t10k").part(0, 10_000) if number else train.part(50_000, 5_000)
        return batched(flat(seen, 255), rng.permutation(count)), flat(unseen, 255)

    def error(self, outputs: Any, data: Case) -> float:
        hidden = np.maximum(data.unseen @ outputs["w1"] + outputs["b1"], 0)
        return 1 - accuracy(hidden @ outputs["w2"] + outputs["b2"], data.classes)


def digits_case(rng: np.random.Generator, number: int) -> tuple[Images, Images]:
    passes, count, tested = 10, 896, 448
    order = np.concatenate([rng.permutation(count) for _ in range(passes)])
    unseen = digits().part(count + (tested if number else 0), tested)
    return batched(flat(digits().part(0, count), 16), order), flat(unseen, 16)


def flat(given: Images, white: int) -> Images:
    """One row of numbers from 0 to 1 for each image."""
    rows = given.images.reshape(len(given.images), -1) / np.float32(white)
    return Images(rows, given.labels)


def batched(rows: Images, order: Array) -> Images:
    images, labels = rows.images[order], rows.labels[order].astype(np.int32)
    return Images(images.reshape(-1, BATCH, images.shape[-1]), labels.reshape(-1, BATCH))


def starts(rng: np.random.Generator, inputs: int) -> dict[str, Array]:
    """The weights of every start, one behind the other."""
    each = [start(rng, inputs) for _ in range(STARTS)]
    return {name: np.stack([one[name] for one in each]) for name in each[0]}


def start(rng: np.random.Generator, inputs: int) -> dict[str, Array]:
    """Random weights that keep the size of what passes through (He and others, 2015)."""

    def layer(rows: int, columns: int) -> Array:
        return (rng.standard_normal((rows, columns)) * np.sqrt(2 / rows)).astype(np.float32)

    return {
        "w1": layer(inputs, HIDDEN),
        "b1": np.zeros(HIDDEN, np.float32),
        "w2": layer(HIDDEN, CLASSES),
        "b2": np.zeros(CLASSES, np.float32),
    }
