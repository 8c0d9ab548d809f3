"""Kernels do what every program must do."""

from pathlib import Path

from gevolve.ir import llvm
from gevolve.suite import tuned
from gevolve.testing.programs import ProgramConformance

SUITE = Path(tuned.__file__).parent
FIXTURES = Path(__file__).parent / "fixtures"


class _Kernel(ProgramConformance):
    __test__ = False
    source: Path

    def load(self):
        return llvm.load(self.source)

    def restore(self, text):
        return llvm.restore(text)


class TestHotspot(_Kernel):
    source = SUITE / "hotspot.cu"


class TestBfs(_Kernel):
    """Two kernels in one module."""

    source = SUITE / "bfs.cu"


class TestControl(_Kernel):
    """Switches, phis of many blocks, unreachable blocks."""

    source = FIXTURES / "control.ll"
