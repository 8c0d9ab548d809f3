"""Two dense layers trained as in the paper on GEVO-ML: one pass at a rate that is too small."""

from typing import ClassVar

import numpy as np

from gevolve.suite.datasets import Images, mnist
from gevolve.suite.models.twofcnet import BATCH, TwoFCNet, batched, flat
from gevolve.workload.model import Source


class TwoFCNetPaper(TwoFCNet):
    """One pass over MNIST in batches of 32 at a constant, small learning rate, which leaves much to be found.

    On MNIST where `GEVOLVE_DATA` has it: 49,984 images, tested on the 10,000 others; what is held out starts from
    other weights, sees the images in another order, and is tested on the test images. Elsewhere on the digits.
    """

    inputs: ClassVar[tuple[str, ...]] = ("weights", "images", "labels")

    def program(self) -> Source:
        from gevolve.suite.models.training import train_slowly  # noqa: PLC0415  (JAX loads when needed)

        return train_slowly

    @staticmethod
    def on_mnist(rng: np.random.Generator, number: int) -> tuple[Images, Images]:
        count = 1562 * BATCH
        train = mnist("train")
        unseen = mnist("t10k").part(0, 10_000) if number else train.part(50_000, 10_000)
        return batched(flat(train.part(0, count), 255), rng.permutation(count)), flat(unseen, 255)
