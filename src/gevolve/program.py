"""What the search and the evaluator need to know of a program in any IR."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

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
    """What sets one variant apart from another, in words."""

    theme: str
    """The recognisable class, such as ``barrier removed``."""
    sentence: str
    """What happens, plainly, such as ``removes the barrier at hotspot.cu:44``."""
    line: str = ""
    """The source line, such as ``hotspot.cu:44``; empty if it is not known."""


class Program(Protocol):
    """A loaded module in some IR, every operation with a stable id; never changed in place."""

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical text: two programs with one digest are the same."""
        ...

    @property
    def text(self) -> str:
        """The canonical text of the unedited program."""
        ...

    @property
    def kinds(self) -> tuple[str, ...]:
        """The edit kinds that `propose` knows."""
        ...

    def propose(self, kind: str, rng: np.random.Generator, profile: Profile | None) -> Edit | None:
        """Draw an edit of this kind, its site in proportion to `profile`; None if there is none."""
        ...

    def apply(self, patch: Patch) -> Variant:
        """Materialise a patch; an edit that cannot be applied is skipped, never an error."""
        ...

    def verify(self, text: str) -> str | None:
        """Why the IR's own verifier rejects this text, or None if it accepts it."""
        ...

    def marked(self) -> str:
        """The unedited program with a mark in every block, which a device counts as it runs."""
        ...

    def describe(self, edit: Edit) -> str:
        """One line for people: what the edit does, with source lines where they are known."""
        ...

    def contrast(self, before: Patch, after: Patch) -> Change | None:
        """What the second variant does that the first does not; None if nothing recognisable.

        It is seen in what is left of both when they are optimised, so both must be valid.
        """
        ...


def restore(ir: Literal["llvm", "stablehlo"], text: str) -> Program:
    """The program in this IR that has this text, with the same ids."""
    if ir == "stablehlo":
        from gevolve.ir import stablehlo  # noqa: PLC0415  (JAX loads when the first model does)

        return stablehlo.restore(text)
    from gevolve.ir import llvm  # noqa: PLC0415  (LLVM loads when the first kernel does)

    return llvm.restore(text)
