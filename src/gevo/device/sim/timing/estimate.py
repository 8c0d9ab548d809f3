"""A formula for the cycles of a launch: a sum of terms, each from a count of the same trace.

It ranks variants nearly as the replay does for a fraction of its cost, so it serves as a first filter.
Terms are added: work of one kind hides behind work of another less well than the larger of the two
would say.
"""

import numpy as np

from gevo.device import Array
from gevo.device.sim.timing.code import ROLES, Code
from gevo.device.sim.timing.gpu import Gpu
from gevo.device.sim.timing.occupancy import Occupancy
from gevo.device.sim.timing.trace import Trace

SUMMARY = np.dtype(
    [
        *((name, "<u8") for name in ("sectors", "lines", "l1_hits", "l2_hits", "misses")),
        *((name, "<u8") for name in ("evictions", "degree", "constants", "atomics", "busiest")),
        ("longest", "<u8"),
    ]
)
"""`struct summary` of the runtime."""
TRAFFIC = tuple(name for name in SUMMARY.names or () if name != "longest")
"""What is counted of memory.

``sectors`` of 32 bytes in ``lines``, of global and local memory, and where they were found:
``l1_hits``, ``l2_hits``, ``misses``; ``evictions``: sectors written back to make room; ``degree``: cycles
of shared-memory banks; ``constants``: words of constant memory; ``atomics``: requests of atomics;
``busiest``: sectors of the line that was wanted most.
"""
_EXPOSED = 0.4
"""The part of a warp's latencies that nothing of its own hides (an estimate)."""
_UNEVEN = 1.3
"""How much busier than the mean the busiest slice is (an estimate)."""


def estimate(
    gpu: Gpu,
    code: Code,
    ops: Array,
    trace: Trace,
    counted: Array,
    runs: Array,
    held: Occupancy,
    warps_per_block: int,
) -> float:
    """Cycles of a recorded launch; `runs` says how often warps ran each block."""
    warps = max(int(trace.record.n_warps), 1)
    blocks = -(-warps // warps_per_block)
    busy = min(gpu.sms, blocks)
    waves = -(-blocks // (gpu.sms * held.blocks))
    each = np.repeat(runs, code.spans["count"]).astype(float)
    work = np.where(ops["folded"], 0.0, each)
    memory = ops["role"] == ROLES.index("memory")
    issue = float((work * np.maximum(ops["slots"], ops["interval"])).sum())
    count = {name: float(counted[name]) for name in TRAFFIC}
    sent = count["sectors"] - count["l1_hits"]
    queue = count["degree"] + count["constants"] + sent / gpu.access.send
    queue += count["l1_hits"] / gpu.l1.rate
    served = (sent - count["atomics"]) * gpu.l2.interval + count["atomics"] * gpu.l2.atomic
    moved = count["misses"] + count["evictions"]
    way = sent and (gpu.l2.latency + gpu.dram.latency * count["misses"] / sent) * sent
    way += count["l1_hits"] * gpu.l1.latency
    each_access = way / count["sectors"] if count["sectors"] else gpu.access.shared_latency
    # the longest warp's share of all latencies
    part = float(counted["longest"]) / max(int(trace.record.instructions), 1)
    chain = float((work * np.where(memory, each_access, ops["latency"])).sum()) * part
    return (
        issue / (busy * gpu.issue.schedulers)
        + queue / busy
        + served * _UNEVEN / gpu.l2.slices
        + count["busiest"] * gpu.l2.hot
        + moved * gpu.sector_interval / gpu.l2.slices
        + chain * waves * _EXPOSED
    )
