"""Hazards: what a kernel did that happens to work here and that a GPU gives no promise about.

The runtime watches every access (`runtime/hazards.c`) and notes pairs of memory sites, or barriers;
here they become `Hazard`s with the lines of the user's source, which is how a hazard of a variant is
recognised as one that the unedited kernel has as well.
"""

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np

from gevolve.device.base import UNSURE, Hazard
from gevolve.device.sim.host import runtime_function
from gevolve.device.sim.machine.instruction import Instruction as MachineInstruction
from gevolve.device.sim.machine.part import MachineKernel
from gevolve.device.sim.ptx import Instruction
from gevolve.device.sim.translate import Kernel
from gevolve.ir.llvm import names

ROOM = 512 << 20
"""The most bytes of shadow memory; what does not fit is not watched. A byte takes 16."""
MOST = 1024
_FOUND = np.dtype([(n, "<i4") for n in ("hazard", "first", "second")])
_WORDS = (
    "in a warp",
    "in a block",
    "between blocks",
    "unwritten",
    "divergent",
    "left",
    "heard",
    "stale",
)
"""What was found; the order is that of the runtime's `enum hazard`."""
_APART = {
    "in a warp": "in another lane of the warp",
    "in a block": "in another warp of the block",
    "between blocks": "in another block",
}
"""Races, and where the other thread is."""
_UNEQUAL = 8
"""Added to a race in which both write, and not the same value."""
_VERBS = {"load": "reads", "store": "writes", "atomic": "updates"}


class Watch:
    """Watches the launches of one open device."""

    def __init__(self, *, unwritten: bool = False) -> None:
        self.address = int(_function("new", ctypes.c_void_p, ctypes.c_uint64)(ROOM) or 0)
        if not self.address:
            raise MemoryError
        self._found = np.zeros(MOST, _FOUND)
        self.hazards: dict[Hazard, None] = {}
        self.unwritten = unwritten
        """Whether memory, or a register, is read that nothing has written."""
        self.reads: dict[Hazard, None] = {}
        """Where such memory is read."""

    def collect(self, kernel: Kernel | MachineKernel, files: Mapping[int, str]) -> None:
        """Add what was noted during a launch."""
        take = _function("take", ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32)
        count = take(self.address, self._found.ctypes.data, MOST)
        rows: list[tuple[int, int, int]] = self._found[:count].tolist()
        for hazard, first, second in rows:
            if _WORDS[hazard % _UNEQUAL] == "unwritten":
                self.unwritten = True
                site = kernel.sites[first]
                spot = spot_of(_VERBS[site.kind], site.code, files)
                detail = f"{spot} {spot.verb} memory that nothing has written"
                self.reads[found_at("uninitialised", kernel, [spot], detail)] = None
                continue
            one = _hazard(_WORDS[hazard % _UNEQUAL], first, second, kernel, files)
            if hazard >= _UNEQUAL:
                one = _unequal(one)
            self.hazards[one] = None

    def close(self) -> None:
        if self.address:
            _function("free", None, ctypes.c_void_p)(self.address)
        self.address = 0


@cache
def _function(name: str, result: Any, *types: Any) -> Callable[..., Any]:
    return ctypes.CFUNCTYPE(result, *types)(runtime_function(f"gevolve_hazards_{name}"))


class Spot(NamedTuple):
    """An instruction that took part: what it does and where in the source it is."""

    verb: str
    place: str
    """A line such as ``hotspot.cu:44``, or ``?``."""
    name: str

    @property
    def key(self) -> str:
        return f"{self.verb} {self.place}"

    def __str__(self) -> str:
        return self.name if self.place == "?" else self.place


def spot_of(
    verb: str, code: Instruction | MachineInstruction | None, files: Mapping[int, str]
) -> Spot:
    name = "an instruction"
    if isinstance(code, Instruction):
        name = code.name
    elif code is not None:
        name = ".".join((code.opcode, *code.modifiers))
    if code is None or code.line is None or not code.line[1]:
        return Spot(verb, "?", name)
    file, line = code.line
    path = PurePath(file if isinstance(file, str) else files.get(file, "")).name
    return Spot(verb, f"{path or 'line'}:{line}", name)


def _hazard(
    word: str, first: int, second: int, kernel: Kernel | MachineKernel, files: Mapping[int, str]
) -> Hazard:
    if word in _APART:
        found = [kernel.sites[number] for number in (first, second)]
        return _race(word, [spot_of(_VERBS[site.kind], site.code, files) for site in found], kernel)
    if word in ("heard", "stale"):
        there, here = (
            spot_of(_VERBS[site.kind], site.code, files)
            for site in (kernel.sites[first], kernel.sites[second])
        )
        if word == "stale":
            detail = f"{here} reads by a read-only load what {there} {there.verb}"
            return found_at("stale", kernel, [here, there], detail, word)
        detail = f"{here} reads what {there} {there.verb} in another block of the launch"
        return found_at(UNSURE, kernel, [here, there], detail, word)
    ends = kernel.ends
    spots = sorted(spot_of("waits", ends[number], files) for number in (first, second))
    here, there = map(str, spots)
    if word == "left":
        detail = f"threads leave the kernel without the barrier at {here}"
        return found_at("divergent-barrier", kernel, spots[:1], detail, word)
    other = "another copy of it" if here == there else there
    detail = f"threads of one block wait at {here} and at {other}"
    return found_at("divergent-barrier", kernel, spots, detail, word)


def _race(word: str, spots: list[Spot], kernel: Kernel | MachineKernel) -> Hazard:
    # Reads come last: "a writes what b reads".
    one, two = spots = sorted(spots, key=lambda spot: (spot.verb == "reads", spot))
    again = " too" if one.verb == two.verb else ""
    detail = f"{one} {one.verb} what {two} {two.verb}{again} {_APART[word]}"
    return found_at("race", kernel, spots, detail, word)


def _unequal(race: Hazard) -> Hazard:
    """A race of its own: the unedited program may have one in which all write the same value."""
    where = (f"{race.where[0]}, another value", *race.where[1:])
    return replace(race, where=where, detail=f"{race.detail}, and not the same value")


def found_at(
    kind: str, kernel: Kernel | MachineKernel, spots: list[Spot], detail: str, how: str = ""
) -> Hazard:
    where = (how or kind, *(spot.key for spot in spots))
    return Hazard(kind, names.demangle(kernel.name), where, detail)
