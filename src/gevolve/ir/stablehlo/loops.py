"""Edit kinds for loops: a new value that a loop carries along, and arithmetic on its counter."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, Self

from gevolve.ir.edit_kind import Show, Skipped
from gevolve.ir.stablehlo.edit_kind import StablehloEdit
from gevolve.ir.stablehlo.mlir import Attribute, Value, context, ir
from gevolve.ir.stablehlo.resize import splat
from gevolve.ir.stablehlo.tensor import Tensor, tensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gevolve.ir.stablehlo.draft import StablehloDraft
    from gevolve.ir.stablehlo.sites import StablehloSites

STEPS = ("stablehlo.add", "stablehlo.subtract")
EIGHTHS = (4, 7, 6)
"""How much of the last round's step is kept, in eighths."""
WAYS = {"tapers": (1.9, 0.1), "falls": (1.0, 0.1), "rises": (0.1, 1.0)}
"""What a value is multiplied by in the first round and after the last: never 0, so that the last rounds still do something.

What tapers stays the same on average, so that it is not a smaller rate as well.
"""


@dataclass(frozen=True)
class Carry(StablehloEdit):
    """Let a loop carry a sum of its steps along, older ones counting less: momentum.

    The target adds a step to a value that its loop carries, or subtracts it; the step becomes the sum. Of a step that is
    something times one number, as a gradient times a rate, that something is summed: what is then multiplied is new in each
    round, a rate that changes counts at once, and XLA is faster at a product and a sum together than at either alone.
    """

    name = "carry"
    # The loop is another operation afterwards; other edits should not have to know.
    last = True
    target: str
    eighths: int

    @classmethod
    def sweep(cls, sites: StablehloSites) -> Iterable[Self]:
        targets = list(_updates(sites))
        return [cls(target, kept) for kept in EIGHTHS for target in targets]

    @classmethod
    def bundles(cls, sites: StablehloSites) -> Iterable[Iterable[Self]]:
        targets = list(_updates(sites))
        return [[cls(target, kept) for target in targets] for kept in EIGHTHS]

    @property
    def share(self) -> float:
        """What a new step counts for in the sum."""
        return 1.0

    def apply(self, draft: StablehloDraft, seed: int) -> None:
        del seed  # the edit says it all
        target = self.target
        info = draft.find(target, lambda info: info.name in STEPS)
        if not 0 < self.eighths < 8:
            raise Skipped(f"{self.eighths} eighths are no part")
        kind = tensor(info.results[0])
        parent = draft.index.parent_of[draft.block_of(target)]
        loop = "" if parent is None or parent[1] != 1 else parent[0]
        whole = draft.get(loop) if loop else None
        if whole is None or whole.name != "stablehlo.while" or kind is None or not kind.is_float:
            raise Skipped(f"{target} is in no loop that could carry a step of it")
        start = splat(kind, 0, partial(draft.emit, loop))
        body = draft.carry(loop, start)
        step = draft.op(target).operands[1]
        factors = _factors(step)
        emit = partial(draft.emit, target)
        kept = emit("multiply", kind, [body, splat(kind, self.eighths / 8, emit)], {})
        new = factors[0] if factors else step
        if self.share != 1:
            new = emit("multiply", kind, [new, splat(kind, self.share, emit)], {})
        total = emit("add", kind, [kept, new], {})
        draft.carried(loop, total)
        if factors:
            step = emit("multiply", kind, [total, factors[1]], {})
        draft.set_operand(target, 1, step if factors else total)

    def describe(self, show: Show) -> str:
        return f"let steps of {show(self.target)} go on by {self.eighths}/8 in the next round"


@dataclass(frozen=True)
class Smooth(Carry):
    """Let a step be a running mean of the steps of all rounds: momentum that leaves the rate what it was.

    Steps that go on by 6/8 become four times as large in the long run; alone they may be too large, whatever they are good for.
    """

    name = "smooth"

    @property
    def share(self) -> float:
        return 1 - self.eighths / 8

    def describe(self, show: Show) -> str:
        return f"let steps of {show(self.target)} be {8 - self.eighths}/8 their own and {self.eighths}/8 those of the rounds before"


@dataclass(frozen=True)
class Decay(StablehloEdit):
    """Multiply a value in a loop's body by something that falls, or rises, from round to round."""

    name = "decay"
    target: str
    loop: str
    counter: str
    rounds: int
    way: Literal["tapers", "falls", "rises"]

    @classmethod
    def sweep(cls, sites: StablehloSites) -> Iterable[Self]:
        found = list(_changing(sites))
        return [cls(*one, way) for way in ("tapers", "falls", "rises") for one in found]

    @classmethod
    def bundles(cls, sites: StablehloSites) -> Iterable[Iterable[Self]]:
        found = list(_changing(sites))
        return [[cls(*one, way) for one in found] for way in ("tapers", "falls")]

    def apply(self, draft: StablehloDraft, seed: int) -> None:
        del seed  # the edit says it all
        target = self.target
        info = draft.find(target, lambda info: len(info.results) == 1)
        kind, counter = tensor(info.results[0]), draft.value(self.counter)
        if counter is None or kind is None or not kind.is_float or self.rounds < 1:
            raise Skipped(f"{target} is no value that could change with {self.counter}")
        if not draft.available(counter, draft.op(target)):
            raise Skipped(f"{self.counter} is not available at {target}")
        result = draft.op(target).results[0]
        users = [(use.owner, use.operand_number) for use in result.uses]
        emit = partial(draft.emit, draft.after(target))
        single = Tensor((), kind.element)
        first, last = WAYS[self.way]
        slope = (last - first) / self.rounds
        number = emit("convert", single, [counter], {})
        number = emit("multiply", single, [number, splat(single, slope, emit)], {})
        number = emit("add", single, [number, splat(single, first, emit)], {})
        wide = emit("broadcast_in_dim", kind, [number], {"broadcast_dimensions": _none()})
        changed = emit("multiply", kind, [result, wide], {})
        for user, position in users:
            user.operation.operands[position] = changed

    def describe(self, show: Show) -> str:
        return f"{show(self.target)} {self.way} over the {self.rounds} rounds of {show(self.loop)}"


def _updates(sites: StablehloSites) -> Iterator[str]:
    """Operations that add a step to what their loop carries, the largest first."""
    index = sites.index
    found: list[str] = []
    for id_, info in index.info.items():
        parent = index.parent_of[index.block_of[id_]]
        if info.name not in STEPS or parent is None or parent[1] != 1:
            continue
        if index.info[parent[0]].name != "stablehlo.while":
            continue
        carried = f"b{parent[0][1:]}."
        kind = tensor(info.results[0])
        last = index.body[index.block_of[id_]][-1]
        if (
            index.operands[id_][0].startswith(carried)
            and id_ in index.operands[last]
            and kind is not None
            and kind.is_float
        ):
            found.append(id_)
    yield from sorted(found, key=lambda id_: -sites.cost(id_))


def rates(sites: StablehloSites) -> list[str]:
    """The constants that steps of loops are multiplied by, each once, those of the largest steps first."""
    steps = (sites.index.operands[update][1] for update in _updates(sites))
    return list(dict.fromkeys(rate for step in steps if (rate := _rate(sites, step))))


def _changing(sites: StablehloSites) -> Iterator[tuple[str, str, str, int]]:
    """What a step is multiplied by, or the step, with its loop, that one's counter and its rounds."""
    index = sites.index
    for update in _updates(sites):
        parent = index.parent_of[index.block_of[update]]
        counter = sites.counters.get(parent[0]) if parent else None
        step = index.operands[update][1]
        if parent is None or counter is None or step not in index.info:
            continue
        if index.block_of[step] == index.block_of[update]:
            rate = _rate(sites, step)  # which is cheaper to change than the step
            inside = bool(rate) and index.block_of[rate] == index.block_of[step]
            yield rate if inside else step, parent[0], *counter


def _rate(sites: StablehloSites, step: str) -> str:
    """The constant that a step is multiplied by; or none."""
    index = sites.index
    if step not in index.info or index.info[step].name != "stablehlo.multiply":
        return ""
    for operand in index.operands[step]:
        info = index.info.get(operand)
        wide = info is not None and info.name == "stablehlo.broadcast_in_dim"
        narrow = index.operands[operand][0] if wide else operand
        if narrow in index.info and index.info[narrow].name == "stablehlo.constant":
            return narrow
    return ""


def _factors(step: Value) -> tuple[Value, Value] | None:
    """Of a step that is a value times one number: the value and the number, as wide as it; of any other None."""
    owner = step.owner
    if isinstance(owner, ir.Block) or owner.name != "stablehlo.multiply":
        return None
    wide = [_is_one_number(factor) for factor in owner.operands]
    if wide[0] is wide[1]:
        return None
    value, number = owner.operands[wide[0]], owner.operands[not wide[0]]
    return value, number


def _is_one_number(value: Value) -> bool:
    """Whether all elements of a value are the same, as far as it shows."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return False
    if owner.name == "stablehlo.constant":
        return bool(getattr(owner.operation.attributes["value"], "is_splat", False))
    given = (
        tensor(str(owner.operands[0].type)) if owner.name == "stablehlo.broadcast_in_dim" else None
    )
    return given is not None and given.count == 1


def _none() -> Attribute:
    return ir.DenseI64ArrayAttr.get([], context())
