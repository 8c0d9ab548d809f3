"""What it costs that no variant is believed: hotspot with all checks and with none, in turns.

    python -m benchmarks trust

With none there are no hazards, one poison, one order of threads, and a child that may do anything. It is
by the processor's own time. What is tried on unseen cases while a search runs, and checked in full when it
is over, is for the few that are best, and not in this figure.
"""

import os

from benchmarks.evaluation import DEVICE, PATCHES, judge, processor
from benchmarks.synthetic.bare import Bare
from gevolve.suite.tuned.hotspot import Hotspot
from gevolve.system.confine import OFF
from gevolve.workload.locate import Location, location_of

TURNS = int(os.environ.get("TURNS", "5"))


def seconds(location: Location, count: int) -> float:
    """Seconds of processor time that so many patches take; the device is opened for each anew."""
    began = processor()
    judge(location, Hotspot().load(), 1, count)
    return processor() - began


def main() -> None:
    checked, bare = location_of(Hotspot()), location_of(Bare())
    ready, full, none = [float("inf")] * 2, float("inf"), float("inf")
    for turn in range(1, TURNS + 1):
        os.environ.pop(OFF, None)
        ready[0] = min(ready[0], seconds(checked, 0))
        full = min(full, seconds(checked, PATCHES))
        os.environ[OFF] = "1"
        ready[1] = min(ready[1], seconds(bare, 0))
        none = min(none, seconds(bare, PATCHES))
        del os.environ[OFF]
        with_, without = full - ready[0], none - ready[1]
        print(
            f"{PATCHES} patches on {DEVICE}, least of {turn}: {with_:.2f} s with checks,"
            f" {without:.2f} s with none: {with_ / without - 1:+.1%} (at most 10 % is the aim)",
            flush=True,
        )
