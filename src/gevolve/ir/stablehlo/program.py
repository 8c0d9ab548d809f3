"""ML programs in StableHLO as a `Program`: load once, then apply patch after patch to it."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING

from gevolve.errors import UnsupportedError
from gevolve.ir.stablehlo.draft import Draft
from gevolve.ir.stablehlo.edits import KINDS, Skipped, apply_edit
from gevolve.ir.stablehlo.index import Index
from gevolve.ir.stablehlo.mlir import Op, complaint, context, ir, module_of, printed, remember
from gevolve.ir.stablehlo.places import to_comments
from gevolve.ir.stablehlo.sites import Sites
from gevolve.ir.stablehlo.themes import contrast
from gevolve.patch import Edit, Patch
from gevolve.program import Change, Profile, Variant

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np


class StablehloProgram:
    """One function on tensors, with ids for all that edits can name."""

    def __init__(self, module: Op, name: str, places: Mapping[str, str] | None = None) -> None:
        """Take over a module that has only `main` in it and is not used elsewhere.

        Without `places` the module itself says which source lines its operations are from.
        """
        with context():
            self._index = Index(module)
        _refuse_if_nothing_to_edit(self._index, name)
        self._places = self._index.place if places is None else places
        self._comments = to_comments(self._places)
        text = printed(module)
        self.text = text + self._comments
        # A program stays the same when its source lines move.
        self.digest = hashlib.sha256(text.encode()).hexdigest()

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(KINDS)

    @property
    def size(self) -> int:
        """How many operations there are."""
        return len(self._index.facts)

    @cached_property
    def _sites(self) -> Sites:
        return Sites(self._index)

    def propose(self, kind: str, rng: np.random.Generator, profile: Profile | None) -> Edit | None:  # noqa: ARG002  (the text says how often a loop runs)
        with context():
            args = KINDS[kind].draw(self._sites, rng)
        seed = int(rng.integers(1, 1 << 32))
        return None if args is None else Edit(kind, args, seed)

    def apply(self, patch: Patch) -> Variant:
        skipped: list[tuple[int, str]] = []
        with context():
            draft = Draft(self._index)
            last = [at for at, edit in enumerate(patch) if _is_last(edit)]
            for position in [*(at for at in range(len(patch)) if at not in last), *last]:
                try:
                    apply_edit(draft, patch[position])
                except Skipped as why:
                    skipped.append((position, str(why)))
            draft.finish()
        text = printed(draft.module) + self._comments
        remember(text, draft.module)
        return Variant(patch, text, tuple(sorted(skipped)))

    def verify(self, text: str) -> str | None:
        try:
            module_of(text).verify()
        except ir.MLIRError as error:
            message, line = complaint(error)
            return message if line is None else f"line {line}: {message}"
        return None

    def marked(self) -> str:
        """The program itself: models run without marks, see `Sites`."""
        return self.text

    def describe(self, edit: Edit) -> str:
        kind = KINDS.get(edit.kind)
        if kind is None or len(edit.args) != kind.arity:
            return str(edit)
        return kind.sentence.format(*map(self._shown, edit.args))

    def contrast(self, before: Patch, after: Patch) -> Change | None:
        return contrast(self.apply(before).text, self.apply(after).text, self._places)

    def _shown(self, arg: str) -> str:
        """What an argument of an edit stands for."""
        facts = self._index.facts.get(arg.partition(".")[0])
        if facts is not None:
            types = ", ".join(facts.results or facts.slots)
            place = self._places.get(arg.partition(".")[0])
            return f"{arg} `{facts.name} {types}`" + (f" ({place})" if place else "")
        kind = self._index.type.get(arg)
        if kind is None:
            return arg
        name = self._places.get(arg)
        return f"{arg} `{name or 'argument'} {kind}`"


def _is_last(edit: Edit) -> bool:
    kind = KINDS.get(edit.kind)
    return kind is not None and kind.last


def _refuse_if_nothing_to_edit(index: Index, name: str) -> None:
    if any(facts.deletable for facts in index.facts.values()):
        return
    alone = sorted({facts.name for facts in index.facts.values() if facts.alone})
    why = (
        f"all it does is {', '.join(alone)}, which edits leave alone"
        if alone
        else "it computes nothing"
    )
    raise UnsupportedError(f"{name}: there is nothing to edit: {why}")
