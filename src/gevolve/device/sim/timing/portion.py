"""A part of a GPU that stands for all of it: so many SMs, with their share of what all SMs share.

A grid of many waves keeps all SMs equally busy for most of its time. A few SMs with their share of L2's
slices and of DRAM's bandwidth then take as long for their share of the grid as all SMs for the whole.
L2 keeps its size: what is recorded of a grid is a sample, and finds there what all of it would.
"""

from msgspec.structs import replace

from gevolve.device.sim.timing.gpu import Gpu

SMS = 4
"""SMs that are enough."""


def portion(gpu: Gpu, sms: int = SMS) -> Gpu:
    """So many SMs of a GPU, or a few more, so that the GPU is a whole number of such parts."""
    if gpu.sms < 2 * sms:
        return gpu
    kept = round(gpu.sms / round(gpu.sms / sms))
    share = kept / gpu.sms
    slices = max(1, round(gpu.l2.slices * share))
    # slices are whole, so each is made a little slower or quicker
    pace = slices / (gpu.l2.slices * share)
    l2 = replace(
        gpu.l2,
        slices=slices,
        interval=gpu.l2.interval * pace,
        hot=gpu.l2.hot * pace,
        atomic=gpu.l2.atomic * pace,
    )
    dram = replace(gpu.dram, bandwidth=gpu.dram.bandwidth * share)
    return replace(gpu, sms=kept, l2=l2, dram=dram)
