"""Times of launches that need not run: each is replayed once, alone, and remembered.

The time of a launch is a function of the machine code, the grid and the block, and what lies in memory
plays no part in it: the launch is replayed on zeros, with buffers of its own, and finds L2 empty. So it
does not matter which variant of a program was timed first, or where, and a file keeps it for others (`kept`).
"""

from collections.abc import Callable, Mapping
from contextlib import closing
from typing import NamedTuple

import msgspec

from gevolve.device.base import Limits
from gevolve.device.sim.gpu import SimGpu
from gevolve.device.sim.machine.program import MachineProgram
from gevolve.device.sim.timing import Clock, Gpu, Timing
from gevolve.device.virtual.kept import KeptTimes
from gevolve.device.virtual.objects import Function

_ALIGN = 256


class Launch(NamedTuple):
    """What of a launch its time depends on."""

    code: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    params: tuple[tuple[bool, int], ...]
    """Of each parameter whether it is a pointer, and its value: of a pointer, how it is aligned."""


class LaunchTimer:
    """Knows the times of launches on one GPU."""

    def __init__(self, table: Gpu, kept: KeptTimes | None = None) -> None:
        self._table = table
        self._kept = kept or KeptTimes(table)
        self.replayed = 0
        """Launches of this run that nobody had timed before."""
        self._first: dict[tuple[int, object, object, int], Timing] = {}

    def begin(self) -> None:
        """A run of a program begins: of a kernel that it launches often, the first launch is timed."""
        self._first.clear()
        self.replayed = 0

    def timing(
        self,
        function: Function,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        shared: int,
        params: bytes,
        find_rooms: Callable[[], Mapping[int, int]],
    ) -> Timing:
        """The time of a launch. `find_rooms` finds, of each pointer among its parameters, the bytes behind it."""
        place = (function.handle, grid, block, shared)
        if place not in self._first:
            self._first[place] = self._timing(function, grid, block, shared, params, find_rooms())
        return self._first[place]

    def _timing(
        self,
        function: Function,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        shared: int,
        params: bytes,
        rooms: Mapping[int, int],
    ) -> Timing:
        program = function.module.program
        assert program is not None
        values = [
            int.from_bytes(params[one.offset : one.offset + one.size], "little")
            for one in function.kernel.source.parameters
        ]
        key = Launch(
            program.fingerprint_of(function.name),
            grid,
            block,
            shared,
            tuple((v in rooms, v % _ALIGN if v in rooms else v) for v in values),
        )
        known = self._kept.get(key)
        if known is None:
            known = self._replayed(program, function, key, values, rooms)
            self._kept.put(key, known)
            self.replayed += 1
        return msgspec.structs.replace(known, kernel=function.name)  # others may have the same code

    def _replayed(
        self,
        program: MachineProgram,
        function: Function,
        launch: Launch,
        values: list[int],
        rooms: Mapping[int, int],
    ) -> Timing:
        clock = Clock(self._table, whole=False)
        most = self._table.limits.most_shared
        with closing(SimGpu(program, Limits(whole=False), 0, 0, 0, clock, most_shared=most)) as gpu:
            out = bytearray(function.kernel.source.parameter_size)
            for one, value in zip(function.kernel.source.parameters, values, strict=True):
                if value in rooms:
                    offset = value % _ALIGN
                    value = gpu.zeros(rooms[value] + offset, "u1").ptr + offset  # noqa: PLW2901
                out[one.offset : one.offset + one.size] = value.to_bytes(one.size, "little")
            gpu.launch_encoded(function.name, launch.grid, launch.block, bytes(out), launch.shared)
            return gpu.timings[0]
