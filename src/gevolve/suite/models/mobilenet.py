"""MobileNet predicting the classes of CIFAR-10 images."""

from gevolve.suite.datasets import Images, cifar10
from gevolve.suite.models.prediction import Prediction
from gevolve.workload.base import Split


class MobileNet(Prediction):
    """A MobileNet for 32x32 colour images; `GEVOLVE_DATA` must lead to CIFAR-10.

    The first thousand test images choose, the second thousand check what was chosen.
    """

    trained = "mobilenet.npz"
    mean = (0.4914, 0.4822, 0.4465)
    spread = (0.2470, 0.2435, 0.2616)
    white = 255
    groups = (100, 10)

    def images(self, split: Split) -> Images:
        return cifar10("test_batch").part(0 if split == "search" else self.count, self.count)
