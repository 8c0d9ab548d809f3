"""The memory layout that generated code and the C runtime share, and the map of device addresses.

`runtime/sim.h` states the same offsets and checks them when it is compiled.
"""

BASE = 1 << 45
"""Where all device memory begins, in every process: addresses repeat from run to run."""
SPAN = 1 << 42
"""The bytes of address space that hold device memory and nothing of the host's."""
OUTSIDE = ~(SPAN - 1) & (1 << 64) - 1
"""Bits that an address must share with `BASE` to be inside."""

LANES = 32

# struct warp
FRAME, LOCAL, GROUP, VALUE, RESULT = 0, 256, 512, 768, 1024
PC, TID, SECOND, THIRD, MEMBERS, FLAG, DEPTH = 1280, 1408, 1792, 1920, 2048, 2176, 2304
COUNT, LAUNCH, WARP_ID = 2432, 2440, 2448
BARRIER, TAKING, GATHERED, LIVE, MASK, SCRATCH = 2456, 4504, 4632, 4760, 4764, 4768

# struct launch
PARAMS, GLOBALS, SHARED_SIZE, TRACE, MARKS, CLOCK = 0, 8, 16, 24, 32, 40
NTID, CTAID, NCTAID, DYNAMIC, GRID_ID, SHARED_BASE = 48, 60, 72, 84, 88, 96
DYNAMIC_BASE, LOCAL_WINDOW, BANKS, STATE_MIRROR = 104, 112, 120, 184
NOISE, TURN, LOCAL_SIZE = 200, 216, 304

# what a lane does next, besides the block to go to
EXIT, TRAP, OVERFLOW, ASSERT = -1, -2, -3, -4

FUNCTIONS = 0xF0 << 40
"""Added to a block's number to make a function pointer of it."""
