"""A modelled time for what XLA compiled: a roofline over every instruction of the optimized program.

An instruction takes the longer of its arithmetic over the machine's rate and its bytes over the bandwidth, and
something for being started. A loop takes its body times its trip count. The result is the same each time, which no
clock is; `gevolve.device.xla.calibration` measures what the machine can do.
"""

from __future__ import annotations

import math
from functools import cached_property

import msgspec

from gevolve.device.xla.demand import MOVES, before_cases, demand, made_of, read, result, updated
from gevolve.device.xla.hlo import Computation, Instruction, Module, Shape, read_module
from gevolve.device.xla.loops import HARD, PACKET, SOFT, left_over, one_by_one, round_length, tiled
from gevolve.device.xla.products import convolution_seconds, dot_seconds
from gevolve.device.xla.rates import Rates

FREE = frozenset(
    [
        "parameter",
        "constant",
        "get-tuple-element",
        "tuple",
        "bitcast",
        "after-all",
        "partition-id",
        "replica-id",
        "opt-barrier",
    ]
)
"""Instructions for which nothing runs."""
_MOVED = frozenset(["transpose", "copy", "reverse", "concatenate", "pad", "slice", "broadcast"])
_CUT = 0.4
"""Where rows are cut, or put into longer ones, an element takes this part of one that is fetched from elsewhere."""
_ONE_BY_ONE = 10
"""A function that is computed only in some cases is done one by one, which takes so many times as long."""
FUNCTIONS = frozenset(Rates().functions)
_IN_TILES = 0.4
"""What is computed takes this part in a tile, beside what it takes to fetch and store it there."""
_FOUND = 2.0
"""One whose place is found by dividing takes so many times what it does to fetch and store it."""
_MOVED_APART = 0.7
"""One that is only moved takes this part of one that is computed, when they are done one by one."""
_BESIDE = 1.6
"""A function beside others in one loop takes so many times as long, ..."""
_MANY = 14
"""... or in one of so many instructions: not all that it needs is at hand any more."""
_IN_TURN, _HANDED = 8, 0.3
"""So few instructions XLA starts one after the other, which takes this part of what it does to find out which may begin."""
_CALLED = 0.65
"""A function in a loop that does one element at a time takes longer by this part of such an element."""
_SMALL = 'xla_cpu_small_call="true"'
"""What a call that is compiled as one says of itself."""
_LIBRARY = '"__ynn_fusion"'
"""What a fusion that a library does says of itself."""


class UnknownTripsError(Exception):
    """A loop runs until something happens: how often cannot be known before."""


class Roofline:
    """The modelled time of one module."""

    def __init__(self, text: str | Module, rates: Rates) -> None:
        self._module = read_module(text) if isinstance(text, str) else text
        self._rates = rates
        self._seconds: dict[str, float] = {}
        self._starts: dict[str, float] = {}

    @cached_property
    def seconds(self) -> float:
        """Seconds of one run; raises `UnknownTripsError` if that depends on data."""
        rates, entry = self._rates, self.entry
        arguments = sum(one.opcode == "parameter" for one in entry.instructions.values())
        results = len(entry.instructions[entry.root].shapes)
        started = rates.run + arguments * rates.argument + results * rates.result
        started += self._instructions(self._module.entry) * rates.first
        return started + self.computation(self._module.entry)

    @property
    def entry(self) -> Computation:
        """What runs when the program does."""
        return self._module.computations[self._module.entry]

    def computation(self, name: str) -> float:
        """Seconds of a computation of the module."""
        if name not in self._seconds:
            computation = self._module.computations[name]
            self._seconds[name] = sum(
                self.instruction(computation, one) for one in computation.instructions.values()
            )
        return self._seconds[name]

    def _instructions(self, name: str) -> int:
        """How many instructions a computation starts, those of a loop once."""
        count = 0
        for one in self._module.computations[name].instructions.values():
            if one.opcode not in FREE:
                count += 1
            if one.opcode in ("while", "conditional", "call") and _SMALL not in one.attributes:
                count += sum(self._instructions(n) for names in one.called.values() for n in names)
        return count

    @cached_property
    def _at_once(self) -> Roofline:
        """For what is compiled as one: nothing in it is started by itself."""
        return Roofline(self._module, msgspec.structs.replace(self._rates, start=0.0, turn=0.0))

    def instruction(self, inside: Computation, one: Instruction) -> float:
        """Seconds of one instruction of a computation."""
        rates = self._rates
        if one.opcode in FREE:
            return 0.0
        if one.opcode == "while":
            if one.trips is None:
                raise UnknownTripsError(one.name)
            parts = (name for what in ("body", "condition") for name in one.called[what])
            return one.trips * (rates.turn + sum(map(self.computation, parts))) + rates.turn
        if one.opcode == "conditional":
            branches = one.called.get("branch_computations") or one.called.get("to_apply", [])
            return rates.turn + max(map(self.computation, branches), default=0.0)
        if one.opcode == "call":
            inner = self._at_once if _SMALL in one.attributes else self
            return self._start(inside) + sum(map(inner.computation, one.called["to_apply"]))
        if one.opcode == "fusion":
            body = self._module.computations[one.called["calls"][0]]
            if _LIBRARY in one.attributes:
                return (
                    self._start(inside)
                    + rates.call
                    + sum(self._pass(body, i) for i in body.instructions.values())
                )
            return self._fusion(inside, one, body)
        return self._start(inside) + max(
            self._work(inside, one, one.shape.count), self._traffic(inside, one)
        )

    def _start(self, inside: Computation) -> float:
        """What it takes to start an instruction of a computation, which is less where there are few."""
        if inside.name not in self._starts:
            count = sum(one.opcode not in FREE for one in inside.instructions.values())
            self._starts[inside.name] = self._rates.start * (1.0 if count > _IN_TURN else _HANDED)
        return self._starts[inside.name]

    def _pass(self, body: Computation, one: Instruction) -> float:
        """Of an instruction that a library does: one pass over its array."""
        rates = self._rates
        if one.opcode in FREE or one.opcode in ("broadcast", "reshape", "slice"):
            return 0.0
        if one.opcode == "dot":
            return dot_seconds(rates, body, one, fused=True)
        if one.opcode == "convolution":
            return convolution_seconds(rates, body, one, fused=True)
        if one.opcode == "reduce":
            return body.instructions[one.operands[0]].shape.count * rates.sum
        if one.opcode == "reduce-window":
            return one.shape.count * _window_size(one) * rates.pool
        if one.opcode == "transpose":
            return one.shape.count * rates.exchange
        return one.shape.count * rates.library.get(one.opcode, rates.pass_) * _words(one)

    def _fusion(self, inside: Computation, one: Instruction, body: Computation) -> float:
        """A fusion computes each element of its result from those that it needs."""
        root = result(body)
        work = self._computed(body, root) + self._fetched(body, root)
        return self._start(inside) + max(work, self._traffic(inside, one, body))

    def _computed(self, body: Computation, root: Instruction) -> float:
        """What a fusion computes, in a loop or in tiles."""
        rates = self._rates
        cases = before_cases(body)
        apart = one_by_one(body, root)
        needs = list(demand(body, root))
        functions = sum(one.opcode in SOFT and n >= root.shape.count for n, one in needs)
        several = functions > 1 or round_length(body, root) >= _MANY
        work = 0.0
        for needed, inner in needs:
            if inner.opcode in FREE or inner.opcode in MOVES:
                continue
            slower = 1.0
            if inner.name in cases and inner.opcode in FUNCTIONS:
                slower = _ONE_BY_ONE
            elif inner.opcode in HARD and (apart or inner.name in cases):
                slower = PACKET
            elif inner.opcode in SOFT and several:
                slower = _BESIDE
            work += slower * self._work(body, inner, needed)
        work *= left_over(body, root)
        wide = tiled(body)
        if wide and root.shape.count > 1:
            return wide * (rates.tile * root.shape.count * _words(root) + _IN_TILES * work)
        moves = all(
            one.opcode in FREE or one.opcode in MOVES or n < root.shape.count for n, one in needs
        )
        slower = _MOVED_APART if moves else 1 + _CALLED * functions
        return work + apart * root.shape.count * rates.apart * slower

    def _fetched(self, body: Computation, root: Instruction) -> float:
        """Of the elements that a fusion takes from elsewhere than the ones before them."""
        inner = body.instructions.values()
        count = max((shape.count for shape in root.shapes), default=0)
        moved = [i.name for i in inner if _moved(body, i)]
        if not moved:
            if _rejoined(body):
                return count * self._rates.apart * _FOUND
            return count * self._rates.single * _CUT if any(_cut(body, i) for i in inner) else 0.0
        given = {i.name: needed for needed, i in demand(body, root) if i.opcode == "parameter"}
        count = min(count, max((given.get(name, 0) for name in made_of(body, moved)), default=0))
        computes = any(i.opcode not in FREE and i.opcode not in MOVES for i in inner)
        return count * (self._rates.single if computes else self._rates.exchange)

    def _work(self, inside: Computation, one: Instruction, count: float) -> float:
        """Seconds of arithmetic of an instruction that gives so many elements."""
        rates = self._rates
        part = count / max(1, one.shape.count)
        if one.opcode == "dot":
            return part * dot_seconds(rates, inside, one, fused=False)
        if one.opcode == "convolution":
            return part * convolution_seconds(rates, inside, one, fused=False)
        if one.opcode == "reduce":
            return part * self._reduction(inside, one)
        if one.opcode in ("reduce-window", "select-and-scatter"):
            return count * _window_size(one) * rates.tap
        if one.opcode == "sort":
            along = (*one.numbers("dimensions"), -1)[0]
            length = one.shape.sizes[along] if one.shape.sizes else 1
            return len(one.shapes) * count * math.log2(length + 2) * rates.compare
        if one.opcode == "scatter":
            changes = inside.instructions[one.operands[-1]].shape
            return 4 * (changes.count * rates.element + changes.rows * rates.single)
        if one.opcode in ("gather", "dynamic-update-slice", "dynamic-slice"):
            return one.shape.rows * rates.single
        if one.opcode in _MOVED:
            cut = rates.single * _CUT if _cut(inside, one) else 0.0
            return count * (rates.exchange if _moved(inside, one) else cut)
        if one.opcode == "custom-call":
            return 10 * one.bytes * rates.near
        return count * rates.functions.get(one.opcode, rates.element) * _words(one)

    def _reduction(self, inside: Computation, one: Instruction) -> float:
        """Of a whole reduction, which a loop does one by one; the library does most."""
        taken = inside.instructions[one.operands[0]].shape
        rates = self._rates
        if len(one.operands) > 2:
            return taken.count * rates.choose
        return taken.count * rates.fold

    def _traffic(
        self, inside: Computation, one: Instruction, body: Computation | None = None
    ) -> float:
        """Seconds that the bytes of an instruction take."""
        given = one.bytes
        taken = [shape.bytes for shape in inside.shapes_of(one)]
        if body is not None:
            taken = [read(body, number, size) for number, size in enumerate(taken)]
            changed = updated(body)
            if changed is not None:  # in place
                given = body.instructions[changed.operands[1]].bytes
                taken[0] = 0.0
        elif one.opcode == "dynamic-update-slice":
            given = inside.instructions[one.operands[1]].bytes
            taken = [given]
        elif one.opcode == "scatter":
            given = inside.instructions[one.operands[-1]].bytes
            taken = [given]
        elif one.opcode in ("dynamic-slice", "slice", "gather"):
            taken = [given]
        total = given + sum(taken)
        rates = self._rates
        return total * (rates.near if total <= rates.cache else rates.far)


def _rejoined(body: Computation) -> bool:
    """Whether dimensions change places and rows are joined to longer ones, so that no row lies in one piece."""
    inner = body.instructions
    return (
        not tiled(body)
        and any(one.opcode == "transpose" for one in inner.values())
        and all(one.opcode in FREE or one.opcode in MOVES for one in inner.values())
        and any(
            one.opcode == "bitcast" and one.shape.inner > inner[one.operands[0]].shape.inner > 1
            for one in inner.values()
        )
    )


def _words(one: Instruction) -> float:
    """The size of an element, for the processor does as many at once as fit."""
    return max(0.5, one.shape.bytes / max(1, one.shape.count) / 4)


def _window_size(one: Instruction) -> int:
    sizes = one.attributes.partition("window={size=")[2].partition(" ")[0].partition("}")[0]
    return math.prod(int(size) for size in sizes.split("x") if size.isdigit())


def _cut(inside: Computation, one: Instruction) -> bool:
    """Whether rows become shorter or longer."""
    if one.opcode not in ("slice", "pad", "concatenate"):
        return False
    taken = inside.instructions[one.operands[0]].shape
    return one.shape.count > 1 and one.shape.inner != taken.inner


def _moved(inside: Computation, one: Instruction) -> bool:
    """Whether elements that lie side by side were elsewhere before."""
    if one.opcode not in ("transpose", "copy", "reverse"):
        return False
    taken = inside.instructions[one.operands[0]].shape
    if one.shape.count <= 1 or not taken.order:
        return False
    if one.opcode == "reverse":
        return one.shape.order[0] in one.numbers("dimensions")
    closest = _closest(taken)
    if one.opcode == "transpose":
        closest = one.numbers("dimensions").index(closest)
    return closest != _closest(one.shape)


def _closest(shape: Shape) -> int:
    """The dimension whose elements lie side by side; one of a single element has none that do."""
    return next((at for at in shape.order if shape.sizes[at] > 1), shape.order[0])
