"""The unedited program as NVIDIA's own compiler builds it, beside our own build.

A search begins with our build. Where nvcc's is faster, a variant that only makes up for that is no gain
to anybody who has nvcc: so results are shown against both, and the headline is against the better.
"""

from __future__ import annotations

import math
import sys
from contextlib import closing, redirect_stdout
from typing import TYPE_CHECKING, Any

from gevolve.device import nvrtc
from gevolve.device.base import Limits, Stopped
from gevolve.errors import GevolveError, one_line
from gevolve.evaluate.protocol import named_arrays
from gevolve.run.findings import NvccBuild
from gevolve.workload.kernel import KernelWorkload

if TYPE_CHECKING:
    from gevolve.device.base import Device
    from gevolve.workload.base import Workload


LIMITS = Limits(fuel=1 << 28, launches=1 << 20)
"""A build that goes astray must not hang the run."""


def compare_with_nvcc(workload: Workload, text: str, device: Device) -> NvccBuild:
    """Time nvcc's build of a workload's source on the search cases; `text` is our unedited program."""
    built = nvcc_build(workload, device)
    if isinstance(built, str):
        return NvccBuild(why=built)
    try:
        ratio = _ratio(workload, device.build(text), built.ptx, device)
    except (GevolveError, Stopped) as error:
        return NvccBuild(why=f"nvcc's build does not run here: {error}", version=built.version)
    except Exception as error:  # noqa: BLE001  (host code may raise anything on other outputs)
        return NvccBuild(why=f"the workload fails with nvcc's build: {one_line(error)}")
    if ratio is None:
        return NvccBuild(why="nvcc's build gives other outputs", version=built.version)
    return NvccBuild(ratio=ratio, version=built.version)


def nvcc_build(workload: Workload, device: Device) -> nvrtc.Built | str:
    """PTX of a workload's own source by nvcc's compiler, or the reason why there is none."""
    if not isinstance(workload, KernelWorkload):
        return "nvcc compiles no models"
    if not device.arch:
        return f"{device.name} does not run what nvcc compiles"
    path = workload.path()
    if path.suffix != ".cu":
        return f"{path.name} is LLVM-IR, which nvcc does not compile"
    try:
        return nvrtc.compile_cuda(path.absolute(), workload.clang_options, device.arch)
    except GevolveError as error:
        return str(error)


def _ratio(workload: Workload, ours: bytes, nvccs: bytes, device: Device) -> float | None:
    """The time of nvcc's build over that of ours; None if its outputs are wrong."""
    times = [0.0, 0.0]
    for case in workload.cases("search"):
        outputs: list[dict[str, Any]] = []
        for index, artefact in enumerate((ours, nvccs)):
            with closing(device.open(artefact, LIMITS)) as handle:
                with redirect_stdout(sys.stderr):  # what the host code prints is no result
                    outputs.append(named_arrays(workload.run(handle, case)))
                times[index] += handle.usage().time
        want = outputs[0] if workload.reference is None else named_arrays(workload.reference(case))
        error = workload.measure(outputs[1], want, case)
        if not error <= workload.bound(0.0, workload.tolerance):
            return None
    return times[1] / times[0] if times[0] and math.isfinite(times[1]) else None
