"""The trace of one launch as the C runtime records it, and what the caches do with it."""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from gevolve.device.sim.host import runtime_function
from gevolve.device.sim.timing.gpu import Gpu, l2_sets

_u64, _i32, _u32 = ctypes.c_uint64, ctypes.c_int32, ctypes.c_uint32
ROOM = 12 << 20
"""The most words of trace that one launch may leave."""
WAVES = 3
"""How many waves of resident blocks are recorded of a grid that has many."""
_FEW = 4096
"""A grid of so few warps is always recorded whole."""
_ENOUGH = 256
"""Warps that are recorded at least of one that is not."""


class _Stream(ctypes.Structure):
    _fields_ = (("words", _u64), ("n", _u64), ("room", _u64))


class Record(ctypes.Structure):
    """`struct record` of the runtime."""

    _fields_ = (
        *((name, _u64) for name in ("wave", "stride", "room")),
        ("all", _Stream),
        *((name, _u64) for name in ("starts", "n_warps", "warps_room")),
        *((name, _u64) for name in ("lines", "n_lines", "lines_room", "table", "table_size")),
        *((name, _u64) for name in ("blocks", "instructions", "words", "pending")),
        *((name, _i32) for name in ("on", "began", "failed", "only")),
        ("slot", _u32),
        ("warps", _Stream * 32),
    )

    words: int
    n_warps: int
    n_lines: int
    blocks: int
    instructions: int
    failed: int


def is_sampled(wave: int, blocks: int, warps_per_block: int) -> bool:
    """Whether only some waves of a grid are recorded."""
    return blocks > wave * (WAVES + 1) and blocks * warps_per_block > _FEW


class Trace:
    """What the warps of a launch did; its memory is the runtime's until `close`."""

    def __init__(
        self, wave: int, blocks: int, warps_per_block: int, *, parts: int = 1, only: bool = False
    ) -> None:
        """Make ready for so many blocks, `wave` of them at once, on one of `parts` of a GPU."""
        stride = 1
        if is_sampled(wave, blocks, warps_per_block):
            waves = -(-blocks // wave)
            enough = max(WAVES, -(-_ENOUGH // (wave * warps_per_block)))
            stride = max(waves // enough, parts)
        self.record = Record(wave=wave, stride=stride, room=ROOM, only=only)

    @property
    def address(self) -> int:
        return ctypes.addressof(self.record)

    def words(self, warp: int) -> list[int]:
        """The stream of one warp."""
        starts = (_u64 * (self.record.n_warps + 1)).from_address(_field(self.record, "starts"))
        first, last = starts[warp], starts[warp + 1]
        whole = (_u32 * last).from_address(_field(_field(self.record, "all"), "words"))
        return list(whole[first:last])

    def close(self) -> None:
        _function("gevolve_record_free", None)(ctypes.byref(self.record))


def _field(structure: Any, name: str) -> Any:
    return getattr(structure, name)


class _Tags(ctypes.Structure):
    _fields_ = (
        *((name, _u64) for name in ("lines", "used", "sectors")),
        *((name, _i32) for name in ("sets", "ways")),
        ("clock", _u32),
    )


class Cache:
    """The tags of one or more caches of the same shape."""

    def __init__(self, sets: int, ways: int, count: int = 1) -> None:
        size = sets * ways
        self._arrays = [np.zeros(count * size, kind) for kind in (np.uint64, np.uint32, np.uint8)]
        lines, used, sectors = (array.ctypes.data for array in self._arrays)
        self.tags = (_Tags * count)(
            *(
                _Tags(lines + 8 * i * size, used + 4 * i * size, sectors + i * size, sets, ways, 0)
                for i in range(count)
            )
        )

    def warm(self, low: int, high: int) -> None:
        """Note that these bytes were written by the host, through the cache."""
        _function("gevolve_warm", None)(ctypes.byref(self.tags), _u64(low), _u64(high))


def l2_of(gpu: Gpu) -> Cache:
    """An empty L2."""
    return Cache(l2_sets(gpu), gpu.l2.ways)


@cache
def _function(name: str, result: Any) -> Callable[..., Any]:
    found = runtime_function(name)
    count = {"gevolve_record_free": 1, "gevolve_warm": 3, "gevolve_replay": 1, "gevolve_levels": 4}[
        name
    ]
    pointer = ctypes.c_void_p
    kinds = (pointer, _u64, _u64) if name == "gevolve_warm" else (pointer,) * count
    return ctypes.CFUNCTYPE(result, *kinds)(found)


function = _function
