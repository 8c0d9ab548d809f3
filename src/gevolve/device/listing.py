"""What `gevolve devices` prints: every device that workloads can run on, and what to install for more."""

import importlib.util

from gevolve.device.cuda.query import Found, gpus
from gevolve.device.sim.timing import gpus as simulated
from gevolve.device.sim.timing import load_gpu
from gevolve.device.xla.listing import devices as xla_devices
from gevolve.errors import DeviceError, install

Row = tuple[str, str]
"""A device's name, or its family's if there is none of it, and one line about it."""


def listing() -> list[Row]:
    """All devices there are; nothing that is not installed is imported, and nothing here can hang."""
    return [*_sim(), *_cuda(), *_xla()]


def _sim() -> list[Row]:
    rows = [("sim", "PTX on the CPU; time is warp instructions and memory sectors")]
    named = ((name, load_gpu(name).title) for name in simulated())
    return rows + [
        (f"sim:{name}", f"the same, with the cycles of an {title}") for name, title in named
    ]


def _cuda() -> list[Row]:
    if not _installed("cuda", "cuda.bindings"):
        return [("cuda", f"no NVIDIA GPUs without cuda-bindings; {install('cuda')}")]
    try:
        found = gpus()
    except DeviceError as error:
        return [("cuda", str(error).removeprefix("cuda: "))]
    return [(gpu.device, _line(gpu)) for gpu in found]


def _line(gpu: Found) -> str:
    memory = f"{gpu.memory / (1 << 30):.1f} GB"
    return f"PTX on {gpu.title}, {gpu.sm}, {memory}, driver for CUDA {gpu.driver}"


def _xla() -> list[Row]:
    return xla_devices() or [("xla", f"no StableHLO programs without JAX; {install('ml')}")]


def _installed(*names: str) -> bool:
    """Whether these modules are there, each inside the one before it."""
    return all(importlib.util.find_spec(name) is not None for name in names)
