"""The shapes that are known, by architecture.

Tables are data: ``tables/sm_80.json``, made by ``scripts/learn_words.py``. GPUs of one family share one.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, cast

from gevolve.device.sim.machine.shape import (
    CONTROL,
    GUARD,
    Field,
    Layout,
    OperandShape,
    Shape,
    Value,
)

OPCODE = 0xFFF

_FAMILIES: Mapping[str, str] = {"sm_70": "sm_75", "sm_86": "sm_80"}
"""Architectures whose words are those of another; others that look alike (sm_100, sm_120) differ,
if only in the text of a few (sm_89)."""


@dataclass(slots=True)
class Table:
    """Layouts by opcode and shapes by key."""

    layouts: dict[int, Layout] = field(default_factory=dict[int, Layout])
    shapes: dict[int, Shape] = field(default_factory=dict[int, Shape])
    exact: dict[int, Shape] = field(default_factory=dict[int, Shape])
    """Words that no layout fits, each with its own shape."""

    def find(self, word: int) -> Shape | None:
        """The shape of a word; None if it is not known."""
        layout = self.layouts.get(word & OPCODE)
        found = layout and self.shapes.get(layout.key(word))
        return found or self.exact.get(word & ~CONTROL & ~GUARD)


def family(arch: str) -> str:
    """The architecture whose table an architecture uses."""
    base = arch.rstrip("af")
    return _FAMILIES.get(base, base)


def load(arch: str) -> Table:
    """The table of an architecture; empty if there is none."""
    return parse(shipped(arch))


@cache
def shipped(arch: str) -> str:
    """The text of an architecture's table."""
    file = Path(__file__).with_name("tables") / f"{family(arch)}.json"
    return file.read_text() if file.is_file() else dump(Table())


def parse(text: str) -> Table:
    """A table from its text."""
    data: dict[str, Any] = json.loads(text)
    operands = [_operand(entry) for entry in data["operands"]]

    def shapes(entries: dict[str, Any]) -> dict[int, Shape]:
        return {int(key, 16): _shape(entry, operands) for key, entry in entries.items()}

    layouts = {
        int(opcode, 16): Layout(int(values, 16), tuple(int(mask, 16) for mask in marked))
        for opcode, (values, marked) in data["layouts"].items()
    }
    return Table(layouts, shapes(data["shapes"]), shapes(data["exact"]))


def dump(table: Table) -> str:
    """The text of a table, one entry a line."""
    pool: dict[str, int] = {}

    def number(operand: OperandShape) -> int:
        return pool.setdefault(json.dumps(_entry(operand)), len(pool))

    def shapes(entries: dict[int, Shape]) -> list[str]:
        return [
            f'"{key:x}":'
            + json.dumps(
                [s.name, int(s.uniform), int(s.relative), [number(o) for o in s.operands]],
                separators=(",", ":"),
            )
            for key, s in sorted(entries.items())
        ]

    layouts = [
        f'"{opcode:x}":' + json.dumps([f"{v.values:x}", [f"{mask:x}" for mask in v.marked]])
        for opcode, v in sorted(table.layouts.items())
    ]
    known, exact = shapes(table.shapes), shapes(table.exact)
    parts = [
        '"layouts":{\n' + ",\n".join(layouts) + "\n}",
        '"shapes":{\n' + ",\n".join(known) + "\n}",
        '"exact":{\n' + ",\n".join(exact) + "\n}",
        '"operands":[\n' + ",\n".join(pool) + "\n]",
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _entry(operand: OperandShape) -> list[Any]:
    fields = [[f.name, f.base, [list(run) for run in f.runs]] for f in operand.fields]
    return [operand.kind, dict(operand.fixed), fields]


def _shape(entry: list[Any], operands: list[OperandShape]) -> Shape:
    name, uniform, relative, which = entry
    numbers: list[int] = which
    return Shape(name, bool(uniform), bool(relative), tuple(operands[n] for n in numbers))


def _operand(entry: list[Any]) -> OperandShape:
    kind, fixed, fields = entry
    held: dict[str, Any] = fixed
    numbers: list[tuple[str, int, list[tuple[int, int, int]]]] = fields
    return OperandShape(
        kind,
        tuple((n, _frozen(v)) for n, v in held.items()),
        tuple(
            Field(name, base, tuple((low, n, weight) for low, n, weight in runs))
            for name, base, runs in numbers
        ),
    )


def _frozen(value: Any) -> Value:
    return tuple(cast("list[int]", value)) if isinstance(value, list) else value
