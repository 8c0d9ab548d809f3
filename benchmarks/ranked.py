"""The same measured variants, and what the model of time says of them now: to compare two models without the clock.

MODELS=adam,encoder KEEP=FILE python -m benchmarks ranks     # measures
KEPT=FILE python -m benchmarks ranked                        # asks the model of this checkout
"""

import json
import os
from pathlib import Path

import numpy as np

from benchmarks.ranks import spearman
from gevolve.device.xla.rates import machine_rates
from gevolve.device.xla.roofline import Roofline

KEPT = os.environ.get("KEPT", "")


def main() -> None:
    if not KEPT:
        print(
            "nothing to ask about: give the file that `KEEP=FILE python -m benchmarks ranks` wrote as KEPT"
        )
        return
    rates = machine_rates()
    both: list[tuple[float, float]] = []
    print("model            variants  rank correlation  beyond 3 %   error")
    for name, found in json.loads(Path(KEPT).read_text()).items():
        seconds = [Roofline(text, rates).seconds for _, _, text in found]
        modelled = np.log(np.array(seconds[1:]) / seconds[0])
        clock = np.log([ratio for _, ratio, _ in found[1:]])
        print(f"{name:16} {row(modelled, clock)}")
        both += zip(modelled, clock, strict=True)
    print(f"{'all':16} {row(*np.array(both).T)}")


def row(modelled: np.ndarray, clock: np.ndarray) -> str:
    apart = np.abs(clock) > 0.03
    error = float(np.sqrt(np.mean((modelled - clock) ** 2)))
    beyond = spearman(modelled[apart], clock[apart])
    return f"{len(clock):8}  {spearman(modelled, clock):16.2f}  {beyond:10.2f}  {error:6.1%}"
