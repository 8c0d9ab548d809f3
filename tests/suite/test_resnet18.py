"""A trained ResNet18: the same scores as NumPy has, and the classes that CIFAR-10 says."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from gevolve.device.base import Limits
from gevolve.device.registry import open_device
from gevolve.suite.datasets import Images
from gevolve.suite.papers.resnet18 import ResNet18, trained

DEVICE = open_device("sim")


class Noise(ResNet18):
    """Pictures of nothing, so that no data set is needed."""

    def images(self):
        rng = np.random.default_rng(7)
        return Images(rng.integers(0, 256, (80, 32, 32, 3), np.uint8), rng.integers(0, 10, 80))


def windows(x, side, stride, fill):
    margin = side // 2
    padded = np.pad(x, ((0, 0), (0, 0), (margin, margin), (margin, margin)), constant_values=fill)
    return sliding_window_view(padded, (side, side), (2, 3))[:, :, ::stride, ::stride]


def layer(net, x, stride=1):
    y = np.einsum("nchwij,ocij->nohw", windows(x, net["w"].shape[2], stride, 0.0), net["w"])
    scale, b, mean, variance = (
        net[k][:, None, None].astype(float) for k in ("scale", "b", "mean", "variance")
    )
    return (y - mean) * scale / np.sqrt(variance + 1e-5) + b


def relu(x):
    return np.maximum(x, 0)


def scores(images):
    """The network in double precision."""
    net = trained()
    x = relu(layer(net["stem"], images.astype(float)))
    x = windows(x, 3, 2, -np.inf).max((4, 5))
    for block in net["blocks"]:
        short = block.get("short")
        y = layer(block["second"], relu(layer(block["first"], x, 2 if short else 1)))
        x = relu(y + (layer(short, x, 2) if short else x))
    return x.mean((2, 3)) @ net["out"]["w"].T + net["out"]["b"]


@pytest.fixture(scope="module")
def artefact():
    return DEVICE.build(ResNet18().load().text)


def run(artefact, case, check=None):
    gpu = DEVICE.open(artefact, Limits(), check=check)
    try:
        return Noise().run(gpu, case), gpu.usage().hazards
    finally:
        gpu.close()


@pytest.mark.parametrize("split", ["search", "held-out"])
def test_has_the_scores_of_numpy_without_a_hazard(artefact, split):
    case = Noise().cases(split)[-1]
    got, hazards = run(artefact, case, DEVICE.checks[0])
    np.testing.assert_allclose(got["scores"], scores(case.images), atol=2e-4)
    assert not hazards


def test_is_eighteen_layers_of_weights():
    net = trained()
    layers = [net["stem"], *(b[k] for b in net["blocks"] for k in ("first", "second")), net["out"]]
    assert len(layers) == 18
    assert sum("short" in block for block in net["blocks"]) == 3


def test_the_error_is_the_share_of_wrong_classes():
    case = Noise().cases("large")[0]
    right = np.eye(10)[case.labels]
    assert Noise().measure({"scores": right}, {}, case) == 0
    assert Noise().measure({"scores": np.roll(right, 1, 0)}, {}, case) == np.mean(
        np.roll(case.labels, 1) != case.labels
    )


def test_images_of_the_search_are_in_no_other_split():
    def images(split):
        return {image.tobytes() for case in Noise().cases(split) for image in case.images}

    assert not images("search") & (images("held-out") | images("large"))
