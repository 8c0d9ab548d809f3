"""Kernel workloads: a CUDA kernel, the host code that runs it, and how wrong its outputs are.

class Saxpy(gevolve.KernelWorkload):
    source = "saxpy.cu"

    def case(self, rng, size):
        n = {"search": 4096, "held-out": 5000, "large": 1 << 20}[size]
        return gevolve.Case(x=rng.random(n, np.float32), y=rng.random(n, np.float32), a=2.0)

    def run(self, gpu, case):
        y = gpu.array(case.y)
        gpu.launch("saxpy", grid=-(-y.size // 256), block=256, ...)
        return y.get()
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gevolve.errors import WorkloadError
from gevolve.workload.base import SPLITS, Array, Case, Split, Workload
from gevolve.workload.error import relative_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gevolve.device.base import Gpu
    from gevolve.program import Program

_UNSEEN: tuple[Split, ...] = ("search", "held-out", "held-out")
"""The sizes of unseen cases."""
_FRESH: tuple[Split, ...] = ("search", "search", "held-out", "held-out", "held-out", "held-out")
"""The sizes of fresh cases."""


class KernelWorkload(Workload):
    """A CUDA kernel with the host code that runs it. Subclass it; `source`, `case`, `run` are needed."""

    source: ClassVar[str] = ""
    """Path of the ``.cu``, ``.ll`` or ``.bc``, relative to the file that defines the class."""
    kernels: ClassVar[tuple[str, ...]] = ()
    """The kernels to evolve; all kernels of the source if empty."""
    rounding: ClassVar[float | None] = None
    """An error up to this counts as exact; by default the unedited kernel's own rounding, measured."""
    search_cases: ClassVar[int] = 2
    """How many cases judge each variant during the search."""
    held_out_cases: ClassVar[int] = 2
    """How many cases of other sizes and seeds check the front at the end."""
    clang_options: ClassVar[tuple[str, ...]] = ()
    """More options for clang, such as ``-DTILE=32``."""
    default_device: ClassVar[str] = "sim:a100"

    def case(self, rng: np.random.Generator, size: Split) -> Case:
        """Make one input; draw all that is random from `rng`."""
        raise NotImplementedError

    def run(self, gpu: Gpu, case: Case) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Host code: upload, launch, download. Returns an array, or a tuple or dict of arrays."""
        raise NotImplementedError

    def error(self, got: Array, want: Array) -> float:
        """How wrong one output array is; 0 is exact. Non-finite outputs never get here."""
        return relative_error(got, want)

    def measure(self, got: Mapping[str, Array], want: Mapping[str, Array], case: Case) -> float:  # noqa: ARG002  (a reference says all)
        errors = [self.error(array, want[name]) for name, array in got.items()]
        return float(np.max(errors))  # unlike max(), it passes a NaN on

    @property
    def elementwise(self) -> bool:
        own = type(self)
        return own.error is KernelWorkload.error and own.measure is KernelWorkload.measure

    def bound(self, unedited: float, tolerance: float) -> float:  # noqa: ARG002  (errors are of the reference)
        return tolerance

    def path(self) -> Path:
        """Where the source is."""
        if not self.source:
            raise WorkloadError(f"{self.name}: set `source` to the path of a .cu, .ll or .bc file")
        return Path(inspect.getfile(type(self))).parent / self.source

    def load(self) -> Program:
        from gevolve.ir.llvm import load  # noqa: PLC0415  (LLVM loads when the first program does)

        return load(self.path(), kernels=self.kernels, clang_options=self.clang_options)

    def restore(self, text: str) -> Program:
        from gevolve.ir.llvm import restore  # noqa: PLC0415  (LLVM loads when the first program does)

        return restore(text, kernels=self.kernels)

    def cases(self, split: Split, draw: int = 0) -> list[Case]:
        counts = {"search": self.search_cases, "held-out": self.held_out_cases, "large": 1}
        several = {"fresh": _FRESH, "unseen": _UNSEEN}
        sizes = several[split] if split in several else (split,) * counts[split]
        made: list[Case] = []
        for index, size in enumerate(sizes):
            seeds = [(*SPLITS, "unseen").index(split), index, 0x6E70]
            rng = np.random.default_rng([*seeds, draw] if split == "fresh" else seeds)
            case = self.case(rng, size)
            if not isinstance(case, Case):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise WorkloadError(f"{self.name}.case must return a gevolve.Case, not {case!r}")
            made.append(case)
        return sorted(made, key=lambda case: case.nbytes)
