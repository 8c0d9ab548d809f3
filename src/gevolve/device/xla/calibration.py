"""Measures what this machine does in a second, once, for the modelled time of `gevolve.device.xla.roofline`.

For each rate there is a small program that mostly depends on it. All of them run in turns, and each rate becomes what makes
the modelled time of its program the measured one. It is done in a process of its own, since JAX does not survive a fork.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from gevolve.device.xla.hlo import Module, read_module
from gevolve.device.xla.rates import Rates
from gevolve.device.xla.roofline import Roofline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    _Change = Callable[[Any], Any]
    _Shape = tuple[int, ...]

_SECONDS = 8.0
"""Processor time of all runs together, ..."""
_TURNS = 60
"""... in which each program has at most so many turns, ..."""
_LEAST = 5
"""... and at least so many."""
_TOGETHER = 4
"""Runs in a row in each turn; the middle one counts."""
_LOW = 10
"""The percentile of all turns that counts."""
_PASSES = 4
"""Programs depend on several rates, so rates are found one by one, again and again."""
_FIRST = 16.0
"""No rate is believed to differ by more than this factor from its default, ..."""
_APART = 5.0
"""... nor by more than this one from what the others say of the machine."""
_CHAIN = 12
_ROW = 32
"""Instructions one after the other, none of which XLA joins with another."""
_LOOPED = (
    *("divide", "sqrt", "rsqrt", "exponential", "log", "tanh", "power"),
    *("exponential-minus-one", "log-plus-one"),
)
"""Functions that are measured in a loop; the rest differ from their defaults as these do."""
_IN_LIBRARY = ("divide", "rsqrt", "exponential", "tanh", "erf")
"""Those that are measured in the library."""


@dataclass(frozen=True)
class Probe:
    """A program that mostly depends on one rate."""

    rate: str
    function: Callable[..., Any]
    arguments: Sequence[Any]


def probes() -> Iterator[Probe]:
    """One program for each rate: a loop whose rounds change an array, so that starting a run hardly matters."""
    jax: Any = import_module("jax")
    jnp, lax = jax.numpy, jax.lax
    rng = np.random.default_rng(0)
    single = np.float32

    def numbers(*shape: int) -> Any:
        return rng.random(shape, single) + single(0.5)

    def beside(
        rate: str, rounds: int, change: Callable[..., Any], first: _Shape, *others: _Shape
    ) -> Probe:
        """So many rounds of what changes an array of the first shape, with the others beside it."""

        def whole(others: Any, start: Any) -> Any:
            def turn(_: Any, held: Any) -> Any:
                return change(held, *others)

            return lax.fori_loop(0, rounds, turn, start)

        return Probe(rate, whole, [[numbers(*shape) / 16 for shape in others], numbers(*first)])

    def loop(rate: str, rounds: int, change: _Change, *shape: int) -> Probe:
        """So many rounds of what changes an array."""
        return beside(rate, rounds, change, shape)

    def more(x: Any) -> Any:
        return x + single(1)

    def chain(x: Any) -> Any:
        for number in range(_CHAIN):
            x = jnp.maximum(x * single(0.5), single(number)) if number % 2 else x + x
        return x

    def reduced(change: _Change) -> _Change:
        return lambda x: x - change(x).sum(-1, keepdims=True) * single(1e-6)

    def halved(change: _Change) -> _Change:
        """In a loop: what has no constant beside it is done in tiles."""
        return lambda x: change(x) * single(0.5) + single(0.5)

    def convolution(x: Any, kernel: Any) -> Any:
        groups = x.shape[-1] // kernel.shape[-2]
        form = ("NHWC", "HWIO", "NHWC")
        return lax.conv_general_dilated(
            x, kernel, (1, 1), "SAME", dimension_numbers=form, feature_group_count=groups
        )

    def there_and_back(x: Any, there: Any, back: Any) -> Any:
        return convolution(convolution(x, there), back)

    def largest(x: Any) -> Any:
        found = lax.reduce_window(x, single(-np.inf), lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return x * single(0.5) + jnp.pad(found, [(0, 0), (8, 0), (8, 0), (0, 0)])

    def smooth(x: Any) -> Any:
        return lax.reduce_window(x, single(0), lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME")

    def windows(x: Any) -> Any:
        for _ in range(_ROW):
            x = lax.reduce_window(x, single(0), lax.add, (2, 1), (1, 1), "SAME")
        return x

    def sort(x: Any) -> Any:
        mixed = jnp.sort(x, -1) * single(97.3)
        return mixed - jnp.floor(mixed)

    def position(x: Any) -> Any:
        return x + jnp.argmax(x, -1)[:, None].astype(single)

    def half(x: Any, y: Any) -> Any:
        x, y = (one.astype(jnp.bfloat16) for one in (x, y))
        return lax.dot(x, y, preferred_element_type=single)

    def across(x: Any, y: Any) -> Any:
        return y @ (x.T @ y) * single(0.001)

    def several(*x: Any) -> Any:
        return [more(one) for one in x]

    def first_of_all(*x: Any) -> Any:
        return sum(one[0] for one in x)

    def layers(x: Any, weights: Any) -> Any:
        for weight in weights:
            x = x @ weight
        return x

    def both(x: Any, y: Any) -> Any:
        return x + y

    def once(x: Any, y: Any) -> Any:
        return x @ y

    def twice(x: Any, there: Any, back: Any) -> Any:
        return x @ there @ back

    yield Probe("run", more, [numbers(8)])
    yield Probe("argument", first_of_all, [numbers(8) for _ in range(64)])
    yield Probe("result", several, [numbers(8) for _ in range(16)])
    yield loop("turn", 1000, more, 512)
    yield Probe("first", windows, [numbers(4, 4)])
    yield loop("near", 50, more, 1 << 14)
    yield loop("far", 2, more, 1 << 21)
    yield loop("element", 50, chain, 1 << 12)
    yield loop("apart", 20, lambda x: x * single(0.5) + single(1), 512, 16)
    yield beside("tile", 20, both, (128, 64), (128, 64))
    yield loop("single", 20, lambda x: x.T + single(1), 96, 96)
    yield loop("exchange", 20, lambda x: x.T, 96, 96)
    yield loop("tap", 3, smooth, 2, 16, 16, 16)
    yield loop("fold", 20, reduced(lambda x: x), 32, 32)
    yield loop("choose", 4, position, 64, 64)
    yield loop("compare", 1, sort, 16, 128)
    functions = _functions(lax)
    for name in _LOOPED:
        yield loop(f"functions.{name}", 10, halved(functions[name]), 1 << 12)
    yield beside("call", 50, once, (4, 16), (16, 16))
    yield loop("sum", 20, reduced(lambda x: x), 256, 128)
    yield loop("pass", 5, reduced(chain), 64, 128)
    yield loop("pool", 8, largest, 2, 16, 16, 16)
    for name in _IN_LIBRARY:
        yield loop(f"library.{name}", 10, reduced(functions[name]), 64, 128)
    yield beside("multiply", 5, twice, (256, 64), (64, 64), (64, 64))
    yield beside("entry", 10, twice, (512, 64), (64, 8), (8, 64))
    yield Probe("weight", layers, [numbers(8, 96), [numbers(96, 96) / 64 for _ in range(8)]])
    for columns in (16, 32, 48, 60):
        yield beside(f"columns{columns}", 5, twice, (256, 64), (64, columns), (columns, 64))
    yield beside("leftover", 2, there_and_back, (2, 16, 16, 5), (3, 3, 5, 24), (1, 1, 24, 5))
    yield beside("turned", 5, across, (128, 64), (128, 64))
    yield beside("half", 5, half, (128, 128), (128, 128))
    yield beside("patch", 2, convolution, (2, 14, 14, 2), (5, 5, 2, 2))
    yield beside("patch_row", 2, convolution, (2, 10, 10, 6), (5, 5, 6, 6))
    yield beside("patch_whole", 4, convolution, (2, 12, 12, 16), (3, 3, 16, 16))
    yield beside("group", 2, convolution, (1, 8, 8, 32), (3, 3, 1, 32))
    yield beside("group_tap", 2, convolution, (1, 8, 8, 32), (5, 5, 1, 32))


def _functions(lax: Any) -> dict[str, _Change]:
    two = np.float32(2)
    return {
        "divide": lambda x: two / x,
        "sqrt": lax.sqrt,
        "rsqrt": lax.rsqrt,
        "exponential": lambda x: lax.exp(-x),
        "log": lambda x: lax.log(x + two),
        "tanh": lax.tanh,
        "erf": lax.erf,
        "exponential-minus-one": lambda x: lax.expm1(-x),
        "log-plus-one": lax.log1p,
        "power": lambda x: lax.pow(x, x),
    }


def measure() -> Rates:
    """What this machine can do, measured now; JAX is used in this process from then on."""
    from gevolve.device.xla.client import Client  # noqa: PLC0415  (JAX loads when it is needed)
    from gevolve.ir.stablehlo import canonical, flatten, load  # noqa: PLC0415

    client = Client("cpu", 0)
    found: list[tuple[str, Module]] = []
    runs: list[Callable[[], float]] = []
    for probe in probes():
        program = client.compile(canonical(load(probe.function, list(probe.arguments)).text))
        buffers = [client.upload(np.asarray(one)) for one in flatten(list(probe.arguments))]
        found.append((probe.rate, read_module(program.text())))
        runs.append(lambda program=program, buffers=buffers: program.run(buffers)[1])
    return fitted(found, _seconds(runs))


def _seconds(runs: Sequence[Callable[[], float]]) -> list[float]:
    """Seconds of processor time of each, all in turns."""
    for run in runs:
        run()
    turns: list[list[float]] = []
    began = time.process_time()
    while len(turns) < _LEAST or (len(turns) < _TURNS and time.process_time() - began < _SECONDS):
        turns.append([float(np.median([run() for _ in range(_TOGETHER)])) for run in runs])
    return [float(one) for one in np.percentile(turns, _LOW, axis=0)]


def fitted(modules: Sequence[tuple[str, Module]], seconds: Sequence[float]) -> Rates:
    """The rates by which these programs take these times, each found by the program that it is given with."""
    defaults = Rates().flat()
    rates = dict(defaults)
    usual = 1.0
    for turn in range(_PASSES):
        apart = _FIRST if turn == 0 else _APART
        for (name, module), wanted in zip(modules, seconds, strict=True):
            about = defaults[name] * (1.0 if name.startswith("columns") else usual)
            low, high = about / apart, about * apart
            for _ in range(24):
                middle = (low * high) ** 0.5
                if Roofline(module, Rates.of(rates | {name: middle})).seconds < wanted:
                    low = middle
                else:
                    high = middle
            rates[name] = float(f"{(low * high) ** 0.5:.3g}")
            rates["start"] = rates["first"] * defaults["start"] / defaults["first"]
        usual = float(np.median([rates[name] / defaults[name] for name, _ in modules]))
    return Rates.of(rates | dict(_others(rates, defaults, {name for name, _ in modules})))


def _others(
    rates: dict[str, float], defaults: dict[str, float], measured: set[str]
) -> Iterator[tuple[str, float]]:
    """Functions that were not measured differ from their defaults as the others do."""
    for group in ("functions.", "library."):
        names = [name for name in defaults if name.startswith(group)]
        known = [np.log(rates[name] / defaults[name]) for name in names if name in measured]
        factor = float(np.exp(np.mean(known))) if known else 1.0
        for name in names:
            if name not in measured:
                yield name, float(f"{defaults[name] * factor:.3g}")


if __name__ == "__main__":
    print(msgspec.json.encode(measure().flat()).decode())
