"""A ResNet18 predicting the classes of CIFAR-10 images: that of `papers/resnet18`, as a model."""

from typing import Any

import numpy as np

from gevolve.suite.models.prediction import CifarPrediction
from gevolve.suite.papers.resnet18 import trained
from gevolve.workload.model import Source


class ResNet18(CifarPrediction):
    """A narrow ResNet18 for 32x32 colour images; `GEVOLVE_DATA` must lead to CIFAR-10."""

    def program(self) -> Source:
        from gevolve.suite.models.residual import predict  # noqa: PLC0415  (JAX loads when needed)

        return predict

    def weights(self) -> dict[str, Any]:
        tree = trained()
        blocks = [
            {name: folded(layer) for name, layer in block.items()} for block in tree["blocks"]
        ]
        out = {"w": tree["out"]["w"].T.copy(), "b": tree["out"]["b"]}
        return {"stem": folded(tree["stem"]), "blocks": blocks, "out": out}


def folded(layer: dict[str, Any]) -> dict[str, Any]:
    """A convolution with its normalisation in it; taps first, then channels in and out."""
    scale = layer["scale"] / np.sqrt(layer["variance"] + np.float32(1e-5))
    w = layer["w"] * scale[:, None, None, None]
    return {
        "w": np.ascontiguousarray(w.transpose(2, 3, 1, 0)),
        "b": layer["b"] - layer["mean"] * scale,
    }
