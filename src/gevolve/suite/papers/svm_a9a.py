"""Training of a support vector machine on a9a."""

from typing import ClassVar

from gevolve.suite.datasets import Table, a9a
from gevolve.suite.svm import SvmWorkload


class SvmA9a(SvmWorkload):
    """Who earns more than 50,000 a year: a9a, from the folder of `GEVOLVE_DATA`."""

    sizes: ClassVar[dict[str, tuple[int, int]]] = {
        "search": (120, 250),
        "held-out": (150, 300),
        "large": (900, 1100),
    }
    tried: ClassVar[int] = 400

    def table(self) -> Table:
        return a9a()
