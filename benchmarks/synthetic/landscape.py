"""A made-up program whose every edit has a known effect, to study the search without an IR.

It has `sites`, in blocks that run more or less often, of which a third are *soft*: some edits there
save part of the site's time, others at the price of an error. What each edit does is decided by a
hash of it: mostly it fails; else it does nothing, slows the program down or, at a soft site, saves.
Beside these there are *chains*: two or three particular deletions that save much together, while
all but the last do nothing alone and the last one alone fails, as edits of real kernels do. Many
pairs of useful edits fail together. The shares follow single random edits to a real stencil kernel:
two thirds failed, a tenth made it faster.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from gevolve.evaluate.verdict import Evaluation, Verdict
from gevolve.patch import Edit, Patch
from gevolve.program import Change, Profile, Variant

KINDS = ("copy", "delete", "move", "replace", "swap", "operand")
USEFUL = {"copy": 0.25, "delete": 0.4, "move": 0.1, "replace": 0.5, "swap": 0.05, "operand": 0.6}
"""How likely an edit at a soft site is to save time."""


def _hash(*parts: object) -> float:
    """A number from 0 to 1 that depends on the parts alone."""
    digest = hashlib.blake2b(repr(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64


@dataclass(frozen=True, slots=True)
class Effect:
    """What one edit does on its own."""

    name: str
    save: float = 0.0
    error: float = 0.0


class Landscape:
    """A `Program` of made-up edits that judges its own patches."""

    def __init__(self, seed: int = 0, sites: int = 150, chains: int = 4) -> None:
        self.seed = seed
        rng = np.random.default_rng([seed, 77])
        self.blocks = [f"b{i}" for i in range(10)]
        self.block_of = [int(b) for b in np.sort(rng.integers(0, 10, sites))]
        runs = rng.choice([1.0, 2.0, 4.0, 8.0], 10)
        self.profile: Profile = dict(zip(self.blocks, map(float, runs), strict=True))
        soft = rng.random(sites) < 1 / 3
        cost = runs[self.block_of] * rng.gamma(2.0, 1.0, sites) * soft
        self.cost = [float(c) for c in cost / cost.sum() * 0.3]
        self.chains: list[tuple[tuple[int, ...], float]] = []
        free = [int(s) for s in rng.permutation(sites)]
        for index in range(chains):
            length = 2 + index % 2
            chain, free = tuple(free[:length]), free[length:]
            self.chains.append((chain, 0.06 + 0.04 * (index % 2)))
        self.in_chain = {site: chain for chain, _ in self.chains for site in chain}
        self.effect = cache(self._effect)
        self.judged = 0

    digest = "landscape"
    text = "landscape"
    kinds = KINDS
    paper_kinds = KINDS
    loose_kinds: tuple[str, ...] = ()

    def sweep(self, kinds: Sequence[str], profile: Profile | None) -> list[Patch]:
        return []

    def propose(self, kind: str, rng: np.random.Generator, profile: Profile | None) -> Edit | None:
        weights = np.array([(profile or {}).get(self.blocks[b], 1.0) for b in self.block_of])
        running = np.cumsum(weights)
        target = int(np.searchsorted(running, rng.random() * running[-1], side="right"))
        other = int(rng.integers(len(self.block_of)))
        args = (f"i{target}",) if kind == "delete" else (f"i{target}", f"i{other}")
        return Edit(kind, args, int(rng.integers(1 << 32)))

    def apply(self, patch: Patch) -> Variant:
        return Variant(patch, str(patch))

    def verify(self, text: str) -> str | None:
        return None

    def instrumented(self) -> str:
        return self.text

    def describe(self, edit: Edit) -> Change:
        return Change(str(edit))

    def _effect(self, edit: Edit) -> Effect:
        site = int(edit.args[0][1:])
        if edit.kind == "delete" and site in self.in_chain:
            return Effect("chain")
        draw = _hash(self.seed, edit.kind, edit.args, edit.seed % 4)
        useful = USEFUL[edit.kind] if self.cost[site] else 0.0
        if draw < useful:
            part = 0.3 + 0.7 * _hash(self.seed, edit, "part")
            error = 10 ** (-4 * _hash(self.seed, edit, "error"))
            wrong = _hash(self.seed, edit, "wrong") < 0.4
            return Effect("save", self.cost[site] * part, error if wrong else 0.0)
        if draw < useful + 0.1 * (1 - useful):
            return Effect("slow", -0.05 * _hash(self.seed, edit, "slow"))
        if draw < useful + 0.25 * (1 - useful):
            return Effect("nothing")
        return Effect("fail")

    def judge(self, patch: Patch, tolerance: float = 0.0) -> Evaluation:
        """What a real evaluator would say of this patch."""
        self.judged += 1
        effects = {edit: self.effect(edit) for edit in patch}
        if any(effect.name == "fail" for effect in effects.values()):
            return Evaluation(verdict=Verdict.CRASH)
        deleted = {int(e.args[0][1:]) for e, effect in effects.items() if effect.name == "chain"}
        time, error = 1.0, 0.0
        for chain, gain in self.chains:
            if chain[-1] in deleted and not deleted.issuperset(chain):
                return Evaluation(verdict=Verdict.WRONG)
            time -= gain if deleted.issuperset(chain) else 0.0
        saved: dict[int, float] = {}
        for edit, effect in effects.items():
            site = int(edit.args[0][1:])
            if effect.name == "save":
                saved[site] = max(saved.get(site, 0.0), effect.save)
                error += effect.error
            elif effect.name == "slow":
                time -= effect.save
        useful = sorted(saved)
        for i, a in enumerate(useful):
            if any(_pair_fails(self.seed, a, b) for b in useful[i + 1 :]):
                return Evaluation(verdict=Verdict.WRONG)
        if error > tolerance:
            return Evaluation(verdict=Verdict.WRONG)
        time -= sum(saved[site] for site in useful)
        visible = sorted(str(e) for e, effect in effects.items() if _visible(effect, e))
        artefact = hashlib.sha256("\n".join(visible).encode()).hexdigest()
        return Evaluation(verdict=Verdict.OK, time=time, error=error, artefact=artefact)


@cache
def _pair_fails(seed: int, a: int, b: int) -> bool:
    return _hash(seed, a, b, "pair") < 0.25


def _visible(effect: Effect, edit: Edit) -> bool:
    """Whether the compiler keeps a trace of the edit; it drops most of what does nothing."""
    return effect.name != "nothing" or edit.seed % 3 == 0


def judge_all(program: Landscape, patches: Sequence[Patch], tolerance: float) -> list[Evaluation]:
    return [program.judge(patch, tolerance) for patch in patches]
