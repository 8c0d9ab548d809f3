"""What a machine does in a second, for the modelled time of `gevolve.device.xla.roofline`.

It is measured once, by `gevolve.device.xla.calibration`, and kept in the user's cache folder
(``$XDG_CACHE_HOME/gevolve``), one file for each kind of processor and version of JAX.
"""

from __future__ import annotations

import hashlib
import os
import sys
import warnings
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec

from gevolve.errors import DeviceError
from gevolve.system import tools

VERSION = "5"
"""Of what is measured, and how."""
_DEADLINE = 600.0

_LOOPED = {
    "divide": 2.5e-10,
    "sqrt": 2.5e-10,
    "rsqrt": 3e-9,
    "exponential": 5e-10,
    "exponential-minus-one": 1.1e-9,
    "log": 6e-10,
    "log-plus-one": 1.1e-9,
    "logistic": 7e-10,
    "tanh": 3.5e-10,
    "erf": 3.5e-10,
    "power": 1.1e-8,
    "sine": 3.2e-9,
    "cosine": 3.2e-9,
    "tan": 8e-9,
    "atan2": 8e-9,
    "cbrt": 1.6e-8,
    "remainder": 5e-9,
}
_LIBRARY = {
    "divide": 1.2e-10,
    "sqrt": 2.8e-10,
    "rsqrt": 4.5e-10,
    "exponential": 3.4e-10,
    "exponential-minus-one": 1.1e-9,
    "log": 3.1e-10,
    "logistic": 6.7e-10,
    "tanh": 4.9e-10,
    "erf": 9.2e-10,
    "power": 1e-8,
}


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """What a machine can do, in seconds a unit; the defaults are of one core of a server of 2023."""

    run: float = 6e-6
    """Of one run of a program, whatever it does."""
    argument: float = 2e-7
    """Of one argument of a program, ..."""
    result: float = 1e-6
    """... and of one result."""
    first: float = 1.8e-7
    """Of one instruction the first time in a run, for what it needs is in no cache."""
    start: float = 5e-8
    """Of one instruction each time, whatever it does; a part of what it takes the first time."""
    turn: float = 3e-8
    """Of one round of a loop."""
    near: float = 1.4e-11
    """A byte of memory in the cache."""
    far: float = 5e-11
    """A byte of memory outside of it."""
    cache: float = 1 << 20
    """Bytes of cache of one core."""

    element: float = 2.5e-11
    """A simple operation on one element, when several are done at once."""
    apart: float = 2e-10
    """What it takes to fetch and store one when they are done one by one."""
    tile: float = 2.4e-10
    """An element of an operation that is done in tiles."""
    single: float = 9e-10
    """An element that is fetched from elsewhere than the one before it."""
    exchange: float = 6e-10
    """An element of an array whose dimensions change places."""
    tap: float = 7e-10
    """An element in the window of a pooling."""
    fold: float = 9e-10
    """An element that is reduced one by one, ..."""
    choose: float = 2e-9
    """... together with others, as its place is for the greatest."""
    compare: float = 2e-8
    """A comparison of a sort."""
    functions: dict[str, float] = msgspec.field(default_factory=lambda: dict(_LOOPED))
    """An element of these, in a loop."""

    call: float = 5e-7
    """Of one call of the library that does matrix products and reductions."""
    pass_: float = msgspec.field(default=1.1e-10, name="pass")
    """A simple operation of the library on one element: each is a pass over its array."""
    sum: float = 6e-11
    """An element that the library reduces."""
    pool: float = 6e-10
    """An element in the window of a pooling that the library does."""
    library: dict[str, float] = msgspec.field(default_factory=lambda: dict(_LIBRARY))
    """An element of these functions, in the library."""

    multiply: float = 7e-12
    """A floating-point operation of a matrix product or convolution."""
    turned: float = 1.1e-11
    """The same of a product that another library does, such as one that sums over rows."""
    half: float = 3e-12
    """The same of numbers of 16 bits."""
    entry: float = 9e-11
    """An element that a matrix product takes or gives."""
    weight: float = 2e-10
    """One of the matrix or kernel that it is done with, which is packed first."""
    columns16: float = 1.6
    """How much longer a product of 16 columns takes than a quarter of one of 64, ..."""
    columns32: float = 1.2
    """... of 32 than a half, ..."""
    columns48: float = 1.2
    """... of 48 than three quarters, ..."""
    columns60: float = 1.5
    """... and of 60 than all."""
    leftover: float = 1.3e-8
    """A row of a product whose terms do not go into as many as the library sums at a time."""

    patch: float = 2.7e-9
    """What a convolution gathers one by one, a number or what comes with each place, ..."""
    patch_row: float = 1e-9
    """... a number from a row of several, ..."""
    patch_whole: float = 3.3e-10
    """... or from channels that are there at once."""
    group: float = 2.3e-8
    """A group of a convolution at one place, ..."""
    group_tap: float = 1.25e-9
    """... and each number that it takes there."""

    def flat(self) -> dict[str, float]:
        """All rates by name; functions have two parts, such as ``functions.tanh``."""
        named: dict[str, Any] = msgspec.to_builtins(self)
        groups = {"functions": self.functions, "library": self.library}
        single = {name: rate for name, rate in named.items() if name not in groups}
        return single | {
            f"{g}.{name}": rate for g, of in groups.items() for name, rate in of.items()
        }

    @staticmethod
    def of(flat: dict[str, float]) -> Rates:
        """The rates that have these names; those that are not among them are the defaults."""
        nested: dict[str, Any] = {}
        for name, value in flat.items():
            group, _, part = name.partition(".")
            if part:
                nested.setdefault(group, msgspec.to_builtins(Rates())[group])[part] = value
            else:
                nested[group] = value
        return msgspec.convert(nested, Rates)


def machine_rates() -> Rates:
    """What this machine can do; measured if nobody has yet."""
    kept = _file()
    try:
        return Rates.of(msgspec.json.decode(kept.read_bytes(), type=dict[str, float]))
    except (OSError, msgspec.MsgspecError):
        rates = _measured_apart()
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(msgspec.json.encode(rates.flat()))
    except OSError:
        pass  # a folder that cannot be written to costs some seconds each time
    return rates


def _file() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    told = (VERSION, metadata.version("jaxlib"), _processor())
    digest = hashlib.sha256(repr(told).encode()).hexdigest()[:16]
    return Path(base) / "gevolve" / f"xla-cpu-{digest}.json"


def _processor() -> str:
    """The lines that say what kind of processor it is."""
    wanted = ("vendor_id", "cpu family", "model", "stepping", "flags", "cache size")
    try:
        lines = Path("/proc/cpuinfo").read_text().partition("\n\n")[0].splitlines()
    except OSError:
        return ""
    return "\n".join(line for line in lines if line.startswith(wanted))


def _measured_apart() -> Rates:
    with warnings.catch_warnings():
        # JAX may be in this process and warns of forks; but the child runs another program at once.
        warnings.simplefilter("ignore", RuntimeWarning)
        command = [sys.executable, "-m", "gevolve.device.xla.calibration"]
        answer = tools.run(command, seconds=_DEADLINE)
    if answer.status:
        last = answer.said.splitlines()[-1]
        raise DeviceError(f"xla:cpu: this machine's speed cannot be measured: {last:.200}")
    return Rates.of(msgspec.json.decode(answer.out.splitlines()[-1], type=dict[str, float]))
