"""Workloads: a program, its inputs, how to run it and how to judge what comes out.

`Workload` is what the evaluator knows of any of them. Users subclass one of the two kinds:
`gevolve.workload.kernel.KernelWorkload` or `gevolve.workload.model.ModelWorkload`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gevolve.device.base import Device
    from gevolve.program import Program

Split = Literal["search", "held-out", "large", "fresh", "unseen", "varied", "refit"]
"""Cases that judge every variant; that check the front; one that is large; and ones made anew.

In each of the ``varied`` ones one input is another than in a search case. Every new best is tried on those
and on the ``unseen`` ones while the search goes on. On ``refit`` weights are trained, and nothing is judged.
"""
SPLITS: tuple[Split, ...] = ("search", "held-out", "large", "fresh")
"""Those that a workload may have or not."""
Array = npt.NDArray[Any]


class Case:
    """The inputs of one run of a workload: named arrays and numbers, read as attributes."""

    def __init__(self, **inputs: Any) -> None:
        self.inputs: dict[str, Any] = inputs

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["inputs"][name]
        except KeyError:
            raise AttributeError(f"the case has no input {name!r}") from None

    def __getitem__(self, name: str) -> Any:
        return self.inputs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.inputs)

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays: what decides which case is the smallest."""
        return sum(int(getattr(value, "nbytes", 0)) for value in self.inputs.values())

    def __repr__(self) -> str:
        def brief(value: Any) -> str:
            if isinstance(value, np.ndarray):
                return f"{value.dtype}{list(value.shape)}"  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
            text = repr(value)
            return text if len(text) <= 60 else f"{type(value).__name__} …"

        return f"Case({', '.join(f'{k}={brief(v)}' for k, v in self.inputs.items())})"


class Workload:
    """What the evaluator knows of a workload; `KernelWorkload` and `ModelWorkload` are the two kinds."""

    rounding: ClassVar[float | None] = 0.0
    """An error up to this counts as none; None to measure the unedited program's own rounding."""
    tolerance: ClassVar[float] = 0.0
    """The error that a variant may have if the user does not say; see `bound`."""
    splits: ClassVar[tuple[Split, ...]] = SPLITS
    """The splits that there are cases for; the search needs ``search``."""
    default_device: ClassVar[str] = ""
    """Where variants run if the user does not say."""
    ir: ClassVar[Literal["llvm", "stablehlo"]] = "llvm"
    """What the program is written in; see `gevolve.program.restore`."""

    @property
    def name(self) -> str:
        return type(self).__name__

    def load(self) -> Program:
        """The program, fresh from its source."""
        raise NotImplementedError

    def restore(self, text: str) -> Program:
        """The program that `load` gave when its canonical text was this one."""
        raise NotImplementedError

    def device(self, name: str) -> Device:
        """Open the device of this name; override it to bring a device of your own."""
        from gevolve.device.registry import open_device  # noqa: PLC0415  (a device loads only when asked for)

        return open_device(name)

    def cases(self, split: Split, draw: int = 0) -> list[Case]:
        """The cases of a split, smallest first, always the same ones.

        Only those of ``fresh`` depend on `draw`: each draw has seeds that no other has.
        """
        raise NotImplementedError

    def varied_inputs(self, case: Case) -> list[str]:
        """The inputs that are varied one by one, to see that a variant still depends on each."""
        return list(case)

    @property
    def compares(self) -> bool:
        """Whether errors are differences from a reference, rather than of labels, say."""
        return self.bound(1.0, 0.0) == self.bound(0.0, 0.0)

    def run(self, handle: Any, case: Case) -> Any:
        """Run an opened artefact on a case. Returns an array, or a tuple or dict of arrays."""
        raise NotImplementedError

    def measure(self, got: Mapping[str, Array], want: Mapping[str, Array], case: Case) -> float:
        """How wrong the outputs of a case are; `want` is what they should be.

        Where `want` is finite, so is `got`: anything else has been rejected before.
        """
        raise NotImplementedError

    def parts(self, case: Case) -> int:  # noqa: ARG002  (for subclasses)
        """How many parts a case has, each of which can be run and measured alone."""
        return 1

    def repeats(self, case: Case) -> bool:  # noqa: ARG002  (for subclasses)
        """Whether its parts are the same thing done again, such as trainings from several starts."""
        return False

    def some(self, case: Case, parts: Sequence[int]) -> Case:  # noqa: ARG002  (for subclasses)
        """A case of these parts only, in this order."""
        return case

    def measure_parts(
        self, got: Mapping[str, Array], want: Mapping[str, Array], case: Case
    ) -> list[float]:
        """How wrong the outputs of each part are; `measure` gives the mean."""
        return [self.measure(got, want, case)]

    @property
    def elementwise(self) -> bool:
        """Whether outputs are compared element by element, rather than by `measure`."""
        return False

    def bound(self, unedited: float, tolerance: float) -> float:
        """The largest error that a variant may have, rounding aside, given the unedited program's."""
        raise NotImplementedError

    # `reference(self, case)` may be defined too; by default the unedited program is the reference.
    reference: Any = None
