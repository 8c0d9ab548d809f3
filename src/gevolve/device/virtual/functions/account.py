"""Functions that no driver has: what gevolve itself asks the virtual GPU."""

from pathlib import Path

import msgspec

from gevolve.device.sim.timing import by_kernel
from gevolve.device.virtual.calls import call
from gevolve.device.virtual.codes import Code, Fault
from gevolve.device.virtual.gpu import VirtualGpu
from gevolve.device.virtual.session import Finding


@call("gevolveBegin", "i", context=False)
def begin(gpu: VirtualGpu, dry: int) -> None:
    """Count launches from here; `dry` ones are timed and not run."""
    gpu.begin(dry=bool(dry))


@call("gevolveSpent", "DNNNI", context=False)
def spent(gpu: VirtualGpu) -> tuple[float, int, int, int, int]:
    """What was done since then.

    Cycles, launches, how many of these nobody had timed before, and instructions; and whether the host has read what
    was not computed.
    """
    late, gpu.late = gpu.late, Code.SUCCESS
    if late and not gpu.read_back:
        raise Fault(late)
    instructions = sum(one.instructions for one in gpu.timings)
    fresh = gpu.timer.replayed if gpu.timer else gpu.launches
    return gpu.cycles(0, gpu.launches), gpu.launches, fresh, instructions, int(gpu.read_back)


@call("gevolveWatch", "t", context=False)
def watch(gpu: VirtualGpu, kernels: str) -> None:
    """Watch launches of these kernels, whose names have commas between them, until launches are counted anew."""
    gpu.watch(kernels.split(","))


@call("gevolveHazards", "t", context=False)
def hazards(gpu: VirtualGpu, path: str) -> None:
    """Write what watched kernels did and should not do to a file, as JSON."""
    found = [Finding(one.kind, one.kernel, one.detail) for one in gpu.hazards]
    Path(path).write_bytes(msgspec.json.encode(found))


@call("gevolveCost", "t", context=False)
def cost(gpu: VirtualGpu, path: str) -> None:
    """Write what each kernel has cost since then to a file, as JSON."""
    Path(path).write_bytes(msgspec.json.encode(by_kernel(gpu.timings)))
