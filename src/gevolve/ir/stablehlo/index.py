"""What edits need to look up in a program, computed once when it is loaded.

Operations are numbered in the order in which they are printed: ``o17``; its results are ``o17``,
``o17.1`` and so on. The arguments of main are ``a0``, ``a1`` …; in a loop ``o5`` those of the body
are ``b5.0`` … and those of the condition ``c5.0`` …, which MLIR prints by the names of the body's.
What the regions of a reduction, a sort and their like hold has no ids: such an operation is an atom.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from sys import intern
from typing import TYPE_CHECKING

from gevolve.ir.stablehlo.mlir import (
    Block,
    Location,
    Op,
    Value,
    blocks_of,
    context,
    everything_in,
    ir,
    named,
    source_line_of,
)
from gevolve.ir.stablehlo.scaling import scaled
from gevolve.ir.stablehlo.tensor import NARROWER, tensor

if TYPE_CHECKING:
    from collections.abc import Iterator

OPEN = frozenset({"stablehlo.while", "stablehlo.case", "stablehlo.if"})
"""Operations whose regions are edited like the body of main."""
TERMINATORS = frozenset({"stablehlo.return", "func.return"})
UNTOUCHABLE = frozenset(
    f"stablehlo.{name}"
    for name in [
        "after_all",
        "all_gather",
        "all_reduce",
        "all_to_all",
        "async_done",
        "async_start",
        "collective_broadcast",
        "collective_permute",
        "composite",
        "create_token",
        "cross_replica_sum",
        "custom_call",
        "get_tuple_element",
        "infeed",
        "outfeed",
        "partition_id",
        "recv",
        "reduce_scatter",
        "replica_id",
        "rng",
        "rng_bit_generator",
        "send",
        "tuple",
        "uniform_dequantize",
        "uniform_quantize",
    ]
)
"""Operations that no edit touches: what they do is not in the program."""
_FIXED_TYPES = frozenset(
    f"stablehlo.{name}"
    for name in ["constant", "iota", "convert", "bitcast_convert", "real", "imag", "complex", "fft"]
)
"""Operations that are about their types, or compute nothing, so that narrowing them is no gain."""


@dataclass(frozen=True)
class OpInfo:
    """What is known of an operation before any edit."""

    name: str
    slots: tuple[str, ...]
    """The types of its operands, which no edit changes."""
    results: tuple[str, ...]
    """The types of its results."""
    scalable: bool = False
    """Whether it is a constant that a power of two makes another one."""

    @property
    def untouchable(self) -> bool:
        return self.name in UNTOUCHABLE

    @cached_property
    def deletable(self) -> bool:
        return (
            bool(self.results)
            and not self.untouchable
            and self.name not in TERMINATORS
            and all(map(tensor, self.results))
        )

    @cached_property
    def movable(self) -> bool:
        return self.deletable and self.name not in OPEN and all(map(tensor, self.slots))

    @cached_property
    def narrowable(self) -> str:
        """The element type that may be made narrower around it; "" if there is none."""
        if not self.movable or self.name in _FIXED_TYPES:
            return ""
        kinds = [kind.element for kind in map(tensor, (*self.results, *self.slots)) if kind]
        return next((kind for kind in kinds if kind in NARROWER), "")

    @cached_property
    def open_slots(self) -> tuple[int, ...]:
        """The operands that may be replaced."""
        return (
            ()
            if self.untouchable
            else tuple(i for i, kind in enumerate(self.slots) if tensor(kind))
        )

    def values(self, id_: str) -> tuple[tuple[str, str], ...]:
        """The names and types of the results that repair can use, if this is the operation's id."""
        return tuple(
            (id_ if number == 0 else f"{id_}.{number}", kind)
            for number, kind in enumerate(self.results)
            if tensor(kind)
        )


op_info = lru_cache(1 << 14)(OpInfo)
"""`OpInfo`, one object for all operations that are alike."""


class StablehloIndex:
    """Ids to operations, blocks and values of the unedited module, which gets its ids as names."""

    def __init__(self, module: Op) -> None:
        self.module = module
        self.walk_order: list[tuple[int, str]] = []
        """Each id with its position in MLIR's walk through all operations."""
        self.info: dict[str, OpInfo] = {}
        self.body: dict[str, tuple[str, ...]] = {}
        """The operations of each block."""
        self.block_of: dict[str, str] = {}
        """The block of each operation."""
        self.parent_of: dict[str, tuple[str, int] | None] = {}
        """The operation that holds each block, and the number of its region; None for main's block."""
        self.values: dict[str, tuple[tuple[str, str], ...]] = {}
        """The values that each operation gives and each block takes, with their types."""
        self.type: dict[str, str] = {}
        """The type of each value."""
        self.origins: dict[str, str] = {}
        """The source line of each operation where it is known, and the names of main's arguments."""
        self.blocks_in: dict[str, list[str]] = {}
        """The blocks that an operation holds."""
        self.operands: dict[str, tuple[str, ...]] = {}
        """The values that each operation uses."""
        main = module.regions[0].blocks[0].operations[0].operation
        assert main.name == "func.func"
        self._names: dict[Value, str] = {}
        self._walked = 2  # the module and main come before
        self._add_block(main.regions[0].blocks[0], None)
        del self._names

    def _add_block(self, block: Block, parent: tuple[str, int] | None) -> None:
        name = f"b{len(self.body)}"
        self.parent_of[name] = parent
        if parent is not None:
            self.blocks_in.setdefault(parent[0], []).append(name)
        self.body[name] = ()
        self.values[name] = tuple(self._add_arguments(block, parent))
        body: list[str] = []
        for view in block.operations:
            operation = view.operation
            id_ = f"o{len(self.info)}"
            body.append(id_)
            self.block_of[id_] = name
            self._add(operation, id_)
            if operation.name in OPEN:
                for number, inner in enumerate(blocks_of(operation)):
                    self._add_block(inner, (id_, number))
            elif len(operation.regions):
                self._pass_over(operation)
        self.body[name] = tuple(body)

    def _add(self, operation: Op, id_: str) -> None:
        self.walk_order.append((self._walked, id_))
        self._walked += 1
        self.operands[id_] = tuple(self._names.get(value, "") for value in operation.operands)
        results = tuple(intern(str(result.type)) for result in operation.results)
        slots = tuple(intern(str(value.type)) for value in operation.operands)
        scalable = operation.name == "stablehlo.constant" and scaled(operation, 1) is not None
        info = self.info[id_] = op_info(operation.name, slots, results, scalable)
        self.values[id_] = info.values(id_)
        for number, (result, kind) in enumerate(zip(operation.results, results, strict=True)):
            value = id_ if number == 0 else f"{id_}.{number}"
            self._names[result] = value
            self.type[value] = kind
        line = source_line_of(operation.location)
        if line is not None:
            self.origins[id_] = f"{line[0]}:{line[1]}"
        operation.location = named(id_)

    def _pass_over(self, atom: Op) -> None:
        """Count what an atom holds; names that it brought along would be lost in its text."""
        for operation in everything_in(atom)[1:]:
            self._walked += 1
            operation.location = ir.Location.unknown(context())
        for operation in everything_in(atom):
            for block in blocks_of(operation):
                for argument in list(block.arguments):
                    plain = block.add_argument(argument.type, ir.Location.unknown(context()))
                    argument.replace_all_uses_with(plain)
                    block.erase_argument(0)

    def _add_arguments(
        self, block: Block, parent: tuple[str, int] | None
    ) -> Iterator[tuple[str, str]]:
        """Rename the arguments of a block to their ids, which takes new ones."""
        prefix = "a" if parent is None else f"{'c' if parent[1] == 0 else 'b'}{parent[0][1:]}."
        shown = prefix.replace("c", "b")
        old = list(block.arguments)
        for number, argument in enumerate(old):
            name = f"{prefix}{number}"
            label = _label(argument.location)
            if parent is None and label is not None:
                self.origins[name] = label
            renamed = block.add_argument(argument.type, named(f"{shown}{number}"))
            argument.replace_all_uses_with(renamed)
            self._names[renamed] = name
            kind = self.type[name] = intern(str(renamed.type))
            if tensor(kind):
                yield name, kind
        for _ in old:
            block.erase_argument(0)


def _label(location: Location) -> str | None:
    """What JAX calls an argument."""
    return location.name_str if isinstance(location, ir.NameLoc) else None
