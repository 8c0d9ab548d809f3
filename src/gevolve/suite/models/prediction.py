"""What the suite's networks that predict have in common."""

from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from gevolve.suite.datasets import Images, accuracy, cifar10
from gevolve.suite.models import weights
from gevolve.workload.base import Case, Split
from gevolve.workload.model import ModelWorkload, Source


class Prediction(ModelWorkload):
    """A network with trained weights; the error is the share of images that it gets wrong."""

    inputs: ClassVar[tuple[str, ...]] = ("weights", "images")
    in_parts: ClassVar[tuple[str, ...]] = ("images", "labels")
    trained: ClassVar[str]
    """The file with the weights, beside this one."""
    mean: ClassVar[tuple[float, ...]]
    spread: ClassVar[tuple[float, ...]]
    """The mean and standard deviation of the training images, by channel, where white is 1."""
    white: ClassVar[int]
    """The largest value of a pixel."""
    groups: ClassVar[tuple[int, int]]
    """How many groups of images there are, and how many images the program takes at a time."""

    def program(self) -> Source:
        from gevolve.suite.models.network import predict  # noqa: PLC0415  (JAX loads when needed)

        return predict

    def images(self, split: Split) -> Images:
        """The images of a split, none of which the network was trained on, but for those of ``refit``."""
        raise NotImplementedError

    def weights(self) -> dict[str, Any]:
        """The trained weights."""
        return _weights(self.trained)

    @property
    def count(self) -> int:
        """How many images a split has."""
        return self.groups[0] * self.groups[1]

    def data(self, split: Split) -> Case:
        return self.case(self.images(split))

    def case(self, found: Images) -> Case:
        """The case of some images, in groups as large as the program takes."""
        pixels = self.normal(found.images)
        return Case(
            weights=self.weights(),
            images=pixels.reshape(-1, self.groups[1], *pixels.shape[1:]),
            labels=found.labels.reshape(-1, self.groups[1]),
        )

    def normal(self, images: Any) -> Any:
        """The images as the network takes them: mean 0 and spread 1, as the training images have."""
        spread = np.asarray(self.spread, np.float32)
        return (images / np.float32(self.white) - np.asarray(self.mean, np.float32)) / spread

    def error(self, outputs: Any, data: Case) -> float:
        return 1 - accuracy(outputs, data.labels)

    def loss(self, outputs: Any, data: Case) -> Any:
        from gevolve.suite.models.network import cross_entropy  # noqa: PLC0415  (JAX loads when needed)

        return cross_entropy(outputs, data.labels)


class CifarPrediction(Prediction):
    """One on CIFAR-10: the first thousand test images choose, the second thousand check what was chosen.

    Weights are re-fit on ten thousand of the training images.
    """

    mean = (0.4914, 0.4822, 0.4465)
    spread = (0.2470, 0.2435, 0.2616)
    white = 255
    groups = (100, 10)

    def images(self, split: Split) -> Images:
        if split == "refit":
            return cifar10("data_batch_1")
        return cifar10("test_batch").part(0 if split == "search" else self.count, self.count)


@lru_cache(2)
def _weights(name: str) -> dict[str, Any]:
    return weights.load(Path(__file__).parent / name)
