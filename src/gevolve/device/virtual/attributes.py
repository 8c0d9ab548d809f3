"""What the driver tells of a GPU, by the numbers of `CUdevice_attribute`."""

from gevolve.device.sim.arguments import MAX_BLOCK, MAX_GRID, MAX_STATIC, MAX_THREADS
from gevolve.device.sim.timing import Gpu

LAST = 255
"""No attribute has a larger number; those that are not named here are 0."""


def capability(table: Gpu) -> tuple[int, int]:
    """The compute capability: (8, 0) for sm_80."""
    assert table.machine is not None
    digits = table.machine.arch.removeprefix("sm_").rstrip("af")
    return int(digits[:-1]), int(digits[-1])


def attributes(table: Gpu) -> dict[int, int]:
    """Every attribute that is not 0."""
    major, minor = capability(table)
    limits = table.limits
    return {
        1: MAX_THREADS,
        **dict(zip((2, 3, 4), MAX_BLOCK, strict=True)),
        **dict(zip((5, 6, 7), MAX_GRID, strict=True)),
        8: MAX_STATIC,  # shared memory of a block
        9: 64 << 10,  # constant memory
        10: 32,  # threads of a warp
        11: (1 << 31) - 1,  # pitch
        12: limits.registers,  # of a block
        13: round(table.clock * 1000),  # kHz
        14: 512,  # alignment of textures
        15: 1,  # copies overlap kernels
        16: table.sms,
        19: 1,  # host memory can be mapped
        30: 512,  # alignment of surfaces
        31: 1,  # concurrent kernels
        33: 1,  # PCI bus
        36: round(
            table.dram.bandwidth * 1e6 / 1024 * 8 / 2
        ),  # kHz of memory, of a bus of 1024 bits
        37: 1024,
        38: table.l2.size,
        39: limits.threads,  # of an SM
        40: 2,  # copy engines
        41: 1,  # unified addressing
        51: 32,  # alignment of pitch
        75: major,
        76: minor,
        78: 1,  # streams have priorities
        79: 1,  # L1 caches global memory
        80: 1,  # and local memory
        81: limits.shared,  # of an SM
        82: limits.registers,  # of an SM
        83: 1,  # managed memory
        87: 2,  # single to double precision
        89: 1,  # the host may use managed memory at any time
        97: limits.most_shared,  # of a block that asks for it
        99: 1,  # host memory can be registered
        106: limits.blocks,  # of an SM
        111: limits.shared_reserved,  # of a block
        115: 1,  # memory pools
        126: 1,  # domains of memory synchronisation
    }
