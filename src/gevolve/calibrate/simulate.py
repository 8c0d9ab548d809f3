"""One configuration on a `sim` device: compile it as the tuner did, launch it, ask for the time."""

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import NamedTuple

from gevolve.calibrate.host import Host
from gevolve.calibrate.kerneltuner import KernelTuner
from gevolve.calibrate.measured import Configuration
from gevolve.device import nvrtc
from gevolve.device.base import Limits, Stopped
from gevolve.device.registry import open_device
from gevolve.device.sim.timing import load_gpu
from gevolve.errors import GevolveError, OptionError, one_line
from gevolve.ir.llvm.source import read
from gevolve.workload.locate import build_one


class Plan(NamedTuple):
    """What is run, as another process can be told it."""

    source: str
    host: str
    """A T1 file, or ``FILE.py`` or ``FILE.py:Name`` with a `Host`."""
    device: str
    compiler: str = "clang"
    """``clang``, which gevolve brings along, or ``nvrtc``, which is NVIDIA's."""


class Outcome(NamedTuple):
    """The milliseconds of a configuration, or why it has none."""

    time: float
    fault: str = ""


def clock_of(device: str) -> float:
    """The MHz of the GPU that a device models."""
    family, _, model = device.partition(":")
    if family not in {"sim", "ptx"} or not model:
        raise OptionError(
            f"calibrate needs a model of a named GPU, such as sim:a100, not {device!r}"
        )
    return load_gpu(model).clock


def arch_of(device: str) -> str:
    """What code for the GPU that a device models is compiled for."""
    machine = load_gpu(device.partition(":")[2]).machine
    return machine.arch if machine else "sm_75"


@cache
def host_of(text: str) -> Host:
    """The host code that a T1 file or a Python file describes."""
    return KernelTuner(Path(text)) if text.endswith(".json") else build_one(text, Host)


def simulate(plan: Plan, config: Configuration) -> Outcome:
    """Run one configuration; what does not compile or is refused is an outcome too."""
    host = host_of(plan.host)
    macros = [f"-D{name}={value}" for name, value in host.defines(config).items()]
    device = open_device(plan.device)
    try:
        options = [*macros, *host.options(config)]
        if plan.compiler == "nvrtc":
            artefact = nvrtc.compile_cuda(Path(plan.source), options, arch_of(plan.device)).ptx
        else:
            artefact = device.build(read(Path(plan.source), options))
        gpu = device.open(artefact, Limits(whole=False))
        try:
            host.run(gpu, config)
            cycles = gpu.usage().time
        finally:
            gpu.close()
    except (GevolveError, Stopped) as error:
        return Outcome(0.0, one_line(error))
    return Outcome(cycles / (clock_of(plan.device) * 1e3))


def simulate_all(plan: Plan, configs: Sequence[Configuration], workers: int) -> Iterator[Outcome]:
    """All configurations, in order."""
    if workers <= 1:
        yield from (simulate(plan, config) for config in configs)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        yield from pool.map(simulate, [plan] * len(configs), configs)
