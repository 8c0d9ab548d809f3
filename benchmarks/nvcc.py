"""Our build of every kernel program of the suite beside nvcc's: cycles of nvcc's over ours, smallest case.

DEVICE=sim:t4 python -m benchmarks nvcc
"""

import os
from contextlib import closing

import numpy as np

from gevolve.device.base import Limits
from gevolve.errors import WorkloadError
from gevolve.run.nvcc import nvcc_build
from gevolve.suite import PAPERS, TUNED
from gevolve.workload.locate import locate


def main() -> None:
    ratios: list[float] = []
    for name in (*TUNED, *PAPERS):
        workload = locate(name)
        device = workload.device(os.environ.get("DEVICE", "sim:a100"))
        built = nvcc_build(workload, device)
        if isinstance(built, str):
            print(f"{name:24} {built}", flush=True)
            continue
        try:
            case, times = workload.cases("search")[0], []
        except WorkloadError as error:  # its data are not here
            print(f"{name:24} {error}", flush=True)
            continue
        for artefact in (device.build(workload.load().text), built.ptx):
            with closing(device.open(artefact, Limits())) as gpu:
                workload.run(gpu, case)
                times.append(gpu.usage().time)
        ratios.append(times[1] / times[0])
        print(
            f"{name:24} {ratios[-1]:6.3f}  ours {times[0]:9.0f}  nvcc's {times[1]:9.0f}", flush=True
        )
    print(f"geometric mean of {len(ratios)}: {np.exp(np.log(ratios).mean()):.3f}")
