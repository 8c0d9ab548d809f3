"""The edit kinds of models.

The six of the kernels mean here what they mean there, on tensors that are resized where types do not
agree. The others are of models alone: `scale` and `narrow` are here, and those that leave out or exchange a part
of the work in modules of their own.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np

from gevolve.ir.edit_kind import Show, Skipped
from gevolve.ir.registry import EditKinds
from gevolve.ir.seeded import seeded_choice, seeded_hash
from gevolve.ir.stablehlo.activation import Cheaper
from gevolve.ir.stablehlo.draft import CONSTANTS, StablehloDraft, has_uses
from gevolve.ir.stablehlo.edit_kind import (
    StablehloEdit,
    any_operation,
    deletable,
    insert_copy,
    movable,
)
from gevolve.ir.stablehlo.index import OpInfo
from gevolve.ir.stablehlo.loops import Carry, Decay, Smooth, rates
from gevolve.ir.stablehlo.narrow import narrow_op
from gevolve.ir.stablehlo.products import Fill, Split, Turn, Widen
from gevolve.ir.stablehlo.pruning import Contract, Part, Skip, Taps
from gevolve.ir.stablehlo.scaling import scaled
from gevolve.ir.stablehlo.sites import StablehloSites
from gevolve.ir.stablehlo.tensor import NARROWER, tensor

TRIES = 16
"""How many operands are looked at before a program is taken to have none to replace."""
POWERS = (-3, -2, -1, 1, 2, 3)
"""A constant is scaled by two to the power of one of these."""
RESIZED = 0.3
"""How often an operand is drawn from values that must be resized to fit."""


@dataclass(frozen=True)
class Copy(StablehloEdit):
    """Insert a copy of an operation before another one, and let something use its result."""

    name = "copy"
    of_paper = True
    seeded = True
    source: str
    before: str

    @classmethod
    def draw(cls, sites: StablehloSites, rng: np.random.Generator) -> Self | None:
        pair = _draw_pair(sites, rng, any_operation)
        return None if pair is None else cls(*pair)

    def apply(self, draft: StablehloDraft, seed: int) -> None:
        draft.find(self.before, any_operation)
        draft.connect(insert_copy(draft, self.source, self.before, seed), seed)

    def describe(self, show: Show) -> str:
        return f"copy {show(self.source)} before {show(self.before)}"


@dataclass(frozen=True)
class Delete(StablehloEdit):
    """Take out an operation; its uses get one of its operands, or any value that may be used."""

    name = "delete"
    of_paper = True
    seeded = True
    target: str

    @classmethod
    def draw(cls, sites: StablehloSites, rng: np.random.Generator) -> Self | None:
        target = sites.draw(rng, deletable)
        return None if target is None else cls(target)

    def apply(self, draft: StablehloDraft, seed: int) -> None:
        target = self.target
        info = draft.find(target, deletable)
        op = draft.op(target)
        operands = list(op.operands)
        for number, (result, kind) in enumerate(zip(op.results, info.results, strict=True)):
            if not has_uses(result):
                continue
            same = [str(i) for i, slot in enumerate(info.slots) if slot == kind]
            fitting = [str(i) for i, slot in enumerate(info.slots) if tensor(slot)]
            own = seeded_choice(seed, f"own{number}", same or fitting)
            if own is not None and seeded_hash(seed, "own", str(number)) & 1:
                found = draft.fit(operands[int(own)], kind, target)
            else:
                found = draft.substitute(kind, target, seed, f"delete{number}")
            result.replace_all_uses_with(found)
        draft.remove(target)

    def describe(self, show: Show) -> str:
        return f"delete {show(self.target)}"


@dataclass(frozen=True)
class Move(StablehloEdit):
    """Move an operation before another one."""

    name = "move"
    of_paper = True
    seeded = True
    target: str
    before: str

    @classmethod
    def draw(cls, sites: StablehloSites, rng: np.random.Generator) -> Self | None:
        for _ in range(TRIES):
            pair = _draw_pair(sites, rng, any_operation)
            if pair is None:
                return None
            if not sites.follows(*pair):
                return cls(*pair)
        return None

    def apply(self, draft: StablehloDraft, seed: int) -> None:
        draft.find(self.target, movable)
        draft.find(self.before, any_operation)
        if self.before in {self.target, draft.after(self.target)}:
            raise Skipped(f"{self.target} is before {self.before} already")
        draft.move_to(self.target, self.before)
        draft.repair_inputs(self.target, seed)
        if not draft.repair_uses(self.target, seed):
            draft.connect(self.target, seed)

    def describe(self, show: Show) -> str:
        return f"move {show(self.target)} before {show(self.before)}"


@dataclass(frozen=True)
class Replace(StablehloEdit):
    """Put a copy of another operation in the place of one."""

    name = "replace"
    of_paper = True
    seeded = True
    target: str
    source: str

    @classmethod
    def draw(cls, sites: StablehloSites, rng: np.random.Generator) -> Self | None:
        pair = _draw_pair(sites, rng, movable)
        return None if pair is None else cls(*pair)

    def apply(self, draft: StablehloDraft, seed: int) -> None:
        target = self.target
        old = draft.find(target, movable)
        draft.find(self.source, movable)
        if target == self.source:
            raise Skipped(f"{target} is replaced by itself")
        made = draft.op(insert_copy(draft, self.source, target, seed)).results
        for number, (result, kind) in enumerate(
            zip(draft.op(target).results, old.results, strict=True)
        ):
            if has_uses(result):
                found = made[min(number, len(made) - 1)]
                result.replace_all_uses_with(draft.fit(found, kind, target))
        draft.remove(target)

    def describe(self, show: Show) -> str:
        return f"replace {show(self.target)} by {show(self.source)}"


@dataclass(frozen=True)
class Swap(StablehloEdit):
    """Let two operations change places."""

    name = "swap"
    of_paper = True
    seeded = True
    first: str
    second: str

    @classmethod
    def draw(cls, sites: StablehloSites, rng: np.random.Generator) -> Self | None:
        pair = _draw_pair(sites, rng, movable)
        return None if pair is None else cls(*pair)

    def apply(self, draft: StablehloDraft, seed: int) -> None:
        first, second = both = (self.first, self.second)
        for id_ in both:
            draft.find(id_, movable)
        if first == second:
            raise Skipped(f"{first} is swapped with itself")
        after_first, after_second = draft.after(first), draft.after(second)
        if after_second != first:
            draft.move_to(first, after_second)
        if after_first != second:
            draft.move_to(second, after_first)
        for id_ in both:
            draft.repair_inputs(id_, seed)
        for id_ in both:
            draft.repair_uses(id_, seed)

    def describe(self, show: Show) -> str:
        return f"swap {show(self.first)} with {show(self.second)}"


@dataclass(frozen=True)
class SetOperand(StablehloEdit):
    """Let one operand of an operation be another value, resized if need be, or zero or one."""

    name = "operand"
    of_paper = True
    target: str
    number: int
    value: str
    """The id of a value, or ``=0`` or ``=1``."""

    @classmethod
    def draw(cls, sites: StablehloSites, rng: np.random.Generator) -> Self | None:
        for _ in range(TRIES):
            target = sites.draw(rng, lambda info: bool(info.open_slots))
            if target is None:
                return None
            slots = sites.index.info[target].open_slots
            number = slots[int(rng.integers(len(slots)))]
            values = sites.values(target, number, resized=rng.random() < RESIZED)
            if values:
                return cls(target, number, values[int(rng.integers(len(values)))])
        return None

    def apply(self, draft: StablehloDraft, seed: int) -> None:
        del seed  # the edit names its value: there is nothing to choose
        target, number, name = self.target, self.number, self.value
        info = draft.find(target, lambda info: not info.untouchable)
        if not 0 <= number < len(info.slots):
            raise Skipped(f"{target} has no operand {number}")
        slot = info.slots[number]
        if tensor(slot) is None:
            raise Skipped(
                f"operand {number} of {target} is {slot}, which cannot be made of another"
            )
        if name in CONSTANTS:
            draft.set_operand(target, number, draft.fit(name, slot, target))
            return
        value = draft.value(name)
        if value is None:
            raise Skipped(f"{name} is gone")
        if tensor(str(value.type)) is None:
            raise Skipped(f"{name} is {value.type}, which cannot be made into {slot}")
        op = draft.op(target)
        if not draft.available(value, op):
            raise Skipped(f"{name} is not available at {target}")
        if op.operands[number] == value:
            raise Skipped(f"operand {number} of {target} is {name} already")
        draft.set_operand(target, number, draft.fit(value, slot, target))

    def describe(self, show: Show) -> str:
        return f"operand {self.number} of {show(self.target)} becomes {show(self.value)}"


@dataclass(frozen=True)
class Scale(StablehloEdit):
    """Multiply a constant by a power of two."""

    name = "scale"
    target: str
    power: int

    @classmethod
    def draw(cls, sites: StablehloSites, rng: np.random.Generator) -> Self | None:
        target = sites.draw(rng, lambda info: info.scalable)
        if target is None:
            return None
        power = POWERS[int(rng.integers(len(POWERS)))]
        if scaled(sites.op(target), power) is None:  # a small whole number can only grow
            power = -power
        return cls(target, power)

    @classmethod
    def sweep(cls, sites: StablehloSites) -> Iterable[Self]:
        """Constants of loops: rates, which may be outside, then bounds, strides and all others."""
        info, index = sites.index.info, sites.index
        inside = [id_ for id_ in info if index.parent_of[index.block_of[id_]] is not None]
        found = [id_ for id_ in (*rates(sites), *reversed(inside)) if info[id_].scalable]
        return [
            cls(id_, power)
            for power in (1, -1, 2)
            for id_ in dict.fromkeys(found)
            if scaled(sites.op(id_), power) is not None
        ]

    @classmethod
    def bundles(cls, sites: StablehloSites) -> Iterable[Iterable[Self]]:
        """All rates of a training at once, for it learns well if they go together."""
        found = [id_ for id_ in rates(sites) if sites.index.info[id_].scalable]
        return [[cls(id_, power) for id_ in found] for power in (2, 1, 3, -1, -2)]

    def apply(self, draft: StablehloDraft, seed: int) -> None:
        del seed  # the edit says it all
        target = self.target
        draft.find(target, lambda info: info.name == "stablehlo.constant")
        if self.power not in POWERS:
            raise Skipped(f"{self.power} is no power of two that constants are scaled by")
        value = scaled(draft.op(target), self.power)
        if value is None:
            raise Skipped(f"{target} stays the same, or no longer fits its type")
        draft.op(target).attributes["value"] = value

    def describe(self, show: Show) -> str:
        return f"scale {show(self.target)} by 2^{self.power}"


@dataclass(frozen=True)
class Narrow(StablehloEdit):
    """Let an operation compute in a narrower element type."""

    name = "narrow"
    # What is narrowed is another operation afterwards; other edits should not have to know.
    last = True
    target: str
    element: str

    @classmethod
    def draw(cls, sites: StablehloSites, rng: np.random.Generator) -> Self | None:
        target = sites.draw(rng, lambda info: bool(info.narrowable))
        if target is None:
            return None
        elements = NARROWER[sites.index.info[target].narrowable]
        return cls(target, elements[int(rng.integers(len(elements)))])

    def apply(self, draft: StablehloDraft, seed: int) -> None:
        del seed  # the edit says it all
        target, element = self.target, self.element
        info = draft.find(target, lambda info: bool(info.narrowable))
        if element not in NARROWER.get(info.narrowable, ()):
            raise Skipped(f"{element} is not narrower than the {info.narrowable} of {target}")
        if not narrow_op(draft, target, info.narrowable, element):
            raise Skipped(f"{target} does not work in {element}")

    def describe(self, show: Show) -> str:
        return f"compute {show(self.target)} in {self.element}"


EDIT_KINDS = EditKinds(
    "stablehlo",
    StablehloEdit,
    (
        *(Copy, Delete, Move, Replace, Swap, SetOperand, Scale, Narrow),
        *(Skip, Contract, Part, Taps, Fill, Widen, Split, Turn, Cheaper, Carry, Smooth, Decay),
    ),
)
"""All edit kinds of models, in the order in which the search draws them."""


def _draw_pair(
    sites: StablehloSites, rng: np.random.Generator, second: Callable[[OpInfo], bool]
) -> tuple[str, str] | None:
    first = sites.draw(rng, movable)
    if first is None:
        return None
    other = sites.draw(rng, second, other_than=first)
    return None if other is None else (first, other)
