"""The kinds of edit of a model: how each is drawn, and what it does to a draft.

The six of the kernels mean here what they mean there, on tensors that are resized where types do not
agree; `scale` and `narrow` are of models alone. Inserted operations are named ``x`` and the edit's
seed, so a later edit can find them whatever else is in the patch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gevolve.ir.choices import choose, rank
from gevolve.ir.stablehlo.draft import CONSTANTS, Draft, used
from gevolve.ir.stablehlo.narrow import narrow_op
from gevolve.ir.stablehlo.numbers import scaled
from gevolve.ir.stablehlo.tensor import NARROWER, tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from gevolve.ir.stablehlo.index import Facts
    from gevolve.ir.stablehlo.sites import Sites
    from gevolve.patch import Edit

TRIES = 16
"""How many operands are looked at before a program is taken to have none to replace."""
POWERS = (-3, -2, -1, 1, 2, 3)
"""A constant is scaled by two to the power of one of these."""


class Skipped(Exception):  # noqa: N818  (an outcome: the patch says so and goes on)
    """An edit that does nothing here, and why."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of edit: its name, how to draw its arguments, and how to apply it."""

    name: str
    sentence: str
    """The edit in words, with a place for each argument."""
    draw: Callable[[Sites, np.random.Generator], tuple[str, ...] | None]
    apply: Callable[[Draft, tuple[str, ...], int], None]
    last: bool = False
    """Whether it takes effect after all edits of other kinds, whatever its place in the patch."""

    @property
    def arity(self) -> int:
        """How many arguments it takes."""
        return self.sentence.count("{")


def _find(draft: Draft, id_: str, allowed: Callable[[Facts], bool]) -> Facts:
    if draft.get(id_) is None:
        raise Skipped(f"{id_} is gone")
    facts = draft.facts(id_)
    if not allowed(facts):
        raise Skipped(f"{id_} is a {facts.name} that this edit leaves alone")
    return facts


def _movable(facts: Facts) -> bool:
    return facts.movable


def _deletable(facts: Facts) -> bool:
    return facts.deletable


def _clone(draft: Draft, source: str, before: str, seed: int) -> str:
    """Insert a repaired copy of an operation."""
    _find(draft, source, _movable)
    name = f"x{seed:x}"
    if draft.get(name) is not None:
        raise Skipped(f"{name} is there already")
    draft.clone(source, name, before)
    draft.repair_inputs(name, seed)
    return name


def copy(draft: Draft, args: tuple[str, ...], seed: int) -> None:
    source, before = args
    _find(draft, before, lambda _: True)
    draft.connect(_clone(draft, source, before, seed), seed)


def delete(draft: Draft, args: tuple[str, ...], seed: int) -> None:
    """Take out an operation; its uses get one of its operands, or any value that may be used."""
    (target,) = args
    facts = _find(draft, target, _deletable)
    op = draft.op(target)
    operands = list(op.operands)
    for number, (result, kind) in enumerate(zip(op.results, facts.results, strict=True)):
        if not used(result):
            continue
        same = [str(i) for i, slot in enumerate(facts.slots) if slot == kind]
        fitting = [str(i) for i, slot in enumerate(facts.slots) if tensor(slot)]
        own = choose(seed, f"own{number}", same or fitting)
        if own is not None and rank(seed, "own", str(number)) & 1:
            found = draft.fit(operands[int(own)], kind, target)
        else:
            found = draft.substitute(kind, target, seed, f"delete{number}")
        result.replace_all_uses_with(found)
    draft.remove(target)


def move(draft: Draft, args: tuple[str, ...], seed: int) -> None:
    target, before = args
    _find(draft, target, _movable)
    _find(draft, before, lambda _: True)
    if before in {target, draft.after(target)}:
        raise Skipped(f"{target} is before {before} already")
    draft.place(target, before)
    draft.repair_inputs(target, seed)
    if not draft.repair_uses(target, seed):
        draft.connect(target, seed)


def replace(draft: Draft, args: tuple[str, ...], seed: int) -> None:
    target, source = args
    old = _find(draft, target, _movable)
    _find(draft, source, _movable)
    if target == source:
        raise Skipped(f"{target} is replaced by itself")
    made = draft.op(_clone(draft, source, target, seed)).results
    for number, (result, kind) in enumerate(
        zip(draft.op(target).results, old.results, strict=True)
    ):
        if used(result):
            found = made[min(number, len(made) - 1)]
            result.replace_all_uses_with(draft.fit(found, kind, target))
    draft.remove(target)


def swap(draft: Draft, args: tuple[str, ...], seed: int) -> None:
    one, other = args
    for id_ in args:
        _find(draft, id_, _movable)
    if one == other:
        raise Skipped(f"{one} is swapped with itself")
    next_one, next_other = draft.after(one), draft.after(other)
    if next_other != one:
        draft.place(one, next_other)
    if next_one != other:
        draft.place(other, next_one)
    for id_ in args:
        draft.repair_inputs(id_, seed)
    for id_ in args:
        draft.repair_uses(id_, seed)


def operand(draft: Draft, args: tuple[str, ...], seed: int) -> None:
    del seed  # the edit names its value: there is nothing to choose
    target, index, name = args
    facts = _find(draft, target, lambda facts: not facts.alone)
    if not index.isdecimal() or int(index) >= len(facts.slots):
        raise Skipped(f"{target} has no operand {index}")
    number = int(index)
    slot = facts.slots[number]
    if tensor(slot) is None:
        raise Skipped(f"operand {index} of {target} is {slot}, which cannot be made of another")
    value = None if name in CONSTANTS else draft.value(name)
    if value is None:
        if name not in CONSTANTS:
            raise Skipped(f"{name} is gone")
        draft.set_operand(target, number, draft.fit(name, slot, target))
        return
    if tensor(str(value.type)) is None:
        raise Skipped(f"{name} is {value.type}, which cannot be made into {slot}")
    op = draft.op(target)
    if not draft.available(value, op):
        raise Skipped(f"{name} is not available at {target}")
    if op.operands[number] == value:
        raise Skipped(f"operand {index} of {target} is {name} already")
    draft.set_operand(target, number, draft.fit(value, slot, target))


def scale(draft: Draft, args: tuple[str, ...], seed: int) -> None:
    del seed  # the edit says it all
    target, power = args
    _find(draft, target, lambda facts: facts.name == "stablehlo.constant")
    if power.removeprefix("-") not in {str(abs(known)) for known in POWERS}:
        raise Skipped(f"{power} is no power of two that constants are scaled by")
    value = scaled(draft.op(target), int(power))
    if value is None:
        raise Skipped(f"{target} stays the same, or no longer fits its type")
    draft.op(target).attributes["value"] = value


def narrow(draft: Draft, args: tuple[str, ...], seed: int) -> None:
    del seed  # the edit says it all
    target, element = args
    facts = _find(draft, target, lambda facts: bool(facts.narrowable))
    if element not in NARROWER.get(facts.narrowable, ()):
        raise Skipped(f"{element} is not narrower than the {facts.narrowable} of {target}")
    if not narrow_op(draft, target, facts.narrowable, element):
        raise Skipped(f"{target} does not work in {element}")


def _draw_pair(
    sites: Sites, rng: np.random.Generator, second: Callable[[Facts], bool]
) -> tuple[str, ...] | None:
    first = sites.draw(rng, _movable)
    if first is None:
        return None
    other = sites.draw(rng, second, other_than=first)
    return None if other is None else (first, other)


def _draw_move(sites: Sites, rng: np.random.Generator) -> tuple[str, ...] | None:
    for _ in range(TRIES):
        found = _draw_pair(sites, rng, lambda _: True)
        if found is None or not sites.follows(*found):
            return found
    return None


def _draw_delete(sites: Sites, rng: np.random.Generator) -> tuple[str, ...] | None:
    target = sites.draw(rng, _deletable)
    return None if target is None else (target,)


def _draw_operand(sites: Sites, rng: np.random.Generator) -> tuple[str, ...] | None:
    for _ in range(TRIES):
        target = sites.draw(rng, lambda facts: bool(facts.open_slots))
        if target is None:
            return None
        facts = sites.index.facts[target]
        number = facts.open_slots[int(rng.integers(len(facts.open_slots)))]
        choices = sites.values(target, number, resized=rng.random() < 0.3)
        if choices:
            return target, str(number), choices[int(rng.integers(len(choices)))]
    return None


def _draw_scale(sites: Sites, rng: np.random.Generator) -> tuple[str, ...] | None:
    target = sites.draw(rng, lambda facts: facts.scalable)
    return None if target is None else (target, str(POWERS[int(rng.integers(len(POWERS)))]))


def _draw_narrow(sites: Sites, rng: np.random.Generator) -> tuple[str, ...] | None:
    target = sites.draw(rng, lambda facts: bool(facts.narrowable))
    if target is None:
        return None
    elements = NARROWER[sites.index.facts[target].narrowable]
    return target, elements[int(rng.integers(len(elements)))]


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            "copy",
            "copy {} before {}",
            lambda sites, rng: _draw_pair(sites, rng, lambda _: True),
            copy,
        ),
        Kind("delete", "delete {}", _draw_delete, delete),
        Kind("move", "move {} before {}", _draw_move, move),
        Kind(
            "replace",
            "replace {} by {}",
            lambda sites, rng: _draw_pair(sites, rng, _movable),
            replace,
        ),
        Kind("swap", "swap {} with {}", lambda sites, rng: _draw_pair(sites, rng, _movable), swap),
        Kind("operand", "operand {1} of {0} becomes {2}", _draw_operand, operand),
        Kind("scale", "scale {} by 2^{}", _draw_scale, scale),
        # What is narrowed is another operation afterwards; other edits should not have to know.
        Kind("narrow", "compute {} in {}", _draw_narrow, narrow, last=True),
    )
}


def apply_edit(draft: Draft, edit: Edit) -> None:
    """Change the draft as the edit says; raises `Skipped` if that is not possible here."""
    kind = KINDS.get(edit.kind)
    if kind is None:
        raise Skipped(f"models have no edit {edit.kind!r}")
    if len(edit.args) != kind.arity:
        raise Skipped(f"{edit.kind} takes {kind.arity} arguments, not {len(edit.args)}")
    kind.apply(draft, edit.args, edit.seed)
