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
from typing import Any

import numpy as np

from gevo.device import Hazard
from gevo.device.sim.host import runtime_function
from gevo.device.sim.ptx import Instruction
from gevo.device.sim.translate import Kernel
from gevo.llvm import names

ROOM = 512 << 20
"""The most bytes of shadow memory; what does not fit is not watched. A byte takes 15."""
MOST = 1024
_FOUND = np.dtype([(n, "<i4") for n in ("hazard", "first", "second")])
_WORDS = ("in a warp", "in a block", "between blocks", "uninitialised", "divergent", "left")
"""What was found; the order is that of the runtime's `enum hazard`."""
_RACES = _WORDS[:3]
_UNEQUAL = 8
"""Added to a race in which both write, and not the same value."""
_VERBS = {"load": "reads", "store": "writes", "atomic": "updates"}


class Watch:
    """Watches the launches of one open device."""

    def __init__(self) -> None:
        self.address = int(_function("new", ctypes.c_void_p, ctypes.c_uint64)(ROOM) or 0)
        if not self.address:
            raise MemoryError
        self._found = np.zeros(MOST, _FOUND)
        self.hazards: dict[Hazard, None] = {}

    def collect(self, kernel: Kernel, files: Mapping[int, str]) -> None:
        """Add what was noted during a launch."""
        take = _function("take", ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32)
        count = take(self.address, self._found.ctypes.data, MOST)
        rows: list[tuple[int, int, int]] = self._found[:count].tolist()
        for hazard, first, second in rows:
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
    return ctypes.CFUNCTYPE(result, *types)(runtime_function(f"gevo_hazards_{name}"))


def _hazard(word: str, first: int, second: int, kernel: Kernel, files: Mapping[int, str]) -> Hazard:
    name = names.demangle(kernel.name)
    if word in _RACES:
        sites = [kernel.sites[n] for n in (first, second)]
        acts = [(_VERBS[site.kind], _place(site.code, files)) for site in sites]
        # Reads come last: "a writes what b reads".
        (verb, here), (other, there) = sorted(acts, key=lambda act: (act[0] == "reads", act))
        again = " too" if verb == other else ""
        detail = f"{here} {verb} what {there} {other}{again} {_apart(word)}"
        return Hazard("race", name, (word, f"{verb} {here}", f"{other} {there}"), detail)
    if word == "uninitialised":
        here = _place(kernel.sites[first].code, files)
        detail = f"{here} reads shared memory that nothing has written"
        return Hazard("uninitialised", name, (f"reads {here}",), detail)
    here, there = sorted((_barrier(kernel, first, files), _barrier(kernel, second, files)))
    if word == "left":
        detail = f"threads leave the kernel without the barrier at {here}"
        return Hazard("divergent-barrier", name, (word, f"waits {here}"), detail)
    other = "another copy of it" if here == there else there
    detail = f"threads of one block wait at {here} and at {other}"
    return Hazard("divergent-barrier", name, (word, f"waits {here}", f"waits {there}"), detail)


def _unequal(race: Hazard) -> Hazard:
    """A race of its own: the unedited program may have one in which all write the same value."""
    where = (f"{race.where[0]}, another value", *race.where[1:])
    return replace(race, where=where, detail=f"{race.detail}, and not the same value")


def _apart(word: str) -> str:
    return {
        "in a warp": "in another lane of the warp",
        "in a block": "in another warp of the block",
        "between blocks": "in another block",
    }[word]


def _barrier(kernel: Kernel, block: int, files: Mapping[int, str]) -> str:
    blocks = [one for flow in kernel.flows for one in flow.blocks]
    return _place(blocks[block].end, files)


def _place(code: Instruction | None, files: Mapping[int, str]) -> str:
    """The source line of an instruction, such as ``hotspot.cu:44``; ``?`` if it is not known."""
    if code is None or code.line is None or not code.line.line:
        return "?"
    name = PurePath(files.get(code.line.file, "")).name or "source line "
    return f"{name}:{code.line.line}" if name[-1] != " " else f"{name}{code.line.line}"
