"""The record of one launch that Python fills in and the C runtime works on (`struct launch`)."""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

from gevolve.device.sim.host import runtime_function

STOPS = (
    ("", ""),
    ("fuel", "a thread went round its loops more often than allowed"),
    ("crash", "trap"),
    ("divergent-barrier", "deadlock: threads wait for others that never come"),
    ("crash", "an access out of bounds"),
    ("crash", "an access to shared memory out of bounds or misaligned"),
    ("crash", "calls too deep for the stack"),
    ("crash", "an assertion failed"),
    ("crash", "a barrier that is not one of 0 to 15"),
)
"""Verdict and words for each reason to stop; the order is that of the runtime's `enum stop`."""

_u64, _i32, _u32 = ctypes.c_uint64, ctypes.c_int32, ctypes.c_uint32


class Launch(ctypes.Structure):
    """`struct launch` of the runtime, field by field."""

    _fields_ = (
        *((name, _u64) for name in ("params", "globals", "shared_size", "trace", "marks", "clock")),
        *((name, _u32 * 3) for name in ("ntid", "ctaid", "nctaid")),
        ("dynamic_size", _u32),
        *((name, _u64) for name in ("grid_id", "shared_base", "dynamic_base", "local_window")),
        ("banks", _u64 * 8),
        *((name, _u64) for name in ("mirror", "used")),
        ("noise", _u64 * 2),
        ("turn", _u64),
        *(
            (name, _u64)
            for name in ("run", "blocks", "sites", "regions", "hits", "warps", "stacks")
        ),
        *((name, _u64) for name in ("counts", "stack_size", "local_base", "local_size")),
        ("fuel_limit", _u64),
        *((name, _i32) for name in ("n_blocks", "n_regions", "n_sites", "entry")),
        *((name, _i32) for name in ("waits", "order", "seed", "poison", "machine", "shadowed")),
        *((name, _u64) for name in ("record", "hazards", "code")),
        *((name, _u64) for name in ("instructions", "sectors", "fuel", "bad_address")),
        *((name, _i32) for name in ("stop", "bad_site", "bad_region", "bad_block")),
        ("arrived", _u32 * 16),
        *((name, _u64) for name in ("said", "said_size", "said_room")),
    )

    clock: int
    said_size: int
    banks: Any
    machine: int
    noise: Any
    local_window: int
    instructions: int
    sectors: int
    fuel: int
    stop: int
    bad_site: int
    bad_block: int
    bad_address: int


@cache
def launch_function() -> Callable[[Any], None]:
    """The runtime's launcher."""
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p)(runtime_function("gevolve_launch"))
