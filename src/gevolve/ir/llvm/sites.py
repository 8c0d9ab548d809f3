"""Draws instructions to edit, in proportion to how often their block runs."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from gevolve.ir.llvm.index import LlvmIndex
from gevolve.ir.llvm.model import Instr
from gevolve.program import Profile

FLOOR = 0.02
"""The weight of a block that never ran, relative to the mean weight."""
TRIES = 64
"""How many instructions are drawn before it is taken that none is allowed."""


class LlvmSites:
    """What edits are drawn from: the instructions of some functions, weighted by how often they run."""

    def __init__(
        self,
        index: LlvmIndex,
        functions: Iterable[int],
        profile: Profile | None,
        lines: Callable[[Instr], Iterable[str]] = lambda _: (),
    ) -> None:
        """`lines` names the source lines of an instruction, such as ``hotspot.cu:44``."""
        self.index = index
        self._lines = lines
        self.functions = sorted(functions)
        """The functions that edits may touch."""
        self.swept: dict[object, list[Any]] = {}
        """What edit kinds found worth trying, for later draws."""
        self._profile = profile
        self._all = _Weighted(index, self.functions, profile)
        self._of = {number: _Weighted(index, [number], profile) for number in self.functions}

    @property
    def profiled(self) -> bool:
        """Whether it is known how often blocks ran."""
        return self._profile is not None

    def heat(self, block: str) -> float:
        """How often a block ran; 1 if that is not known."""
        return 1.0 if self._profile is None else float(self._profile.get(block, 0.0))

    def cost(self, instr: Instr) -> float:
        """What the source line of an instruction costs; 0 if that is not known.

        The profile has it as ``line hotspot.cu:44``. Of inlined code, all lines that led to it are looked up.
        """
        if self._profile is None:
            return 0.0
        costs = (self._profile.get(f"line {line}", 0.0) for line in self._lines(instr))
        return max(costs, default=0.0)

    def known(self, id_: str, what: str) -> int | None:
        """What a kernel's launches all had in common, such as ``ntid.x``; None if that is not known.

        The profile has it as ``KERNEL ntid.x=256``, with how many launches had it.
        """
        function = self.index.functions[self.index.function_of[self.index.block_of[id_]]]
        start = f"{function.name} {what}="
        found = [name[len(start) :] for name in self._profile or () if name.startswith(start)]
        return int(found[0]) if len(found) == 1 else None

    def happened(self, event: str) -> bool:
        """Whether something that was watched while the program was profiled happened."""
        return bool(self._profile and self._profile.get(event, 0.0))

    @property
    def parameters(self) -> list[tuple[str, list[int]]]:
        """The numbers that the host code offers, the first being the usual one.

        The profile has them as ``parameter block=256,64,128``.
        """
        found = (name.split(" ", 1) for name in self._profile or ())
        offers = (words[1].partition("=") for words in found if words[0] == "parameter")
        return [(name, [int(value) for value in values.split(",")]) for name, _, values in offers]

    def hottest(self, allowed: Callable[[Instr], bool]) -> list[Instr]:
        """All instructions that are allowed and ran: those of lines that cost most first, then by how often."""
        found = [
            instr
            for number in self.functions
            for block in self.index.functions[number].blocks
            if self.index.dominance[number].reachable(block.id) and self.heat(block.id)
            for instr in block.body
            if allowed(instr)
        ]
        heat, block_of = self.heat, self.index.block_of
        return sorted(found, key=lambda one: (-self.cost(one), -heat(block_of[one.id])))

    def draw(
        self,
        rng: np.random.Generator,
        allowed: Callable[[Instr], bool],
        *,
        function: int | None = None,
        other_than: str | None = None,
    ) -> str | None:
        """Draw an instruction that is allowed, from one function or from all; None if none is found."""
        pool = self._all if function is None else self._of[function]
        if not pool.ids:
            return None
        for _ in range(TRIES):
            found = pool.ids[int(np.searchsorted(pool.sums, rng.random(), side="right"))]
            if found != other_than and allowed(self.index.instr[found]):
                return found
        return None


class _Weighted:
    def __init__(self, index: LlvmIndex, functions: list[int], profile: Profile | None) -> None:
        self.ids: list[str] = []
        weights: list[float] = []
        for number in functions:
            dominance = index.dominance[number]
            for block in index.functions[number].blocks:
                if dominance.reachable(block.id):
                    runs = 1.0 if profile is None else float(profile.get(block.id, 0.0))
                    self.ids += index.body[block.id]
                    weights += [runs] * len(block.body)
        share = np.asarray(weights, np.float64)
        mean = float(share.mean()) if len(share) else 0.0
        share = np.maximum(share, FLOOR * mean) if mean else np.ones_like(share)
        self.sums = np.cumsum(share) / share.sum() if len(share) else share
        if len(share):
            self.sums[-1] = 1.0
