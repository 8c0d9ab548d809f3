"""XLA, as it comes with JAX: a client for one device, and the programs that it compiles.

All calls to JAX are here, since JAX has types for few of them.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from gevolve.device.base import Array, Stopped
from gevolve.device.xla.levels import FULL, Level
from gevolve.errors import DeviceError, SourceError
from gevolve.ir.stablehlo.mlir import parse
from gevolve.ir.stablehlo.signature import Signature, signature_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_jax: Any = import_module("jax")
_backend: Any = import_module("jax.extend.backend")
_bridge: Any = import_module("jax._src.xla_bridge")

_OPTIONS = {
    # A variant that folds a large window stalls the compiler; programs as written lose nothing.
    "xla_disable_hlo_passes": "constant_folding",
    # Threads that share out one operation cost time that varies with the machine's load.
    "xla_cpu_multi_thread_eigen": False,
}
_ENVIRONMENT = {
    "PJRT_NPROC": "1",  # one thread for each worker
    "TF_CPP_MIN_LOG_LEVEL": "3",  # errors are raised, there is no need to log them too
    "XLA_PYTHON_CLIENT_PREALLOCATE": "false",  # workers share a GPU's memory
}
_LEFT_OUT = "{...}"
_MODULE = re.compile(r"^HloModule [^,\n]*", re.MULTILINE)
_NAME = re.compile(r"%[\w.\-]+")
_LAPACK = re.compile(rb"(?:lapack|blas)_")
"""The names of these functions stand as they are in the bytecode of a program that calls them."""


class Client:
    """XLA on one device."""

    def __init__(self, platform: str, index: int) -> None:
        if not _bridge.backends_are_initialized():
            for name, value in _ENVIRONMENT.items():
                os.environ.setdefault(name, value)
            # Else JAX would start every device that it finds, and take memory there.
            _jax.config.update("jax_platforms", platform)
            # To hand a run to another thread and back takes time that is not the program's.
            _jax.config.update("jax_cpu_enable_async_dispatch", False)
        try:
            self._client = _backend.get_backend(platform)
        except RuntimeError:
            raise DeviceError(
                f"JAX finds no {platform} here; use xla:cpu, or install JAX for your {platform}"
            ) from None
        devices = self._client.local_devices()
        if index >= len(devices):
            names = ", ".join(f"xla:{platform}:{number}" for number in range(len(devices)))
            raise DeviceError(f"JAX finds no {platform} {index} here; there is {names}")
        self._device = devices[index]
        self._clock = time.process_time if platform == "cpu" else time.perf_counter

    def compile(self, artefact: bytes, level: Level = FULL) -> CompiledProgram:
        """Compile an artefact; raises `SourceError` with XLA's message if it fails."""
        options = _backend.get_compile_options(
            num_replicas=1,
            num_partitions=1,
            env_options_overrides=_OPTIONS | level,
        )
        if _LAPACK.search(artefact):
            _start_lapack()
        try:
            signature = signature_of(parse(artefact))
            executable = self._client.compile_and_load(artefact, [self._device], options)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001  (several kinds, of MLIR and of XLA)
            raise SourceError(f"XLA does not compile it: {first_line(error)}") from None
        return CompiledProgram(executable, signature, self)

    def upload(self, array: Array) -> Any:
        """A device buffer, which may share memory with the array."""
        with _jax.enable_x64(True):  # else 64-bit types are narrowed
            return _jax.device_put(array, self._device)

    def clock(self) -> float:
        """Seconds of CPU time of this process; of wall time on other devices."""
        return self._clock()


@cache
def _start_lapack() -> None:
    """What JAX does when it traces a factorization; a program from a file needs it too. Loading SciPy takes a second."""
    with suppress(ImportError):
        import_module("jaxlib.cpu._lapack").initialize()


class CompiledProgram:
    """A program that XLA has compiled for a client's device."""

    def __init__(self, executable: Any, signature: Signature, client: Client) -> None:
        self._executable = executable
        self.signature = signature
        self.client = client
        stats = executable.get_compiled_memory_stats()
        self.memory = int(
            stats.argument_size_in_bytes
            + stats.output_size_in_bytes
            + stats.temp_size_in_bytes
            - stats.alias_size_in_bytes
        )
        """The peak size of all buffers in a run, in bytes."""

    def run(self, buffers: Sequence[Any]) -> tuple[list[Array], float]:
        """Run the program; returns its results and the seconds it took, or raises `Stopped`."""
        clock = self.client.clock
        try:
            began = clock()
            made = self._executable.execute_sharded(buffers, with_tokens=True)
            made.consume_token().block_until_ready()
            spent = clock() - began  # what Python makes of the results is not the program's
            results = made.disassemble_into_single_device_arrays()
            return [np.asarray(result) for (result,) in results], spent
        except RuntimeError as error:
            line = first_line(error)
            raise Stopped("memory" if "RESOURCE_EXHAUSTED" in line else "crash", line) from None

    def execute(self, buffers: Sequence[Any]) -> list[Any]:
        """Let the program run; its results are buffers of the device, which may not be there yet."""
        return self._executable.execute(buffers)

    def fingerprint(self) -> str:
        """A hash of the optimized program; "" if this version of JAX cannot print it in full."""
        try:
            options: Any = import_module("jaxlib._hlo").HloPrintOptions()
        except (ImportError, AttributeError):
            return ""
        options.print_metadata = False
        options.print_program_shape = False  # has names of its own
        options.print_large_constants = True  # by default they all look the same
        text = "".join(module.to_string(options) for module in self._executable.hlo_modules())
        if _LEFT_OUT in text:
            return ""
        # XLA could forget the names too, but then also which of two computations is called.
        numbers: dict[str, str] = {}
        text = _MODULE.sub("", text)
        text = _NAME.sub(lambda name: numbers.setdefault(name[0], f"%{len(numbers)}"), text)
        return hashlib.sha256(text.encode()).hexdigest()

    def text(self) -> str:
        """The optimized program, without the values of large constants."""
        return "".join(module.to_string() for module in self._executable.hlo_modules())

    def cost(self) -> dict[str, float]:
        """XLA's own estimate of one run."""
        found = self._executable.cost_analysis()
        wanted = {"flops": "flops", "bytes": "bytes accessed"}
        return {name: float(found.get(key, 0.0)) for name, key in wanted.items()}


def first_line(error: Exception) -> str:
    """The message of an error of XLA or MLIR, without headings and stack traces."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = [line for line in lines if not line.endswith(":")] or lines
    return said[0].removeprefix("error: ")[:300] if said else type(error).__name__
