"""The kernels that a compiler made of a model, as a program: what edits of kernels are drawn from and told by.

Edits are those of LLVM-IR (`gevolve.ir.llvm`), each with the name of its kernel (`gevolve.ir.levels`). The hotter
a kernel, the more of them are its.
"""

from __future__ import annotations

from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np

from gevolve.errors import GevolveError, PatchError
from gevolve.ir.levels import PREFIX, RECOMPILE, by_kernel, in_kernel, in_llvm
from gevolve.ir.llvm import LlvmProgram
from gevolve.patch import PLAIN, Edit, Patch
from gevolve.program import Change, Profile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Kernels:
    """Kernels by name, in LLVM-IR, and what share of the time each takes."""

    def __init__(self, texts: Mapping[str, str], shares: Mapping[str, float] | None = None) -> None:
        """Without `shares` nothing can be drawn."""
        self._texts = texts
        self._shares = dict(sorted((shares or {}).items(), key=lambda one: (-one[1], one[0])))
        """The hottest first."""

    @cached_property
    def _programs(self) -> dict[str, LlvmProgram]:
        return {name: LlvmProgram(self._texts[name]) for name in self._shares}

    @property
    def kinds(self) -> tuple[str, ...]:
        """The edit kinds that `propose` knows."""
        return tuple(PREFIX + kind for kind in (RECOMPILE, *LlvmProgram.edit_kinds))

    @property
    def paper_kinds(self) -> tuple[str, ...]:
        """Those of them that the GEVO paper has."""
        return tuple(
            PREFIX + name for name, kind in LlvmProgram.edit_kinds.items() if kind.of_paper
        )

    @property
    def loose_kinds(self) -> tuple[str, ...]:
        """Those of them that are approximations."""
        return tuple(PREFIX + name for name, kind in LlvmProgram.edit_kinds.items() if kind.loose)

    def propose(self, kind: str, rng: np.random.Generator, profile: Profile | None) -> Edit | None:
        """Draw an edit of this kind in a kernel, by its share; None if no kernel has any."""
        left = dict(self._shares)
        while left:
            names, shares = list(left), np.array(list(left.values()))
            name = names[int(rng.choice(len(names), p=shares / shares.sum()))]
            if kind == PREFIX + RECOMPILE:
                return _recompiled(name)
            edit = self._programs[name].propose(kind.removeprefix(PREFIX), rng, profile)
            if edit is not None:
                return in_kernel(name, edit)
            del left[name]
        return None

    def sweep(self, kinds: Sequence[str], profile: Profile | None) -> list[Patch]:
        """Patches worth trying before anything random, of all kernels in turns, the hottest first."""
        plain = [kind.removeprefix(PREFIX) for kind in kinds if kind != PREFIX + RECOMPILE]
        first = self._programs if len(plain) < len(kinds) else ()
        each = [
            [Patch(tuple(in_kernel(name, edit) for edit in patch)) for patch in program.sweep(plain, profile)]
            for name, program in self._programs.items()
        ]  # fmt: skip
        turns = (patch for turn in zip_longest(*each) for patch in turn if patch is not None)
        return [*(Patch((_recompiled(name),)) for name in first), *turns]

    def describe(self, edit: Edit) -> Change:
        """What an edit does and in which kernel, in words."""
        try:
            name, inner = in_llvm(edit)
        except PatchError:
            return Change(str(edit))
        if inner.kind == RECOMPILE:
            return Change(f"the kernel {name} is optimized once more, by LLVM")
        program = self._program(name)
        sentence = program.describe(inner).sentence if program else str(inner)
        return Change(f"in the kernel {name}: {sentence}")

    def difference(self, before: Patch, after: Patch) -> Change | None:
        """What the kernels of the second patch do that those of the first do not."""
        old, new = by_kernel(before), by_kernel(after)
        for name in sorted(old.keys() | new.keys()):
            program = self._program(name)
            one, two = (_without_recompile(patches.get(name, Patch())) for patches in (old, new))
            if program is None or one == two:
                continue
            change = program.difference(one, two)
            if change is not None:
                return Change(f"in the kernel {name}: {change.sentence}", change.theme)
        return None

    def _program(self, name: str) -> LlvmProgram | None:
        """A kernel, if it is known and can be read."""
        if name in self._shares:
            return self._programs[name]
        try:
            return LlvmProgram(self._texts[name])
        except (KeyError, GevolveError):
            return None


def _without_recompile(patch: Patch) -> Patch:
    return Patch(tuple(edit for edit in patch if edit.kind != RECOMPILE))


def _recompiled(kernel: str) -> Edit:
    return in_kernel(kernel, Edit(RECOMPILE, (), PLAIN))


def check(patch: Patch) -> None:
    """Raise `PatchError` if an edit of a kernel is none of LLVM-IR."""
    for name, edits in by_kernel(patch).items():
        for edit in edits:
            if edit.kind != RECOMPILE:
                LlvmProgram.edit_kinds.read(edit)
            elif edit.args:
                raise PatchError(
                    f"'{in_kernel(name, edit)}': {RECOMPILE} has one field, the name of a kernel"
                )
