"""How a workload launches its kernels: written down while it runs on `sim`, to be shown as an example."""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gevolve.device.base import Limits
from gevolve.device.sim import Sim
from gevolve.device.sim.arguments import MAX_BLOCK, MAX_GRID, lookup, shape3
from gevolve.device.sim.program import load
from gevolve.ir.llvm.names import demangle

if TYPE_CHECKING:
    from gevolve.device.sim.ptx import Variable
    from gevolve.workload.base import Array
    from gevolve.workload.kernel import KernelWorkload

_TAKEN = frozenset(
    ("Path", "arrays", "cuda", "cupy", "device", "driver", "gpuarray", "image", "module", "np")
)
"""Names that the scripts use for themselves."""
_SCALARS = {
    "u8": "int8", "s8": "int8", "b8": "int8", "u16": "int16", "s16": "int16", "b16": "int16",
    "u32": "int32", "s32": "int32", "b32": "int32", "u64": "int64", "s64": "int64", "b64": "int64",
    "f16": "float16", "f32": "float32", "f64": "float64",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a launch: an array in device memory, a number, or the bytes of a struct."""

    name: str
    """What the workload's case calls it; made up if it does not."""
    dtype: str
    shape: tuple[int, ...] | None = None
    """Of an array; None for what is passed by value."""
    value: int | float | bytes = 0


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of a kernel."""

    kernel: str
    """As the PTX names it."""
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    arguments: tuple[Argument, ...]

    @property
    def name(self) -> str:
        """A Python name for the kernel."""
        return f"run_{re.sub(r'[^A-Za-z0-9]+', '_', self.title).strip('_')}"

    @property
    def title(self) -> str:
        """The kernel as people write it."""
        return demangle(self.kernel)

    @property
    def arrays(self) -> tuple[Argument, ...]:
        """Every array that is passed, once."""
        return tuple({a.name: a for a in self.arguments if a.shape is not None}.values())


def record(workload: KernelWorkload, ptx: str) -> tuple[list[Launch], list[str]]:
    """The first launch of every kernel on the smallest search case, and the module's variables used."""
    artefact, case = ptx.encode(), workload.cases("search")[0]
    gpu = _Recorder(Sim().open(artefact, Limits()), artefact, case.inputs)
    try:
        workload.run(gpu, case)  # pyright: ignore[reportArgumentType]  (all that is not launched is passed on)
    finally:
        gpu.close()
    return list(gpu.launches.values()), list(gpu.variables)


class _Recorder:
    """A GPU that writes down what is launched on it."""

    def __init__(self, gpu: Any, artefact: bytes, inputs: dict[str, Any]) -> None:
        self._gpu = gpu
        self._kernels = load(artefact).kernels
        self._inputs = inputs
        self._buffers: dict[int, Argument] = {}
        self.launches: dict[str, Launch] = {}
        self.variables: dict[str, None] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._gpu, name)

    def array(self, data: Any) -> Any:
        names = (name for name, value in self._inputs.items() if value is data)
        return self._keep(self._gpu.array(data), next(names, None))

    def empty(self, *shape: Any, **options: Any) -> Any:
        return self._keep(self._gpu.empty(*shape, **options), None)

    def zeros(self, *shape: Any, **options: Any) -> Any:
        return self._keep(self._gpu.zeros(*shape, **options), None)

    def symbol(self, name: str, *dtype: Any, **options: Any) -> Any:
        self.variables[name] = None
        return self._gpu.symbol(name, *dtype, **options)

    def launch(self, kernel: str, grid: Any, block: Any, *args: Any, shared: int = 0) -> None:
        self._gpu.launch(kernel, grid, block, *args, shared=shared)
        name = lookup("kernel", kernel, self._kernels)
        params = [variable for variable, _ in self._kernels[name].params]
        if name not in self.launches:
            pairs = zip(params, args, strict=True)
            self.launches[name] = Launch(
                name,
                shape3("grid", grid, MAX_GRID),
                shape3("block", block, MAX_BLOCK),
                shared,
                tuple(
                    self._argument(n, variable, value) for n, (variable, value) in enumerate(pairs)
                ),
            )

    def _keep(self, buffer: Any, name: str | None) -> Any:
        taken = _TAKEN.union(argument.name for argument in self._buffers.values())
        if name is None or name in taken or keyword.iskeyword(name) or not name.isidentifier():
            name = f"buffer{len(self._buffers)}"
        self._buffers[buffer.ptr] = Argument(name, str(buffer.dtype), tuple(buffer.shape))
        return buffer

    def _argument(self, number: int, variable: Variable, value: Any) -> Argument:
        if isinstance(pointer := getattr(value, "ptr", None), int) and pointer in self._buffers:
            return self._buffers[pointer]
        dtype = _SCALARS.get(variable.type) if variable.length == 1 else None
        array: Array = (
            np.asarray(value) if not isinstance(value, bytes | bytearray) else np.zeros(1)
        )
        if dtype is None or isinstance(value, bytes | bytearray) or array.shape:
            data = bytes(value) if isinstance(value, bytes | bytearray) else array.tobytes()
            return Argument(f"struct{number}", f"V{variable.size}", value=data)
        names = (name for name, given in self._inputs.items() if given is value)
        whole = dtype.startswith("int")
        return Argument(
            next(names, f"value{number}"), dtype, value=int(value) if whole else float(value)
        )
