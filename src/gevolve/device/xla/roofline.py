"""A modelled time for what XLA compiled: a roofline over every instruction of the optimized program.

An instruction takes the longer of its arithmetic over the machine's rate and its bytes over the bandwidth, and
something for being started. A loop takes its body times its trip count. The result is the same each time, which no
clock is; `gevolve.device.xla.rates` measures what the machine can do.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from gevolve.device.xla.hlo import Computation, Instruction, Module, Shape, read_module

if TYPE_CHECKING:
    from collections.abc import Iterable


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """What a machine can do, in seconds a unit; the defaults are of one core of a server of 2023."""

    start: float = 0.25e-6
    """Of one instruction, whatever it does."""
    turn: float = 0.5e-6
    """Of one round of a loop."""
    multiply: float = 1.2e-11
    """A floating-point operation of a matrix product or convolution."""
    element: float = 6e-11
    """A simple operation on one element, when several are done at once."""
    single: float = 6e-10
    """The same when elements are done one by one."""
    function: float = 1.2e-9
    """An exponential or another function on one element."""
    near: float = 2.5e-11
    """A byte of memory in the cache."""
    far: float = 1e-10
    """A byte of memory outside of it."""
    cache: float = 1 << 20
    """Bytes of cache of one core."""


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
_FUNCTIONS = frozenset(
    [
        "exponential",
        "exponential-minus-one",
        "log",
        "log-plus-one",
        "logistic",
        "tanh",
        "power",
        "sine",
        "cosine",
        "tan",
        "atan2",
        "erf",
        "cbrt",
        "rsqrt",
        "sqrt",
        "divide",
        "remainder",
    ]
)
_CHEAP = frozenset({"rsqrt", "sqrt", "divide"})
"""Functions that the processor has an instruction for."""
_MOVES = frozenset(
    [
        "broadcast",
        "reshape",
        "bitcast",
        "slice",
        "pad",
        "concatenate",
        "reverse",
        "transpose",
        "dynamic-slice",
        "copy",
        "iota",
        "constant",
        "parameter",
        "tuple",
        "get-tuple-element",
        "gather",
    ]
)
"""Instructions inside of a fusion that only say where a value is."""
_SCATTERED = frozenset({"gather", "scatter", "sort", "select-and-scatter", "dynamic-update-slice"})
_LANES = 8
"""A row shorter than this is done one by one."""
_CALL = 60
"""A convolution outside of a fusion is started in so many times what another instruction is, ..."""
_TAP = 8
"""... and takes so many times a single element to fetch the channels at one place of its window."""
_GROUPED = 12
"""A grouped convolution does its products one by one, each in so many times a single element."""
_POOLED = 2
"""An element of the window of a pooling takes so many times a single one."""
_LIBRARY = 1.1
"""A convolution takes so many times what a matrix product of as many operations does."""


class UnknownTripsError(Exception):
    """A loop runs until something happens: how often cannot be known before."""


class Roofline:
    """The modelled time of one module."""

    def __init__(self, text: str, rates: Rates) -> None:
        self._module: Module = read_module(text)
        self._rates = rates
        self._seconds: dict[str, float] = {}

    @cached_property
    def seconds(self) -> float:
        """Seconds of one run; raises `UnknownTripsError` if that depends on data."""
        return self._of(self._module.entry)

    def _of(self, name: str) -> float:
        if name not in self._seconds:
            computation = self._module.computations[name]
            self._seconds[name] = sum(
                self._instruction(computation, one) for one in computation.instructions.values()
            )
        return self._seconds[name]

    def _instruction(self, inside: Computation, one: Instruction) -> float:
        rates = self._rates
        if one.opcode in FREE:
            return 0.0
        if one.opcode == "while":
            if one.trips is None:
                raise UnknownTripsError(one.name)
            parts = (name for what in ("body", "condition") for name in one.called[what])
            return one.trips * (rates.turn + sum(map(self._of, parts))) + rates.turn
        if one.opcode == "conditional":
            branches = one.called.get("branch_computations") or one.called.get("to_apply", [])
            return rates.turn + max(map(self._of, branches), default=0.0)
        if one.opcode == "call":
            return rates.start + sum(map(self._of, one.called["to_apply"]))
        if one.opcode == "fusion":
            return self._fusion(inside, one)
        return rates.start + max(
            self._work(inside, one, one.shape.count), self._traffic(inside, one)
        )

    def _fusion(self, inside: Computation, one: Instruction) -> float:
        """A fusion computes each element of its root from those that it needs."""
        body = self._module.computations[one.called["calls"][0]]
        root = _root(body)
        products = [i for i in body.instructions.values() if i.opcode in ("dot", "convolution")]
        work = 0.0
        for needed, inner in _demand(body, root, whole=bool(products)):
            if inner.opcode not in FREE and inner.opcode not in _MOVES:
                work += self._work(body, inner, needed, fused=True)
        moved = root.shape.count if root.opcode != "tuple" else one.bytes / 4
        width = min((shape.inner for shape in one.shapes), default=1)
        work += moved * self._per_element(width, body)
        return self._rates.start + max(work, self._traffic(inside, one, body))

    def _per_element(self, width: int, body: Computation) -> float:
        """Of storing one element of a fusion."""
        rates = self._rates
        scattered = any(
            i.opcode in ("gather", "transpose", "reverse") for i in body.instructions.values()
        )
        return rates.single if scattered or width < _LANES else rates.element

    def _work(
        self, inside: Computation, one: Instruction, count: float, *, fused: bool = False
    ) -> float:
        """Seconds of arithmetic of an instruction that gives so many elements."""
        rates = self._rates
        if one.opcode == "dot":
            return count * self._product(inside, one)
        if one.opcode == "convolution":
            return count * self._window(inside, one, fused=fused)
        if one.opcode == "reduce":
            return self._reduction(inside, one) * count / max(1, one.shape.count)
        if one.opcode in ("reduce-window", "select-and-scatter"):
            return count * _window_size(one) * rates.single * _POOLED
        if one.opcode == "sort":
            length = max((shape.count for shape in one.shapes), default=1)
            return count * math.log2(length + 2) * rates.single * 4
        if one.opcode in _SCATTERED:
            return count * rates.single * 2
        if one.opcode in _FUNCTIONS:
            return count * rates.function * (0.3 if one.opcode in _CHEAP else 1.0)
        if one.opcode in (
            "transpose",
            "copy",
            "reverse",
            "concatenate",
            "pad",
            "rng-bit-generator",
        ):
            return count * (rates.single if _reordered(inside, one) else rates.element)
        if one.opcode == "custom-call":
            return 10 * one.bytes * rates.near
        return count * (rates.element if one.shape.inner >= _LANES else rates.single)

    def _product(self, inside: Computation, one: Instruction) -> float:
        """Of one element of a matrix product."""
        left = inside.instructions[one.operands[0]].shape
        depth = math.prod(left.sizes[at] for at in one.numbers("lhs_contracting_dims"))
        return 2 * depth * self._rates.multiply * _poor(one.shape, depth)

    def _window(self, inside: Computation, one: Instruction, *, fused: bool) -> float:
        """Of one element of a convolution.

        A library does those that are fused. Others gather what a window covers first, piece by piece.
        """
        rates = self._rates
        kernel = inside.instructions[one.operands[1]].shape
        labels = one.attributes.partition("dim_labels=")[2].partition(",")[0]
        names = labels.partition("_")[2].partition("->")[0]
        size = dict(zip(names, kernel.sizes, strict=False))
        out = max(1, size.get("o", 1))
        depth = kernel.count // out
        if "feature_group_count" in one.attributes:
            return depth * _GROUPED * rates.single
        product = 2 * depth * rates.multiply * _LIBRARY
        if fused:
            return product
        called = _CALL * rates.start / max(1, one.shape.count)
        return product + depth / max(1, size.get("i", 1)) * _TAP * rates.single / out + called

    def _reduction(self, inside: Computation, one: Instruction) -> float:
        """Of a whole reduction."""
        taken = inside.instructions[one.operands[0]].shape
        across = taken.order[:1] != () and taken.order[0] in one.numbers("dimensions")
        return taken.count * (self._rates.single / 2 if across else self._rates.element)

    def _traffic(
        self, inside: Computation, one: Instruction, body: Computation | None = None
    ) -> float:
        """Seconds that the bytes of an instruction take."""
        given = one.bytes
        taken = [shape.bytes for shape in inside.shapes_of(one)]
        if body is not None:
            taken = [_read(body, number, size) for number, size in enumerate(taken)]
            changed = _updated(body)
            if changed is not None:  # in place
                given = body.instructions[changed.operands[1]].bytes
                taken[0] = 0.0
        elif one.opcode == "dynamic-update-slice":
            given = inside.instructions[one.operands[1]].bytes
            taken = [given]
        elif one.opcode in ("dynamic-slice", "slice", "gather"):
            taken = [given]
        total = given + sum(taken)
        rates = self._rates
        return total * (rates.near if total <= rates.cache else rates.far)


def _updated(body: Computation) -> Instruction | None:
    """What a fusion changes in place, if that is what it does."""
    root = body.instructions[body.root]
    while root.opcode == "bitcast":
        root = body.instructions[root.operands[0]]
    return root if root.opcode == "dynamic-update-slice" else None


def _root(body: Computation) -> Instruction:
    """What a fusion computes; of an array that it changes in place, the part that changes."""
    changed = _updated(body)
    return body.instructions[changed.operands[1] if changed else body.root]


def _read(body: Computation, number: int, size: float) -> float:
    """Of an argument of a fusion, the bytes that it reads."""
    name = next(
        i.name
        for i in body.instructions.values()
        if i.opcode == "parameter" and i.given == str(number)
    )
    users = [i for i in body.instructions.values() if name in i.operands]
    if users and all(i.opcode in ("dynamic-slice", "slice", "gather") for i in users):
        return min(size, sum(i.bytes for i in users))
    return size


def _demand(
    body: Computation, root: Instruction, *, whole: bool
) -> Iterable[tuple[float, Instruction]]:
    """How many elements of each instruction a fusion computes, its root first.

    What is used at several places is computed for each, but for one place only once.
    """
    needed: dict[str, float] = {}
    for one in reversed(body.instructions.values()):
        mine = float(one.shape.count) if one.name == root.name else needed.get(one.name, 0.0)
        if whole:  # a library computes each value once
            mine = float(one.shape.count)
        yield mine, one
        each = mine
        if one.opcode == "reduce":
            each = mine * body.instructions[one.operands[0]].shape.count / max(1, one.shape.count)
        if one.opcode == "tuple":
            for name in one.operands:
                needed[name] = float(body.instructions[name].shape.count)
            continue
        same = one.opcode not in _MOVES
        for name in set(one.operands):
            source = body.instructions[name].shape
            if one.opcode == "pad":
                each = min(mine, float(source.count))
            elif (
                one.opcode == "broadcast"
            ):  # what does not change along a row is computed once for it
                along = (
                    one.shape.order[0] in one.numbers("dimensions") if source.count > 1 else None
                )
                each = 1.0 if along is None else mine if along else mine / max(1, one.shape.inner)
            needed[name] = (
                max(needed.get(name, 0.0), each) if same else needed.get(name, 0.0) + each
            )


def _poor(shape: Shape, depth: int) -> float:
    """How much longer a matrix product takes for being small or narrow."""
    columns = shape.inner
    rows = shape.count // max(1, columns)
    return (1 + 6 / max(1, columns)) * (1 + 4 / max(1, rows)) * (1 + 8 / max(1, depth))


def _window_size(one: Instruction) -> int:
    sizes = one.attributes.partition("window={size=")[2].partition(" ")[0].partition("}")[0]
    return math.prod(int(size) for size in sizes.split("x") if size.isdigit())


def _reordered(inside: Computation, one: Instruction) -> bool:
    taken = inside.shapes_of(one)
    if one.opcode == "transpose":
        return (
            bool(one.numbers("dimensions"))
            and one.numbers("dimensions")[-1] != len(taken[0].sizes) - 1
        )
    return one.opcode == "reverse" or (bool(taken) and taken[0].order != one.shape.order)
