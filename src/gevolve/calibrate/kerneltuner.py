"""T1 files: how Kernel Tuner and others write down a kernel, its launch and its arguments in JSON."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from gevolve.calibrate.expression import evaluate
from gevolve.calibrate.host import Host
from gevolve.calibrate.measured import Configuration
from gevolve.device.base import Array, Gpu
from gevolve.errors import SourceError

_TYPES = {
    "float": np.float32,
    "double": np.float64,
    "half": np.float16,
    "bool": np.bool_,
    "char": np.int8,
    "short": np.int16,
    "int": np.int32,
    "long": np.int64,
    "unsigned int": np.uint32,
    "uint": np.uint32,
    "size_t": np.uint64,
    **{f"{kind}{bits}": f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
    **{f"float{bits}": f"float{bits}" for bits in (16, 32, 64)},
}
_VECTORS = {"float2": ("f4", 2), "float3": ("f4", 3), "float4": ("f4", 4), "int2": ("i4", 2)}
_SEED = 0x6E70
_AXES = ("X", "Y", "Z")


class _Argument(msgspec.Struct, rename="pascal"):
    name: str
    type: str
    memory_type: str = "Scalar"
    mem_type: str = ""
    fill_type: str = "Constant"
    fill_value: float = 0.0
    random_seed: int = _SEED
    size: int | str = 1


class _Specification(msgspec.Struct, rename="pascal"):
    kernel_name: str
    kernel_file: str = ""
    compiler_options: list[str] = []
    global_size_type: str = "CUDA"
    local_size: dict[str, int | str] = {}
    global_size: dict[str, int | str] = {}
    problem_size: list[int] | int | None = None
    grid_div_x: list[int | str] | None = None
    grid_div_y: list[int | str] | None = None
    grid_div_z: list[int | str] | None = None
    shared_memory: int | str = 0
    arguments: list[_Argument] = []


class KernelTuner(Host):
    """The host code that a T1 file describes."""

    def __init__(self, path: Path) -> None:
        try:
            content = msgspec.json.decode(path.read_bytes())
            self._spec = msgspec.convert(content["KernelSpecification"], _Specification)
        except OSError as error:
            raise SourceError(f"{path}: cannot be read: {error}") from None
        except (msgspec.MsgspecError, KeyError, TypeError) as error:
            raise SourceError(
                f"{path}: not a T1 file with a KernelSpecification: {error}"
            ) from None
        if not self._spec.arguments:
            raise SourceError(f"{path}: the file names no arguments; write a Host class, --host")
        self.kernels = (self._spec.kernel_name,)
        self.source = path.parent / self._spec.kernel_file
        size = self._spec.problem_size
        self._problem = [size] if isinstance(size, int) else (size or [])

    def options(self, config: Configuration) -> tuple[str, ...]:  # noqa: ARG002
        return tuple(o for o in self._spec.compiler_options if o.startswith(("-std", "-D", "-I")))

    def run(self, gpu: Gpu, config: Configuration) -> None:
        names: dict[str, Any] = {**config, "ProblemSize": self._problem}
        values: list[Any] = []
        for argument in self._spec.arguments:
            data = self._fill(argument, names)
            if argument.mem_type.lower() == "constant":
                symbol = gpu.symbol(argument.name, data.dtype)
                whole = np.zeros(symbol.shape, data.dtype)
                whole[: data.size] = data
                symbol.set(whole)
            is_vector = argument.memory_type.lower() == "vector"
            values.append(gpu.array(data) if is_vector else data[0])
        spec = self._spec
        gpu.launch(
            spec.kernel_name,
            self._grid(names),
            [int(evaluate(str(spec.local_size.get(a, 1)), names)) for a in _AXES],
            *values,
            shared=int(evaluate(str(spec.shared_memory or 0), names)),
        )

    def _grid(self, names: Mapping[str, Any]) -> list[int]:
        """Kernel Tuner divides the problem; others say the grid, in blocks or in threads."""
        spec = self._spec
        divisors = (spec.grid_div_x, spec.grid_div_y, spec.grid_div_z)
        if self._problem and any(divisors):
            problem = [*self._problem, 1, 1][:3]
            grid: list[int] = []
            for size, by in zip(problem, divisors, strict=True):
                for one in by or ():
                    size = -(-size // int(evaluate(str(one), names)))  # noqa: PLW2901
                grid.append(size)
            return grid
        sizes = [int(evaluate(str(spec.global_size.get(axis, 1)), names)) for axis in _AXES]
        if spec.global_size_type == "OpenCL":
            local = [int(evaluate(str(spec.local_size.get(axis, 1)), names)) for axis in _AXES]
            return [-(-size // by) for size, by in zip(sizes, local, strict=True)]
        return sizes

    def _fill(self, argument: _Argument, names: Mapping[str, Any]) -> Array:
        size = int(evaluate(str(argument.size), names))
        if argument.type in _VECTORS:
            base, width = _VECTORS[argument.type]
            kind, size = np.dtype(base), size * width
        elif argument.type in _TYPES:
            kind = np.dtype(_TYPES[argument.type])
        else:
            raise SourceError(f"argument {argument.name}: no type {argument.type!r} is known")
        if argument.fill_type.lower() != "random":
            return np.full(size, argument.fill_value, kind)
        rng = np.random.default_rng(argument.random_seed)
        if kind.kind == "f":
            return (rng.standard_normal(size, np.float32) * (argument.fill_value or 1.0)).astype(
                kind
            )
        return rng.integers(0, max(int(argument.fill_value), 1) + 1, size).astype(kind)
