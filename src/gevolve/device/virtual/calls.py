"""The table of the driver's functions: each is a Python function with the kinds of its arguments.

    @call("cuMemAlloc", "Pn")
    def allocate(gpu: VirtualGpu, size: int) -> int: ...

Lower case is what a function is given, upper case where a result goes, in the order of the C arguments:

    b w i j n   numbers of 1, 2, 4, 4 (signed) and 8 bytes
    a t p       an address of the program's, a text, an address on the GPU
    d c s e m f   a device, a context, a stream, an event, a module, a kernel
    g v x o l   a graph, a node of one, an executable one; a pool; a linker
    I N P F D   results: an int, a size, an address on the GPU, a float, a double
    H           the handle of an object

With a ``?`` behind it, a result may be left out (NULL), and an object may be none (0).
"""

import struct
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from gevolve.device.virtual.codes import Code, Fault
from gevolve.device.virtual.objects import KINDS, Thing

if TYPE_CHECKING:
    from gevolve.device.virtual.gpu import VirtualGpu

Handler = Callable[..., Any]
F = TypeVar("F", bound=Handler)

_NUMBERS = {"b": 8, "w": 16, "i": 32, "n": 64, "a": 64, "p": 64}
_RESULTS = {"I": "<i", "N": "<Q", "P": "<Q", "H": "<Q", "F": "<f", "D": "<d"}


class Call(NamedTuple):
    """A function of the driver."""

    name: str
    kinds: tuple[tuple[str, bool], ...]
    """The kind of each argument, and whether it may be left out."""
    handler: Handler
    context: bool | None
    """Whether it needs a current context; None if any that there is must be sound."""
    started: bool
    """Whether it needs `cuInit`."""


CALLS: dict[str, Call] = {}


def call(
    name: str, kinds: str = "", *, context: bool | None = True, started: bool = True
) -> Callable[[F], F]:
    """Add a function to the table. Its results go where the program says."""
    parsed = tuple(
        (kind, kinds[at + 1 : at + 2] == "?") for at, kind in enumerate(kinds) if kind != "?"
    )

    def add(function: F) -> F:
        CALLS[name] = Call(name, parsed, function, context, started)
        return function

    return add


def perform(gpu: "VirtualGpu", one: Call, arguments: Sequence[int]) -> None:
    """Do one call: take its arguments apart, run it, write its results; raises `Fault`."""
    given: list[Any] = []
    places: list[tuple[str, int]] = []
    for (kind, optional), value in zip(one.kinds, arguments, strict=False):
        if kind in _RESULTS:
            if not value and not optional:
                raise Fault(Code.INVALID_VALUE)
            places.append((kind, value))
        else:
            given.append(_argument(gpu, kind, value, optional=optional))
    found: Any = one.handler(gpu, *given)
    results: tuple[Any, ...] = () if found is None else (found,)
    if isinstance(found, tuple):
        results = cast("tuple[Any, ...]", found)
    for (kind, place), result in zip(places, results, strict=True):
        if place:
            number = result.handle if isinstance(result, Thing) else result
            gpu.program.write(place, struct.pack(_RESULTS[kind], number))


def _argument(gpu: "VirtualGpu", kind: str, value: int, *, optional: bool) -> Any:
    if kind in _NUMBERS:
        return value & ((1 << _NUMBERS[kind]) - 1)
    if kind == "j":
        return (value & 0xFFFFFFFF ^ 1 << 31) - (1 << 31)
    if kind == "t":
        if not value:
            raise Fault(Code.INVALID_VALUE)
        return gpu.program.text(value).decode(errors="replace")
    if kind == "d":
        if value & 0xFFFFFFFF:
            raise Fault(Code.INVALID_DEVICE)
        return 0
    if not value and optional:
        return None
    return gpu.find(KINDS[kind], value)
