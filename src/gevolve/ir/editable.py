"""What programs of every IR have in common: their edit kinds draw, apply and describe edits."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Generic

import numpy as np

from gevolve.errors import PatchError
from gevolve.ir.edit_kind import DraftT, SitesT, Skipped
from gevolve.ir.registry import EditKinds
from gevolve.patch import PLAIN, Edit, Patch
from gevolve.program import Change, Profile


class EditableProgram(ABC, Generic[SitesT, DraftT]):
    """The part of a `Program` that is the same in every IR."""

    edit_kinds: EditKinds[SitesT, DraftT]
    """All edit kinds of this IR."""

    @abstractmethod
    def sites(self, profile: Profile | None) -> SitesT:
        """What edits are drawn from."""

    @abstractmethod
    def show(self, id_: str) -> tuple[str, str]:
        """What an id stands for, in words, and its source line; empty if it has none."""

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(self.edit_kinds)

    @property
    def paper_kinds(self) -> tuple[str, ...]:
        return tuple(name for name, kind in self.edit_kinds.items() if kind.of_paper)

    @property
    def loose_kinds(self) -> tuple[str, ...]:
        return tuple(name for name, kind in self.edit_kinds.items() if kind.loose)

    def propose(self, kind: str, rng: np.random.Generator, profile: Profile | None) -> Edit | None:
        chosen = self.edit_kinds[kind]
        drawn = chosen.draw(self.sites(profile), rng)
        seed = int(rng.integers(PLAIN + 1, 1 << 32)) if chosen.seeded else PLAIN
        return None if drawn is None else drawn.edit(seed)

    def sweep(self, kinds: Sequence[str], profile: Profile | None) -> list[Patch]:
        """Patches that are worth trying before anything random, the best bets first.

        What a kind wants tried all at once comes first, then single edits of all kinds in turns.
        """
        sites = self.sites(profile)
        chosen = [self.edit_kinds[kind] for kind in kinds]
        bundles = [
            Patch(tuple(e.edit(PLAIN) for e in bundle))
            for kind in chosen
            for bundle in kind.bundles(sites)
        ]
        singles = [[Patch((e.edit(PLAIN),)) for e in kind.sweep(sites)] for kind in chosen]
        turns = (patch for turn in zip_longest(*singles) for patch in turn if patch is not None)
        return [*(bundle for bundle in bundles if len(bundle) > 1), *turns]

    def apply_edits(self, draft: DraftT, patch: Patch) -> tuple[tuple[int, str], ...]:
        """Change a draft as a patch says; returns the edits that did nothing, and why.

        Raises `PatchError` before anything is changed if an edit is none of this IR: to leave it out
        would give another variant than the patch stands for.
        """
        edits = [self.edit_kinds.read(edit) for edit in patch]
        skipped: list[tuple[int, str]] = []
        for position in sorted(range(len(edits)), key=lambda position: edits[position].last):
            try:
                edits[position].apply(draft, patch[position].seed)
            except Skipped as why:
                skipped.append((position, str(why)))
        return tuple(sorted(skipped))

    def describe(self, edit: Edit) -> Change:
        try:
            read = self.edit_kinds.read(edit)
        except PatchError:
            return Change(str(edit))
        lines: list[str] = []
        sentence = read.describe(self._showing(lines))
        return Change(sentence, lines=tuple(dict.fromkeys(lines)))

    def _showing(self, lines: list[str]) -> Callable[[str], str]:
        """`show` for an edit kind, which also notes the source lines that it names."""

        def show(id_: str) -> str:
            words, line = self.show(id_)
            if line:
                lines.append(line)
            return words

        return show
