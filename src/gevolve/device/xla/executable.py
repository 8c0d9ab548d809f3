"""The handle of a program on `xla`: a function of arrays that counts what it used."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gevolve.device.base import Array, Limits, Stopped, Usage
from gevolve.errors import LaunchError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gevolve.device.xla.client import Client, CompiledProgram
    from gevolve.device.xla.pieces import PiecedProgram
    from gevolve.ir.stablehlo.signature import Signature

_memcmp = ctypes.CDLL(None).memcmp
_memcmp.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class Uploads:
    """A cache of the last run's arguments on the device, so that equal ones are not copied again.

    It holds private copies, because XLA on the CPU uses the host's memory in place.
    """

    def __init__(self) -> None:
        self._kept: dict[int, tuple[Array, Any]] = {}
        """By position: a copy of the array, and the device's buffer for it."""
        self._fixed: dict[int, Array] = {}
        """By position: the last array that was compared, if it cannot be written to."""

    def get(self, position: int, array: Array, client: Client) -> Any:
        """The device's buffer for an argument."""
        kept = self._kept.get(position)
        # A program that takes over the memory of an argument leaves a buffer that is deleted.
        seen = self._fixed.get(position) is array
        if kept is None or kept[1].is_deleted() or not (seen or _same(kept[0], array)):
            copy = np.array(array, order="C")
            copy.setflags(write=False)
            kept = self._kept[position] = copy, client.upload(copy)
        if not array.flags.writeable:
            self._fixed[position] = array
        else:
            self._fixed.pop(position, None)
        return kept[1]


class XlaExecutable:
    """A program that is open on a device."""

    def __init__(
        self, compiled: CompiledProgram | PiecedProgram, uploads: Uploads, limits: Limits
    ) -> None:
        self._compiled: CompiledProgram | PiecedProgram | None = compiled
        self._uploads = uploads
        self._limits = limits
        self._used = Usage()

    def __call__(self, *arguments: npt.ArrayLike) -> list[Array]:
        """Run the program once on these flat arguments; its flat results are read-only."""
        compiled = self._compiled
        if compiled is None:
            raise LaunchError("this executable is closed; open the artefact again")
        arrays = checked(compiled.signature, arguments)
        if self._used.launches >= self._limits.launches:
            raise Stopped("fuel", f"more than {self._limits.launches} runs of the program")
        if compiled.memory > self._limits.memory:
            raise Stopped(
                "memory", f"needs {compiled.memory:,} bytes, allowed are {self._limits.memory:,}"
            )
        self._used.launches += 1
        self._used.memory = compiled.memory
        buffers = [
            self._uploads.get(position, array, compiled.client)
            for position, array in enumerate(arrays)
        ]
        results, seconds = compiled.run(buffers)
        self._used.time += seconds
        return results

    def usage(self, *, timed: bool = True) -> Usage:  # noqa: ARG002  (the time costs nothing)
        """What was used so far; time is in seconds."""
        return self._used

    def close(self) -> None:
        """Release the program; the device may keep it in its cache."""
        self._compiled = None


def checked(signature: Signature, arguments: Sequence[npt.ArrayLike]) -> list[Array]:
    """The arguments as arrays; raises `LaunchError` if a type or shape is not the program's."""
    wanted = signature.inputs
    if len(arguments) != len(wanted):
        raise LaunchError(f"the program takes {len(wanted)} arrays, not {len(arguments)}")
    arrays: list[Array] = []
    for position, (argument, spec) in enumerate(zip(arguments, wanted, strict=True)):
        number = isinstance(argument, bool | int | float | complex)  # has no type of its own
        array = np.asarray(argument, spec.dtype if number else None)
        if array.shape != spec.shape or array.dtype != spec.dtype:
            raise LaunchError(
                f"argument {position} of the program is {spec},"
                f" not {array.dtype}{list(array.shape)}"
            )
        arrays.append(array)
    return arrays


def _same(one: Array, other: Array) -> bool:
    """Whether two arrays have the same bytes; inputs may be large, so by the C library."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    flat = np.ascontiguousarray(other)
    return _memcmp(one.ctypes.data, flat.ctypes.data, one.nbytes) == 0
