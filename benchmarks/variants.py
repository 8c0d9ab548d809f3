"""Random variants as machine code: what is the same code takes the same time, and does what its PTX does.

    python -m benchmarks variants            # 1,000 variants of the suite's kernels
    VARIANTS=100 DEVICE=sim:t4 python -m benchmarks variants

Every variant is built, run as PTX and run as machine code, each time anew: nothing is looked up.
"""

import os
from collections import Counter, defaultdict

from benchmarks.synthetic.both import ALIKE, Pair, pairs
from gevolve.run.claim import does_less

WORKLOADS = (
    *("tuned/hotspot", "tuned/pathfinder", "tuned/gemm", "tuned/reduction", "tuned/histogram"),
    *("papers/backprop", "papers/conv2d", "papers/gaussian", "papers/lud", "papers/nn"),
    *("papers/nw", "papers/scan", "papers/spmv", "papers/transpose", "papers/kmeans"),
    *("papers/hotspot", "papers/nbody", "papers/srad", "papers/btree", "papers/pathfinder"),
)


def unlike_times(found: list[Pair]) -> list[tuple[Pair, Pair]]:
    """Pairs of variants with the same machine code and another time."""
    first: dict[str, Pair] = {}
    return [
        (first[one.fingerprint], one)
        for one in found
        if one.machine.ok
        and first.setdefault(one.fingerprint, one).machine.time != one.machine.time
    ]


def main() -> None:
    count, device = int(os.environ.get("VARIANTS", "1000")), os.environ.get("DEVICE", "sim:a100")
    totals: Counter[str] = Counter()
    for name in WORKLOADS:
        unedited, found = pairs(name, device, count // len(WORKLOADS))
        agreed = Counter(one.agreement for one in found)
        same = defaultdict[str, int](int)
        for one in found:
            same[one.fingerprint] += one.machine.ok
        lucky = sum(
            one.machine.ok
            and one.machine.time < unedited.machine.time
            and not does_less(one.machine.work, unedited.machine.work)
            for one in found
        )
        totals += agreed
        totals["faster, though it executes no less: no gain is claimed"] += lucky
        totals["same machine code as another"] += sum(max(n - 1, 0) for n in same.values())
        totals["same machine code, another time"] += len(unlike_times([unedited, *found]))
        print(f"{name:20} {dict(agreed.most_common())}", flush=True)
        for one in found:
            if one.agreement not in ALIKE:
                print(f"  {one.agreement}: {one.patch}: {one.difference}", flush=True)
    print()
    for what, number in totals.most_common():
        print(f"{number:6} {what}")
