"""A deep MobileNet predicting the classes of CIFAR-10 images."""

from gevolve.suite.models.prediction import CifarPrediction


class MobileNet(CifarPrediction):
    """A MobileNet of 17 blocks for 32x32 colour images; `GEVOLVE_DATA` must lead to CIFAR-10."""

    trained = "mobilenet.npz"
