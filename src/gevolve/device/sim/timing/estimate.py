"""A formula for the cycles of a launch: a sum of terms, each from a count of the same trace.

It ranks variants nearly as the replay does for a fraction of its cost, so it serves as a first filter.
Terms are added: work of one kind hides behind work of another less well than the larger of the two
would say.
"""

import numpy as np

from gevolve.device.base import Array
from gevolve.device.sim.timing.code import ROLES, Code
from gevolve.device.sim.timing.gpu import Gpu
from gevolve.device.sim.timing.occupancy import Occupancy
from gevolve.device.sim.timing.trace import Trace

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
_WEIGHTS = {"issue": 1.0, "queue": 1.0, "slices": 1.3, "busiest": 1.0, "dram": 1.0, "chain": 0.4}
"""How much of each term shows."""


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
    found = terms(gpu, code, ops, trace, counted, runs, held, warps_per_block)
    return sum(weight * found[name] for name, weight in _WEIGHTS.items())


def terms(
    gpu: Gpu,
    code: Code,
    ops: Array,
    trace: Trace,
    counted: Array,
    runs: Array,
    held: Occupancy,
    warps_per_block: int,
) -> dict[str, float]:
    """The cycles that each part of the GPU would need if it were alone."""
    blocks = -(-max(int(trace.record.n_warps), 1) // warps_per_block)
    busy = min(gpu.sms, blocks)
    waves = -(-blocks // (gpu.sms * held.blocks))
    each = np.repeat(runs, code.spans["count"]).astype(float)
    work = np.where(ops["folded"], 0.0, each)
    memory = ops["role"] == ROLES.index("memory")
    count = {name: float(counted[name]) for name in TRAFFIC}
    sent = count["sectors"] - count["l1_hits"]
    served = (sent - count["atomics"]) * gpu.l2.interval + count["atomics"] * gpu.l2.atomic
    moved = count["misses"] + count["evictions"]
    way = gpu.l2.latency * sent + gpu.dram.latency * count["misses"]
    way += gpu.l1.latency * count["l1_hits"]
    access = way / count["sectors"] if count["sectors"] else gpu.access.shared_latency
    # the longest warp's share of all latencies
    part = float(counted["longest"]) / max(int(trace.record.instructions), 1)
    latencies = float((work * np.where(memory, access, ops["latency"])).sum())
    queue = count["degree"] + count["constants"] + sent / gpu.access.send
    return {
        "issue": float((work * np.maximum(ops["slots"], ops["interval"])).sum())
        / (busy * gpu.issue.schedulers),
        "queue": (queue + count["l1_hits"] / gpu.l1.rate) / busy,
        "slices": served / gpu.l2.slices,
        "busiest": count["busiest"] * gpu.l2.hot,
        "dram": moved * gpu.sector_interval / gpu.l2.slices,
        "chain": latencies * part * waves,
    }
