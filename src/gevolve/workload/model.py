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

A case may come in parts (`in_parts`): batches of images, say, or several starts of a training. The program
then takes one part, and the error is the mean over all. A variant that is far too wrong is rejected
after a few of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

import numpy as np

from gevolve.errors import WorkloadError
from gevolve.ir import IRS
from gevolve.workload.base import Array, Case, Split, Workload

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gevolve.device.base import Executable
    from gevolve.program import Program

Source = Callable[..., Any] | str | Path


class ModelWorkload(Workload):
    """An ML program, prediction or training. Subclass it; `program`, `data`, `error` are needed."""

    inputs: ClassVar[tuple[str, ...]] = ()
    """Entries of the case that the program takes, in order; by default a function's parameters."""
    in_parts: ClassVar[tuple[str, ...]] = ()
    """Entries of the case with something for each part in their first dimension; others are for all."""
    refits: ClassVar[tuple[str, ...]] = ("weights",)
    """Entries of the case with weights that ``--refit`` may train, if the program takes them."""
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

        The same for the same split every time, and different data for ``held-out``. With ``--refit`` it is
        also asked for ``refit``, which is data that neither of them has, in as many parts as one likes.
        """
        raise NotImplementedError

    def error(self, outputs: Any, data: Case) -> float:
        """How wrong the results are, such as 1 - accuracy; computed with NumPy.

        Of a case in parts it is asked for each part alone.
        """
        raise NotImplementedError

    def loss(self, outputs: Any, data: Case) -> Any:
        """What ``--refit`` makes small, such as the mean cross-entropy; computed with `jax.numpy`.

        Of a case in parts it is asked for each part alone.
        """
        raise NotImplementedError

    def arguments(self, case: Case) -> list[Any]:
        """What the program is called with, one tree of arrays for each parameter."""
        return [case[name] for name in self.entries()]

    def example(self) -> list[Any]:
        """What the program is called with on the first part of the search case."""
        return self.arguments(self._part(self.data("search"), 0))

    def load(self) -> Program:
        return self._ir.load(self.origin(), self.example())

    def restore(self, text: str) -> Program:
        return self._ir.restore(text)

    def cases(self, split: Split, draw: int = 0) -> list[Case]:  # noqa: ARG002  (data is what there is)
        case = self.data("held-out" if split == "unseen" else split)
        if not isinstance(case, Case):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise WorkloadError(f"{self.name}.data must return a gevolve.Case, not {case!r:.80}")
        self._check_parts(case)
        return [case]

    def varied_inputs(self, case: Case) -> list[str]:
        return [name for name in self.entries() if name in case.inputs]

    def run(self, handle: Executable, case: Case) -> Any:
        source = self.origin()
        if not self.in_parts:
            return handle(*self._ir.flatten(self.arguments(case), source))
        rows: list[list[Array]] = []
        same: dict[int, list[Array]] = {}
        for number in range(self.parts(case)):
            arrays: list[Array] = []
            for place, tree in enumerate(self.arguments(self._part(case, number))):
                if self.entries()[place] in self.in_parts:
                    arrays += self._ir.flatten([tree], source)
                    continue
                if place not in same:
                    same[place] = list(map(_fixed, self._ir.flatten([tree], source)))
                arrays += same[place]
            rows.append(handle(*arrays))
        return [np.stack(column) for column in zip(*rows, strict=True)]

    def measure(self, got: Mapping[str, Array], want: Mapping[str, Array], case: Case) -> float:
        return float(np.mean(self.measure_parts(got, want, case)))

    def measure_parts(
        self,
        got: Mapping[str, Array],
        want: Mapping[str, Array],  # noqa: ARG002  (labels say what is right)
        case: Case,
    ) -> list[float]:
        arguments = self.arguments(self._part(case, 0))
        structured = self._ir.unflattener(self.origin(), arguments)
        if not self.in_parts:
            return [float(self.error(structured(list(got.values())), case))]
        return [
            float(
                self.error(
                    structured([array[number] for array in got.values()]), self._part(case, number)
                )
            )
            for number in range(self.parts(case))
        ]

    def parts(self, case: Case) -> int:
        return len(next(_leaves(case[self.in_parts[0]]))) if self.in_parts else 1

    def repeats(self, case: Case) -> bool:  # noqa: ARG002
        # If labels came in parts, each part would be something else.
        return bool(self.in_parts) and set(self.in_parts) <= set(self.entries())

    def some(self, case: Case, parts: Sequence[int]) -> Case:
        chosen = list(parts)
        cut = {name: _each(case[name], lambda leaf: leaf[chosen]) for name in self.in_parts}
        return Case(**{**case.inputs, **cut})

    def _part(self, case: Case, number: int) -> Case:
        """One part, as the program and `error` take it."""
        cut = {name: _each(case[name], lambda leaf: leaf[number]) for name in self.in_parts}
        return Case(**{**case.inputs, **cut})

    def _check_parts(self, case: Case) -> None:
        for name in self.in_parts:
            if name not in case.inputs:
                raise WorkloadError(f"{self.name}.in_parts names {name!r}, which the case has not")
        counts = {len(leaf) for name in self.in_parts for leaf in _leaves(case[name])}
        if self.in_parts and (len(counts) != 1 or 0 in counts):
            raise WorkloadError(
                f"{self.name}: what in_parts names must have as many parts each, and one at least,"
                f" not {', '.join(map(str, sorted(counts)))}"
            )

    def bound(self, unedited: float, tolerance: float) -> float:
        return unedited + tolerance

    @property
    def _ir(self) -> Any:
        return IRS[self.ir].implementation()

    def origin(self) -> Source:
        """What `program` gives; of a file the whole path."""
        source = self.program()
        if isinstance(source, str | Path):
            return Path(inspect.getfile(type(self))).parent / source
        return source

    def entries(self) -> tuple[str, ...]:
        """The entries of the case that the program takes, in order."""
        if self.inputs:
            return self.inputs
        source = self.program()
        if not callable(source):
            raise WorkloadError(
                f"{self.name}: set `inputs` to the names of the case's entries that {source} takes"
            )
        return tuple(inspect.signature(source).parameters)


def _fixed(array: Array) -> Array:
    """The array, not to be written to, so that it need not be looked at again."""
    fixed = array.view()
    fixed.setflags(write=False)
    return fixed


def _leaves(tree: Any) -> Iterator[Any]:
    if isinstance(tree, dict | tuple | list):
        items = cast("dict[Any, Any] | Sequence[Any]", tree)
        for item in items.values() if isinstance(items, dict) else items:
            yield from _leaves(item)
    else:
        yield tree


def _each(tree: Any, change: Callable[[Any], Any]) -> Any:
    """A tree of dicts, lists and tuples with every array changed."""
    if isinstance(tree, dict):
        named = cast("dict[Any, Any]", tree)
        return {key: _each(value, change) for key, value in named.items()}
    if isinstance(tree, tuple | list):
        items = cast("Sequence[Any]", tree)
        return type(items)(_each(value, change) for value in items)  # pyright: ignore[reportCallIssue]
    return change(tree)
