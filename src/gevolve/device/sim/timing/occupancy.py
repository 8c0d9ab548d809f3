"""How many blocks of a kernel one SM holds at once."""

from dataclasses import dataclass

from gevolve.device.sim.timing.gpu import Gpu
from gevolve.errors import LaunchError

_WARP = 32


@dataclass(frozen=True, slots=True)
class Occupancy:
    """What of a kernel is resident on one SM."""

    blocks: int
    warps: int
    share: float
    """Of the warps that the SM could hold."""
    bound: str
    """What limits it: ``threads``, ``blocks``, ``registers`` or ``shared``."""


def occupancy(gpu: Gpu, threads: int, registers: int, shared: int) -> Occupancy:
    """The occupancy of blocks with so many threads, registers per thread and bytes of shared memory."""
    limits = gpu.limits
    warps = -(-threads // _WARP)
    most = limits.threads // _WARP
    registers = min(max(registers, 1), limits.registers_per_thread)
    per_warp = _up(registers * _WARP, limits.register_unit)
    # warps get their registers from the file of the scheduler that they belong to
    per_scheduler = limits.registers // gpu.issue.schedulers // per_warp
    room = {
        "threads": most // warps,
        "blocks": limits.blocks,
        "registers": per_scheduler * gpu.issue.schedulers // warps,
    }
    if shared:
        room["shared"] = limits.shared // (_up(shared, limits.shared_unit) + limits.shared_reserved)
    bound = min(room, key=lambda name: room[name])
    if not room[bound]:
        if bound == "shared":
            raise LaunchError(
                f"a block of {shared} bytes of shared memory does not fit {gpu.title}, "
                f"which has {limits.shared}; use less"
            )
        # more registers than there are: ptxas would spill some, so that one block fits
        return Occupancy(1, warps, warps / most, bound)
    return Occupancy(room[bound], room[bound] * warps, room[bound] * warps / most, bound)


def _up(value: int, to: int) -> int:
    return -(-value // to) * to
