"""Training of a support vector machine on breast-cancer data."""

from typing import ClassVar

from gevolve.suite.datasets import Table, breast_cancer
from gevolve.suite.svm import SvmWorkload


class Svm(SvmWorkload):
    """Benign or malignant: the breast-cancer data that the package ships."""

    sizes: ClassVar[dict[str, tuple[int, int]]] = {
        "search": (90, 160),
        "held-out": (100, 180),
        "large": (180, 184),
    }

    def table(self) -> Table:
        return breast_cancer()
