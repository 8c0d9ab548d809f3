"""A small MobileNet predicting the classes of CIFAR-10 images."""

from gevolve.suite.models.prediction import CifarPrediction


class MobileNetTiny(CifarPrediction):
    """A MobileNet of seven blocks for 32x32 colour images; `GEVOLVE_DATA` must lead to CIFAR-10."""

    trained = "mobilenet-tiny.npz"
