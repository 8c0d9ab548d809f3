"""Training of a support vector machine on MNIST."""

from typing import ClassVar

from gevolve.suite.datasets import Table, mnist_parity
from gevolve.suite.svm import SvmWorkload


class SvmMnist(SvmWorkload):
    """Even or odd: the digits of MNIST, from the folder of `GEVOLVE_DATA`."""

    sizes: ClassVar[dict[str, tuple[int, int]]] = {
        "search": (100, 160),
        "held-out": (120, 180),
        "large": (400, 500),
    }
    tried: ClassVar[int] = 200

    def table(self) -> Table:
        return mnist_parity()
