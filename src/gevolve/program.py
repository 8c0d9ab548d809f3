"""What the search and the evaluator need to know of a program in any IR."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np

from gevolve.patch import Edit, Patch

Profile: TypeAlias = Mapping[str, float]
"""How often each block ran in the unedited program, by block id."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A program with a patch applied: its IR text, and what became of each edit."""

    patch: Patch
    text: str
    skipped: tuple[tuple[int, str], ...] = ()
    """Edits that did nothing, as (position in the patch, why)."""


@dataclass(frozen=True, slots=True)
class Change:
    """What an edit does, or how two variants differ, in words."""

    sentence: str
    """What happens, plainly, such as ``removes the barrier at hotspot.cu:44``."""
    theme: str = ""
    """The recognizable class, such as ``barrier removed``; empty if it is none."""
    lines: tuple[str, ...] = ()
    """The source lines that it is about, such as ``hotspot.cu:44``, the most important one first."""

    @property
    def line(self) -> str:
        """The source line that it is about; empty if that is not known."""
        return self.lines[0] if self.lines else ""


class Proposer(Protocol):
    """What a search needs to know of a program."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The edit kinds that `propose` knows."""
        ...

    @property
    def paper_kinds(self) -> tuple[str, ...]:
        """Those of them that the GEVO and GEVO-ML papers have."""
        ...

    @property
    def loose_kinds(self) -> tuple[str, ...]:
        """Those of them that are approximations, for searches with a tolerance."""
        ...

    def propose(self, kind: str, rng: np.random.Generator, profile: Profile | None) -> Edit | None:
        """Draw an edit of this kind, its site in proportion to `profile`; None if there is none."""
        ...

    def sweep(self, kinds: Sequence[str], profile: Profile | None) -> list[Patch]:
        """Patches of these kinds that are worth trying before anything random, best bets first."""
        ...


class Program(Proposer, Protocol):
    """A loaded module in some IR, every operation with a stable id; never changed in place."""

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical text: two programs with one digest are the same."""
        ...

    @property
    def text(self) -> str:
        """The canonical text of the unedited program."""
        ...

    def apply(self, patch: Patch) -> Variant:
        """Materialize a patch. An edit whose target is gone is skipped, and the variant says so.

        An edit that is none of this program's edit kinds, or has the wrong fields, is a `PatchError`.
        """
        ...

    def verify(self, text: str) -> str | None:
        """Why the IR's own verifier rejects this text, or None if it accepts it."""
        ...

    def instrumented(self) -> str:
        """The unedited program with a mark in every block, which a device counts as it runs."""
        ...

    def rerounded(self, seed: int) -> str:
        """The unedited program, rounding otherwise wherever it rounds; itself if it rounds nowhere.

        How its results differ shows what their last digits are worth.
        """
        ...

    def describe(self, edit: Edit) -> Change:
        """What an edit does, in one line for people; its text form if it is none of this program."""
        ...

    def difference(self, before: Patch, after: Patch) -> Change | None:
        """What the second variant does that the first does not; None if nothing recognizable.

        It is seen in what is left of both when they are optimized, so both must be valid.
        """
        ...


@runtime_checkable
class Layered(Protocol):
    """A program that a compiler makes kernels of, which edits may be of, too."""

    def know(self, kernels: Mapping[str, str]) -> None:
        """Learn the LLVM-IR of kernels by name, to tell in words what edits of them do."""
        ...
