"""Model workloads: an ML program, the data that it is tried on, and how wrong its results are.

    class TwoFC(gevolve.ModelWorkload):
        def program(self):
            return predict  # a JAX function: predict(weights, images)

        def data(self, split):
            images, labels = load(split)
            return gevolve.Case(weights=WEIGHTS, images=images, labels=labels)

        def error(self, outputs, data):
            return float(np.mean(outputs.argmax(-1) != data.labels))

The function's parameters take the entries of the case that have their names; what else is in the
case (here the labels) is for `error` alone, and no variant sees it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from gevolve.errors import WorkloadError
from gevolve.ir import IRS
from gevolve.workload.base import Array, Case, Split, Workload

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gevolve.device.base import Executable
    from gevolve.program import Program

Source = Callable[..., Any] | str | Path


class ModelWorkload(Workload):
    """An ML program, prediction or training. Subclass it; `program`, `data`, `error` are needed."""

    inputs: ClassVar[tuple[str, ...]] = ()
    """Entries of the case that the program takes, in order; by default a function's parameters."""
    tolerance: ClassVar[float] = 0.02
    """How much larger a variant's error may be than the unedited program's."""
    splits: ClassVar[tuple[Split, ...]] = ("search", "held-out")
    default_device: ClassVar[str] = "xla:cpu"
    ir: ClassVar[Literal["llvm", "stablehlo"]] = "stablehlo"

    def program(self) -> Source:
        """A JAX function, or the path of a ``.mlir`` or ``jax.export`` file beside this one."""
        raise NotImplementedError

    def data(self, split: Split) -> Case:
        """The inputs and what `error` needs besides, as NumPy arrays (or trees of them).

        The same for the same split every time, and different data for ``held-out``.
        """
        raise NotImplementedError

    def error(self, outputs: Any, data: Case) -> float:
        """How wrong the results are, such as 1 - accuracy; computed with NumPy."""
        raise NotImplementedError

    def arguments(self, case: Case) -> list[Any]:
        """What the program is called with, one tree of arrays for each parameter."""
        return [case[name] for name in self._names()]

    def load(self) -> Program:
        return (
            IRS[self.ir].implementation().load(self._source(), self.arguments(self.data("search")))
        )

    def restore(self, text: str) -> Program:
        return IRS[self.ir].implementation().restore(text)

    def cases(self, split: Split, draw: int = 0) -> list[Case]:  # noqa: ARG002  (data is what there is)
        case = self.data("held-out" if split == "unseen" else split)
        if not isinstance(case, Case):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise WorkloadError(f"{self.name}.data must return a gevolve.Case, not {case!r:.80}")
        return [case]

    def varied_inputs(self, case: Case) -> list[str]:
        return [name for name in self._names() if name in case.inputs]

    def run(self, handle: Executable, case: Case) -> Any:
        return handle(*IRS[self.ir].implementation().flatten(self.arguments(case), self._source()))

    def measure(self, got: Mapping[str, Array], want: Mapping[str, Array], case: Case) -> float:  # noqa: ARG002  (labels say what is right)
        outputs = (
            IRS[self.ir]
            .implementation()
            .unflatten(list(got.values()), self._source(), self.arguments(case))
        )
        return float(self.error(outputs, case))

    def bound(self, unedited: float, tolerance: float) -> float:
        return unedited + tolerance

    def _source(self) -> Source:
        source = self.program()
        if isinstance(source, str | Path):
            return Path(inspect.getfile(type(self))).parent / source
        return source

    def _names(self) -> tuple[str, ...]:
        if self.inputs:
            return self.inputs
        source = self.program()
        if not callable(source):
            raise WorkloadError(
                f"{self.name}: set `inputs` to the names of the case's entries that {source} takes"
            )
        return tuple(inspect.signature(source).parameters)
