"""Measures what this machine does in a second, once, for the modelled time of `gevolve.device.xla.roofline`.

It is done in a process of its own, since JAX does not survive a fork, and kept in the user's cache folder
(``$XDG_CACHE_HOME/gevolve``), one file for each kind of processor and version of JAX.
"""

from __future__ import annotations

import hashlib
import os
import sys
import warnings
from importlib import import_module, metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from gevolve.device.xla.roofline import Rates
from gevolve.errors import DeviceError
from gevolve.system import tools

if TYPE_CHECKING:
    from collections.abc import Callable

VERSION = "1"
"""Of what is measured, and how."""
_DEADLINE = 120.0
_SAMPLES = 15
_CHAIN = 24
"""Simple operations in a row."""
_GUESS = 2e-10
"""Seconds that an element may take; a loop has as many rounds as it needs to be measured."""
_FLOOR = 1e-7
"""Seconds that nothing is started in less."""
_LEAST = 2e-3
"""Seconds of one sample: many short runs are measured together."""


def machine_rates() -> Rates:
    """What this machine can do; measured if nobody has yet."""
    kept = _file()
    try:
        return msgspec.json.decode(kept.read_bytes(), type=Rates)
    except (OSError, msgspec.MsgspecError):
        rates = _measured_apart()
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(msgspec.json.encode(rates))
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
        answer = tools.run([sys.executable, "-m", __name__], seconds=_DEADLINE)
    if answer.status:
        last = answer.said.splitlines()[-1]
        raise DeviceError(f"xla:cpu: this machine's speed cannot be measured: {last:.200}")
    return msgspec.json.decode(answer.out.splitlines()[-1], type=Rates)


def measure() -> Rates:
    """What this machine can do, measured now; JAX is used in this process from then on."""
    jax: Any = import_module("jax.numpy")  # which loads when it is needed
    loop: Any = import_module("jax.lax").fori_loop
    rng = np.random.default_rng(0)

    def turn(change: Callable[[Any], Any], carried: int, *shape: int) -> float:
        """Seconds of one round of a loop that changes so many arrays: what starts a run is left out."""
        start = [rng.random(shape, np.float32) for _ in range(carried)]

        def rounds(number: int) -> float:
            def body(_: Any, arrays: list[Any]) -> list[Any]:
                return [change(array) for array in arrays]

            return _seconds(lambda *x: loop(0, number, body, list(x)), *start)

        few, many = 4, 4 + max(4, round(2e-4 / _GUESS / (carried * np.prod(shape))))
        return max(1e-9, rounds(many) - rounds(few)) / (many - few)

    def simple(x: Any) -> Any:
        for number in range(_CHAIN):
            x = jax.maximum(x * np.float32(0.5), np.float32(number)) if number % 2 else x + x
        return x

    def functions(x: Any) -> Any:
        return jax.exp(-x) + jax.tanh(x)

    small, large = 1 << 12, 1 << 14
    once, nine = turn(_more, 1, small), turn(_more, 9, small)
    one = max(1e-8, (nine - once) / 8)
    near = max(1e-12, (turn(_more, 1, large) - once) / (large - small))
    start = max(_FLOOR, one - near * small)
    square = rng.random((256, 256), np.float32)
    rates = Rates(
        start=start,
        turn=max(_FLOOR, once - one),
        multiply=_seconds(jax.matmul, square, square) / (2 * 256**3),
        element=(turn(simple, 1, large) - turn(_more, 1, large)) / large / (1.5 * _CHAIN),
        single=turn(lambda x: x.T + 1, 1, 96, 96) / 96**2,
        function=turn(functions, 1, small) / small / 2,
        near=near / 8,
        far=turn(_more, 1, 1 << 23) / (8 << 23),
    )
    rounded = {name: float(f"{value:.2e}") for name, value in msgspec.to_builtins(rates).items()}
    return msgspec.convert(rounded, Rates)


def _more(x: Any) -> Any:
    return x + np.float32(1)


def _seconds(function: Callable[..., Any], *arguments: Any) -> float:
    """Seconds of CPU time of one run of a JAX function, compiled as variants are."""
    from gevolve.device.xla.client import Client  # noqa: PLC0415  (JAX loads when it is needed)
    from gevolve.ir.stablehlo import canonical, load  # noqa: PLC0415

    client = Client("cpu", 0)
    program = client.compile(canonical(load(function, list(arguments)).text))
    buffers = [client.upload(np.asarray(one)) for one in arguments]

    def sample(times: int) -> float:
        return sum(program.run(buffers)[1] for _ in range(times)) / times

    sample(1)
    times = max(1, round(_LEAST / max(1e-7, float(np.median([sample(1) for _ in range(5)])))))
    return float(np.percentile([sample(times) for _ in range(_SAMPLES)], 10))


if __name__ == "__main__":
    print(msgspec.json.encode(measure()).decode())
