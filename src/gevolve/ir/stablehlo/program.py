"""A program that is an ML model in StableHLO."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING

from gevolve.errors import UnsupportedError
from gevolve.ir.editable import EditableProgram
from gevolve.ir.levels import by_kernel, of_kernel, to_comments
from gevolve.ir.stablehlo.difference import describe_difference
from gevolve.ir.stablehlo.draft import StablehloDraft
from gevolve.ir.stablehlo.edits import EDIT_KINDS
from gevolve.ir.stablehlo.index import StablehloIndex
from gevolve.ir.stablehlo.mlir import Op, complaint, context, ir, module_of, printed, remember
from gevolve.ir.stablehlo.origins import origins_to_comments
from gevolve.ir.stablehlo.sites import StablehloSites
from gevolve.patch import Patch
from gevolve.program import Change, Profile, Variant

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from gevolve.ir.kernels import Kernels
    from gevolve.patch import Edit


class StablehloProgram(EditableProgram[StablehloSites, StablehloDraft]):
    """One function on tensors, with ids for all that edits can name."""

    edit_kinds = EDIT_KINDS

    def __init__(self, module: Op, name: str, origins: Mapping[str, str] | None = None) -> None:
        """Take over a module that has only `main` in it and is not used elsewhere.

        Without `origins` the module itself says which source lines its operations are from.
        """
        with context():
            self._index = StablehloIndex(module)
        _refuse_if_nothing_to_edit(self._index, name)
        self._origins = self._index.origins if origins is None else origins
        self._comments = origins_to_comments(self._origins)
        text = printed(module)
        self.text = text + self._comments
        self._kernels: Kernels | None = None
        """Kernels that a compiler made of a variant, if they are known."""
        # A program stays the same when its source lines move.
        self.digest = hashlib.sha256(text.encode()).hexdigest()

    @property
    def size(self) -> int:
        """How many operations there are."""
        return len(self._index.info)

    @cached_property
    def _sites(self) -> StablehloSites:
        return StablehloSites(self._index)

    def sites(self, profile: Profile | None) -> StablehloSites:
        del profile  # the text says how often a loop runs
        return self._sites

    def propose(self, kind: str, rng: np.random.Generator, profile: Profile | None) -> Edit | None:
        with context():
            return super().propose(kind, rng, profile)

    def sweep(self, kinds: Sequence[str], profile: Profile | None) -> list[Patch]:
        with context():
            return super().sweep(kinds, profile)

    def apply(self, patch: Patch) -> Variant:
        """Materialize a patch. Of edits of kernels nobody knows here whether they do anything."""
        places = [place for place, edit in enumerate(patch) if not of_kernel(edit)]
        if len(places) < len(patch):
            _check_kernel_edits(patch)
        with context():
            draft = StablehloDraft(self._index)
            skipped = self.apply_edits(draft, Patch(tuple(patch[place] for place in places)))
            draft.finish()
        text = printed(draft.module) + to_comments(by_kernel(patch)) + self._comments
        remember(text, draft.module)
        return Variant(patch, text, tuple((places[number], why) for number, why in skipped))

    def know(self, kernels: Mapping[str, str]) -> None:
        from gevolve.ir.kernels import Kernels  # noqa: PLC0415  (LLVM loads when kernels are edited)

        self._kernels = Kernels(kernels)

    def describe(self, edit: Edit) -> Change:
        if not of_kernel(edit):
            return super().describe(edit)
        return self._kernels.describe(edit) if self._kernels else Change(str(edit))

    def verify(self, text: str) -> str | None:
        try:
            module_of(text).verify()
        except ir.MLIRError as error:
            message, line = complaint(error)
            return message if line is None else f"line {line}: {message}"
        return None

    def instrumented(self) -> str:
        """The program itself: models run without marks, see `StablehloSites`."""
        return self.text

    def rerounded(self, seed: int) -> str:  # noqa: ARG002  (errors of models come from labels)
        """The program itself: the error of a model says what its rounding is worth."""
        return self.text

    def difference(self, before: Patch, after: Patch) -> Change | None:
        old, new = (self.apply(patch).text for patch in (before, after))
        change = describe_difference(old, new, self._origins)
        if change is not None or self._kernels is None:
            return change
        return self._kernels.difference(before, after)

    def show(self, id_: str) -> tuple[str, str]:
        operation = id_.partition(".")[0]
        info = self._index.info.get(operation)
        if info is not None:
            types = ", ".join(info.results or info.slots)
            words, line = f"{id_} `{info.name} {types}`", self._origins.get(operation, "")
            return f"{words} ({line})" if line else words, line
        kind = self._index.type.get(id_)
        return id_ if kind is None else f"{id_} `{self._origins.get(id_, 'argument')} {kind}`", ""


def _check_kernel_edits(patch: Patch) -> None:
    from gevolve.ir.kernels import check  # noqa: PLC0415  (LLVM loads when a kernel is edited)

    check(patch)


def _refuse_if_nothing_to_edit(index: StablehloIndex, name: str) -> None:
    if any(info.deletable for info in index.info.values()):
        return
    untouchable = sorted({info.name for info in index.info.values() if info.untouchable})
    why = (
        f"all it does is {', '.join(untouchable)}, which edits leave alone"
        if untouchable
        else "it computes nothing"
    )
    raise UnsupportedError(f"{name}: there is nothing to edit: {why}")
