"""Follows values that nothing has written from where they are read to where they are used.

Memory, registers and what lanes exchange have shadows, as values have (`shadow`). To copy such a value, to
mask its bits away or to compute with it is no use. It is used where it decides which way a thread goes,
or which address an access has; and where host code reads it (`device.sim.buffer`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gevolve.device.sim import layout
from gevolve.device.sim.ptx import Instruction
from gevolve.device.sim.translate.emit import Lookup
from gevolve.device.sim.translate.shadow import ShadowedValues, operands, whole

HEAD = f"""%at.mirror = getelementptr i8, ptr %launch, i64 {layout.STATE_MIRROR}
%mirror = load i64, ptr %at.mirror
%w.shadow = getelementptr i8, ptr %w, i64 %mirror"""
"""What generated code does first: it finds out where the shadows of registers lie."""

_NAMED = re.compile(r"(%[\w.]+) = (.*)")
_EXCHANGED = frozenset({layout.VALUE, layout.RESULT, layout.FLAG})
"""Fields of the warp that have shadows. Whatever else the runtime reads there decides something."""


@dataclass(frozen=True, slots=True)
class Use:
    """An instruction that may read, or use, what nothing has written."""

    verb: str
    """``reads`` memory; ``decides`` by it which way to go; ``addresses`` memory by it."""
    code: Instruction


class Follower(ShadowedValues):
    """Writes the body of a block, with the shadows of all that it computes, loads and stores."""

    def __init__(
        self,
        registers: dict[str, str],
        slots: dict[str, int],
        symbol: Lookup,
        declared: dict[str, str],
        uses: list[Use],
    ) -> None:
        super().__init__(registers, slots, symbol, declared)
        self.uses = uses
        self.shadows = {}
        self.mirrors: dict[str, str] = {}
        """Where the shadow lies of what a pointer points to."""
        self.fields: set[str] = set()
        """Pointers to what the runtime reads and what has no shadow."""

    def op(self, text: str) -> str:
        name = super().op(text)
        self._noticed(name, text)
        return name

    def do(self, text: str) -> None:
        if text.startswith("br i1 "):
            self.used(text[6:].partition(",")[0], "i1", "decides")
        super().do(text)
        named = _NAMED.match(text)
        self._noticed(named[1] if named else "", named[2] if named else text)

    def _noticed(self, name: str, text: str) -> None:
        first, _, rest = text.partition(" ")
        match first:
            case "load":
                self._loaded(name, rest)
            case "store":
                self._stored(rest)
            case "getelementptr":
                self._stepped(name, rest)
            case "inttoptr":
                self._pointed(name, rest)
            case "br":
                pass
            case _:
                self.follow(name, text)

    def lane_field(self, offset: int, kind: str = "i32") -> str:
        name = super().lane_field(offset, kind)
        if offset in _EXCHANGED:
            base = self.raw(f"getelementptr i8, ptr %w.shadow, i64 {offset}")
            self.mirrors[name] = self.raw(f"getelementptr {kind}, ptr {base}, i64 {self.lane}")
        else:
            self.fields.add(name)
        return name

    def unwritten(self, kind: str) -> str:
        name = super().unwritten(kind)
        self.shadows[name] = "true" if kind == "i1" else "-1"
        return name

    # --- memory

    def _pointed(self, name: str, text: str) -> None:
        """Of ``inttoptr``."""
        value = text.split(" ")[1]
        if name == self.frame:
            self._framed()
            return
        self.give(name, self.shadows.get(value))
        beside = self.raw(f"add i64 {value}, {layout.SPAN}")
        self.mirrors[name] = self.raw(f"inttoptr i64 {beside} to ptr")

    def _framed(self) -> None:
        """The thread's registers are known: so is where their shadows are."""
        self.mirrors[self.frame] = self.raw(f"getelementptr i8, ptr {self.frame}, i64 %mirror")

    def _stepped(self, name: str, text: str) -> None:
        """Of ``getelementptr``."""
        (_, element), (_, base), (_, index) = operands(text)
        if base in self.mirrors:
            mirror = self.mirrors[base]
            self.mirrors[name] = self.raw(f"getelementptr {element}, ptr {mirror}, i64 {index}")
        self.give(name, self.shadows.get(base))

    def _loaded(self, name: str, text: str) -> None:
        (_, kind), (_, pointer), *more = operands(text.removeprefix("volatile "))
        if name == self.frame:
            self._framed()
            return
        self.used(pointer, "ptr", "addresses")
        mirror = self.mirrors.get(pointer)
        if mirror is None or kind == "ptr":
            return
        self.shadows[name] = self.raw(f"load {whole(kind)}, ptr {mirror}{_aligned(more)}")
        if more:  # only an access to memory says how it is aligned
            self.used(name, kind, "reads", pointer)

    def _stored(self, text: str) -> None:
        (kind, value), (_, pointer), *more = operands(text)
        self.used(pointer, "ptr", "addresses")
        mirror = self.mirrors.get(pointer)
        if mirror is not None:
            shadow = self.shadow(value)
            super().do(f"store {whole(kind)} {shadow}, ptr {mirror}{_aligned(more)}")
        elif pointer in self.fields:
            self.used(value, kind, "decides")

    def copied(self, function: str, given: Sequence[tuple[str, str]]) -> None:
        for kind, value in given:
            self.used(value, kind, "addresses" if kind == "ptr" else "decides")
        mirrored = (f"{kind} {self.mirrors.get(value, value)}" for kind, value in given)
        super().do(f"call void @{function}({', '.join(mirrored)})")

    # --- uses

    def used(self, value: str, kind: str, verb: str, at: str = "null") -> None:
        """Note a use of a value that is not written, and the address where it was read."""
        some = self.some((kind, value))
        if some is None:
            return
        assert self.code is not None
        use = Use(verb, self.code)
        if not self.uses or self.uses[-1] != use:
            self.uses.append(use)
        self.declared["gevolve_used"] = "declare void @gevolve_used(ptr, i32, i1 zeroext, ptr)"
        number = len(self.uses) - 1
        super().do(
            f"call void @gevolve_used(ptr %launch, i32 {number}, i1 zeroext {some}, ptr {at})"
        )


def _aligned(more: Sequence[tuple[str, str]]) -> str:
    return f", align {more[0][1]}" if more else ""
