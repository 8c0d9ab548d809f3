"""A ResNet18 that predicts the classes of CIFAR-10 images, layer by layer."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from gevolve.device.base import Buffer, Gpu
from gevolve.suite.datasets import Images, cifar10
from gevolve.suite.models import weights
from gevolve.suite.sizes import draw
from gevolve.workload.base import Array, Case, Split
from gevolve.workload.kernel import KernelWorkload

BLOCK = 128
CLASSES = 10
MEAN, SPREAD = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)
"""Of the training images, by channel, where white is 1."""
COUNTS: dict[str, tuple[int, int]] = {"search": (1, 2), "held-out": (2, 4), "large": (24, 32)}


class ResNet18(KernelWorkload):
    """Images through a trained network; the error is the share that it puts into the wrong class.

    `GEVOLVE_DATA` must lead to CIFAR-10. Test images that the search sees are in no other case.
    """

    source = "resnet18.cu"
    rounding: ClassVar[float | None] = 0.0
    search_cases = 1

    def images(self) -> Images:
        """What the cases are drawn from."""
        return cifar10("test_batch")

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        found = self.images()
        half = len(found.labels) // 2
        own = np.arange(half) + (0 if size == "search" else half)
        chosen = rng.choice(own, draw(rng, COUNTS[size]), replace=False)
        pixels: Array = (found.images[chosen] / 255 - np.asarray(MEAN)) / np.asarray(SPREAD)
        return Case(
            images=np.ascontiguousarray(pixels.transpose(0, 3, 1, 2), np.float32),
            labels=found.labels[chosen],
        )

    def run(self, gpu: Gpu, case: Case) -> Any:
        net, network = trained(), _Network(gpu, len(case.images))
        x = network.layer(net["stem"], gpu.array(case.images))
        network.relu(x)
        x = network.halved(x)
        for block in net["blocks"]:
            x = network.block(block, x)
        return {"scores": network.scores(net["out"], x).get()}

    def measure(self, got: Mapping[str, Array], want: Mapping[str, Array], case: Case) -> float:  # noqa: ARG002  (labels say what is right)
        wrong: Array = got["scores"].argmax(1) != case.labels
        return np.count_nonzero(wrong) / wrong.size

    def bound(self, unedited: float, tolerance: float) -> float:
        return unedited + tolerance


@lru_cache(1)
def trained() -> dict[str, Any]:
    """The weights that the package ships: `resnet18.md` says how they were made."""
    return weights.load(Path(__file__).with_name("resnet18.npz"))


class _Network:
    """The layers, each launched on the GPU with a thread for each element that comes out."""

    def __init__(self, gpu: Gpu, images: int) -> None:
        self.gpu = gpu
        self.images = images

    def layer(self, layer: dict[str, Array], x: Buffer, stride: int = 1) -> Buffer:
        """A convolution, normalized."""
        outputs, inputs, side, _ = layer["w"].shape
        size = x.shape[2]
        y = self.gpu.empty((self.images, outputs, size // stride, size // stride))
        w = self.gpu.array(layer["w"])
        self.launch("convolution", y, x, w, y, ..., inputs, size, outputs, side, stride)
        norm = [self.gpu.array(layer[name]) for name in ("scale", "b", "mean", "variance")]
        self.launch("batch_norm", y, y, *norm, ..., outputs, (size // stride) ** 2)
        return y

    def relu(self, x: Buffer) -> None:
        self.launch("relu", x, x, ...)

    def halved(self, x: Buffer) -> Buffer:
        """Every second pixel, as the largest of those around it."""
        channels, size = x.shape[1:3]
        y = self.gpu.empty((self.images, channels, size // 2, size // 2))
        self.launch("max_pool", y, x, y, ..., size)
        return y

    def block(self, block: dict[str, Any], x: Buffer) -> Buffer:
        """Two layers, added to what came in; where there is a short cut, they halve the image."""
        short = block.get("short")
        y = self.layer(block["first"], x, 2 if short else 1)
        self.relu(y)
        y = self.layer(block["second"], y)
        self.launch("add", y, y, self.layer(short, x, 2) if short else x, ...)
        self.relu(y)
        return y

    def scores(self, out: dict[str, Array], x: Buffer) -> Buffer:
        """The score of each class."""
        channels, pixels = x.shape[1], x.shape[2] * x.shape[3]
        means = self.gpu.empty((self.images, channels))
        self.launch("mean_pool", means, x, means, ..., pixels)
        scores = self.gpu.empty((self.images, len(out["b"])))
        w, b = self.gpu.array(out["w"]), self.gpu.array(out["b"])
        self.launch("dense", scores, means, w, b, scores, ..., channels, len(out["b"]))
        return scores

    def launch(self, kernel: str, output: Buffer, *arguments: Any) -> None:
        """Launch a kernel over an output; ``...`` stands for how many elements that has."""
        count = int(np.prod(output.shape))
        given = [count if argument is ... else argument for argument in arguments]
        self.gpu.launch(kernel, -(-count // BLOCK), BLOCK, *given)
