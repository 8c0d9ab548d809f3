"""MobileNet on the digits that the package ships: small enough for tests and first steps."""

from gevolve.suite.datasets import Images, digits
from gevolve.suite.models.prediction import Prediction
from gevolve.workload.base import Split

TRAINED = 1029
"""So many of the digits, from the first on, trained the network."""


class MobileNetSmall(Prediction):
    """The network of `mobilenet` with a few channels, on 8x8 digits; needs no download."""

    trained = "mobilenet-small.npz"
    mean = (0.305,)
    spread = (0.376,)
    white = 16
    groups = (8, 48)

    def images(self, split: Split) -> Images:
        if split == "refit":
            return digits().part(0, TRAINED // self.groups[1] * self.groups[1])
        return digits().part(TRAINED + (0 if split == "search" else self.count), self.count)
