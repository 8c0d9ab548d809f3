"""The symbols of the library: every function of the driver, under each of its names.

A function that is not in the table of calls is a symbol as well: it says its name once and returns
the documented error.
"""

from functools import cache
from importlib import resources

from gevolve.device.virtual.calls import CALLS

DRIVER = 13000
"""The version of CUDA that the driver says it is for."""
IN_C = ("cuGetErrorName", "cuGetErrorString")
"""What the library does by itself: the texts must be in the program's memory."""
_NEWER = {
    "cuCtxCreate": ((12050, "cuCtxCreate_v4"), (11040, "cuCtxCreate_v3")),
    "cuGetProcAddress": ((12000, "cuGetProcAddress_v2"),),
    "cuGraphInstantiate": ((12000, "cuGraphInstantiateWithFlags"),),
    "cuMemPrefetchAsync": ((12020, "cuMemPrefetchAsync_v2"),),
    "cuMemAdvise": ((12020, "cuMemAdvise_v2"),),
    "cuStreamGetCaptureInfo": (
        (12030, "cuStreamGetCaptureInfo_v3"),
        (11030, "cuStreamGetCaptureInfo_v2"),
    ),
    "cuGraphAddDependencies": ((12030, "cuGraphAddDependencies_v2"),),
    "cuGraphExecUpdate": ((12000, "cuGraphExecUpdate_v2"),),
    "cuGraphGetEdges": ((12030, "cuGraphGetEdges_v2"),),
}
"""Functions whose arguments have changed: the first version that has the newer ones."""


@cache
def symbols() -> tuple[str, ...]:
    """All symbols, in the order of their numbers. C code names most functions with a ``_v2`` behind."""
    text = (resources.files("gevolve.device.virtual") / "names.txt").read_text()
    plain = {*text.split(), *CALLS, *IN_C}
    again = {f"{name}_v2" for name in plain if not name.endswith(("_v2", "_v3", "_v4"))}
    return tuple(sorted(plain | again))


@cache
def _numbers() -> dict[str, int]:
    return {name: number for number, name in enumerate(symbols())}


def number_of(symbol: str) -> int:
    return _numbers()[symbol]


def resolve(name: str, version: int) -> str | None:
    """The symbol that a program built for a version of CUDA means by a name."""
    for since, newer in _NEWER.get(name, ()):
        if version >= since:
            return newer
    return name if name in _numbers() else None


def base_of(symbol: str) -> str:
    """The name that a symbol has in the table of calls."""
    if symbol in CALLS:
        return symbol
    return symbol[:-3] if symbol[-3:-1] == "_v" else symbol
