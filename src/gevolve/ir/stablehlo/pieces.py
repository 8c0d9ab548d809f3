"""Cuts a program into pieces that are programs themselves, so that a variant has most of its pieces from others.

A piece begins at an operation that does much, such as a product of matrices. That is told by the operation alone, so
an edit changes the pieces around it and no others; and what a network repeats is the same piece again. A product that
needs something turned first begins none: what makes that something will make it turned.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from gevolve.ir.stablehlo.mlir import bytecode, context, everything_in, ir, parse
from gevolve.ir.stablehlo.slicing import product_dims

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gevolve.ir.stablehlo.mlir import Op, Value

_MUCH = {"convolution", "dot", "dot_general", "fft", "reduce_window", "scatter", "sort", "while"}
"""Operations that a piece begins with."""
_SPREAD = {"broadcast_in_dim", "convert", "iota", "reshape"}
"""Operations that are not worth handing over: whoever uses what they make makes it once more."""


class Piece(NamedTuple):
    """A part of a program. Values are numbered: first the arguments of the program, then what pieces make."""

    artefact: bytes
    takes: tuple[int, ...]
    gives: tuple[int, ...]


class Pieces(NamedTuple):
    """A program as pieces, to be run in order."""

    parts: tuple[Piece, ...]
    results: tuple[int, ...]


@lru_cache(8)  # one who computes outputs asks, and one who tells the time
def pieces_of(artefact: bytes) -> Pieces | None:
    """The pieces of a program; None if there is one only."""
    module = parse(artefact)
    functions = list(module.regions[0].blocks[0].operations)
    if len(functions) != 1:  # what calls another is taken as it is
        return None
    block = functions[0].regions[0].blocks[0]
    *steps, end = (one.operation for one in block.operations)
    cut = _Cut(list(block.arguments))
    groups: list[list[Op]] = [[]]
    for step in steps:
        if cut.spread(step):
            continue
        if groups[-1] and cut.begins(step):
            groups.append([])
        groups[-1].append(step)
    if len(groups) == 1:
        return None
    return cut.into(groups, list(end.operands))


class _Cut:
    """The values of a program while it is cut."""

    def __init__(self, arguments: Sequence[Value]) -> None:
        self._numbers: dict[Value, int] = {value: n for n, value in enumerate(arguments)}
        self._spread: dict[Value, Op] = {}

    def spread(self, step: Op) -> bool:
        """Whether an operation only spreads out arguments and constants."""
        name = step.name.removeprefix("stablehlo.")
        known = all(one in self._numbers or one in self._spread for one in step.operands)
        if name != "constant" and not (name in _SPREAD and known):
            return False
        self._spread.update((one, step) for one in step.results)
        return True

    def begins(self, step: Op) -> bool:
        """Whether a piece begins with an operation: what comes before a product must come as rows, or as columns if second."""
        if step.name != "stablehlo.dot_general":
            return step.name.removeprefix("stablehlo.") in _MUCH
        batches, summed = product_dims(step)
        for side, value in enumerate(step.operands):
            if value in self._numbers or value in self._spread:
                continue
            batch, over = batches[side], summed[side]
            start = len(batch) if side else len(ir.ShapedType(value.type).shape) - len(over)
            wanted = [*range(len(batch)), *range(start, start + len(over))]
            if [*batch, *over] != wanted:
                return False
        return True

    def into(self, groups: Sequence[Sequence[Op]], results: Sequence[Value]) -> Pieces:
        made_in = {
            value: place for place, group in enumerate(groups) for step in group for value in step.results
        }  # fmt: skip
        handed: list[dict[Value, None]] = [{} for _ in groups]
        for place, group in enumerate(groups):
            for value in self._used(group):
                if made_in.get(value, place) != place:
                    handed[made_in[value]][value] = None
        last = len(groups) - 1
        for value in results:
            if value in made_in:
                handed[made_in[value]][value] = None
            elif value in self._spread:
                handed[last][value] = None
        for value in (one for gives in handed for one in gives):
            self._numbers[value] = len(self._numbers)
        parts = [
            self._piece(group, list(gives)) for group, gives in zip(groups, handed, strict=True)
        ]
        return Pieces(tuple(parts), tuple(self._numbers[value] for value in results))

    def _used(self, group: Sequence[Op]) -> dict[Value, None]:
        """Values from outside that operations use, those that are spread as what they are spread from."""
        found: dict[Value, None] = {}

        def use(value: Value) -> None:
            if value in self._spread:
                for one in self._spread[value].operands:
                    use(one)
            else:
                found[value] = None

        own: set[Value] = set()
        for step in group:
            for inner in everything_in(step):
                for block in (one for region in inner.regions for one in region.blocks):
                    own.update(block.arguments)
                for value in inner.operands:
                    if value not in own:
                        use(value)
                own.update(inner.results)
        return found

    def _piece(self, group: Sequence[Op], gives: Sequence[Value]) -> Piece:
        """A module of some operations."""
        outside = self._used(group)
        for value in gives:
            if value in self._spread:
                outside |= self._used([self._spread[value]])
        takes = list(outside)
        with context(), ir.Location.unknown():
            types = [one.type for one in takes], [one.type for one in gives]
            module = ir.Module.create()
            function = ir.Operation.create(
                "func.func",
                attributes={
                    "sym_name": ir.StringAttr.get("main"),
                    "sym_visibility": ir.StringAttr.get("public"),
                    "function_type": ir.TypeAttr.get(ir.FunctionType.get(*types)),
                },
                regions=1,
                ip=ir.InsertionPoint(module.body),
            )
            body = function.regions[0].blocks.append(*types[0])
            place = ir.InsertionPoint(body)
            made = dict(zip(takes, body.arguments, strict=True))

            def copy(step: Op) -> None:
                inside = everything_in(step)
                for value in (one for inner in inside for one in inner.operands):
                    if value in self._spread and value not in made:
                        copy(self._spread[value])
                clone = step.clone(ip=place).operation
                for old, new in zip(inside, everything_in(clone), strict=True):
                    for number, operand in enumerate(old.operands):
                        if operand in made:
                            new.operands[number] = made[operand]
                made.update(zip(step.results, clone.results, strict=True))

            for step in group:
                copy(step)
            for value in gives:
                if value not in made:
                    copy(self._spread[value])
            ir.Operation.create("func.return", operands=[made[one] for one in gives], ip=place)
        numbers = self._numbers
        # Bytecode tells in which order a value's uses were made; those of a clone come as they stand.
        return Piece(
            bytecode(module.operation.clone().operation),
            tuple(numbers[one] for one in takes),
            tuple(numbers[one] for one in gives),
        )
