"""Whether the modelled time of `xla:cpu` ranks variants of models as the clock does.

    MODELS=u-net,graph,gru,encoder,training PATCHES=40 python -m benchmarks ranks

Spearman's rank correlation over variants of each model, and over those that differ from the unedited program by more than
3 %. A variant is one to six of the edits that open a search; what XLA makes the same program of is one variant,
for the clock tells two of them apart by chance alone. All variants run in turns, some runs of each in a row, until each model has
had SECONDS of the processor; the second-least time of a row counts, of a variant the middle one over all turns. What chance does is shown: the odd turns
and the even ones each rank the variants, and from how far they agree follows what a model that knew the true times would reach ("at
most"). `KEEP=FILE` writes what was measured, and the optimized programs, to look for what the model gets wrong.
"""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp

from benchmarks.unseen import UNSEEN
from gevolve.device.xla.client import Client, CompiledProgram
from gevolve.device.xla.rates import Rates, machine_rates
from gevolve.device.xla.roofline import Roofline, UnknownTripsError
from gevolve.errors import GevolveError
from gevolve.ir import stablehlo
from gevolve.patch import Patch
from gevolve.workload.locate import locate

MODELS = os.environ.get("MODELS", "2fcnet,mobilenet-small,mixer,attention,lenet").split(",")
PATCHES = int(os.environ.get("PATCHES", "40"))
KEEP = os.environ.get("KEEP", "")
SECONDS = float(os.environ.get("SECONDS", "10"))
ROW = 0.006
"""Seconds of runs in a row."""
MOST = 12
"""Runs in a row at most."""
RNG = np.random.default_rng(0)
Loaded = tuple[stablehlo.StablehloProgram, list[Any]]


def normal(*shape: int) -> Any:
    return (RNG.standard_normal(shape) * 0.2).astype(np.float32)


def layer_norm(x: Any) -> Any:
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5)


def mixer(weights: Any, x: Any) -> Any:
    """An MLP-Mixer of three layers over 16 patches."""
    for across, back, along, to in weights:
        mixed = layer_norm(x).transpose(0, 2, 1)
        x = x + (jax.nn.gelu(mixed @ across) @ back).transpose(0, 2, 1)
        x = x + jax.nn.gelu(layer_norm(x) @ along) @ to
    return x.mean(1)


def attention(weights: Any, x: Any) -> Any:
    """A transformer of two layers with four heads."""
    for queries, keys, values, out, wide, narrow in weights:
        y = layer_norm(x)
        q, k, v = ((y @ w).reshape(*y.shape[:2], 4, -1) for w in (queries, keys, values))
        scores = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4)
        x = x + jnp.einsum("bhqk,bkhd->bqhd", scores, v).reshape(x.shape) @ out
        x = x + jax.nn.relu(layer_norm(x) @ wide) @ narrow
    return x.mean(1)


def lenet(weights: Any, x: Any) -> Any:
    """Two convolutions with pooling, and two dense layers."""
    first, second, dense, out = weights
    for kernel in (first, second):
        x = jax.lax.conv_general_dilated(
            x, kernel, (1, 1), "VALID", None, None, ("NHWC", "HWIO", "NHWC")
        )
        x = jax.lax.reduce_window(
            jnp.tanh(x), -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"
        )
    return jax.nn.softmax(jnp.tanh(x.reshape(len(x), -1) @ dense) @ out)


ELSEWHERE: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "mixer": (
        mixer,
        [
            [[normal(16, 32), normal(32, 16), normal(64, 128), normal(128, 64)] for _ in range(3)],
            normal(8, 16, 64),
        ],
    ),
    "attention": (
        attention,
        [
            [
                [*(normal(64, 64) for _ in range(4)), normal(64, 256), normal(256, 64)]
                for _ in range(2)
            ],
            normal(4, 32, 64),
        ],
    ),
    "lenet": (
        lenet,
        [
            [normal(5, 5, 1, 6), normal(5, 5, 6, 16), normal(256, 84), normal(84, 10)],
            normal(8, 28, 28, 1),
        ],
    ),
    **UNSEEN,
}


def load(name: str) -> Loaded:
    """A program and the flat arrays that it takes."""
    if name in ELSEWHERE:
        function, arguments = ELSEWHERE[name]
        return stablehlo.load(function, arguments), stablehlo.flatten(arguments)
    workload: Any = locate(name)
    arguments = workload.example()
    return workload.load(), stablehlo.flatten(arguments, workload.origin())


def spearman(one: Any, other: Any) -> float:
    ranks = [np.argsort(np.argsort(values)) for values in (one, other)]
    return float(np.corrcoef(ranks)[0, 1]) if len(one) > 2 else float("nan")


def variants(client: Client, name: str) -> tuple[list[tuple[str, CompiledProgram]], list[Any]]:
    """The unedited program, patches of it that XLA makes different programs of, and the arrays that they take."""
    program, arrays = load(name)
    found = [("", client.compile(stablehlo.canonical(program.text)))]
    opening = [patch for patch in program.sweep(program.kinds, None) if len(patch) == 1]
    seen = {found[0][1].fingerprint()}
    for _ in range(10 * PATCHES):
        if len(found) > PATCHES:
            break
        chosen = RNG.choice(len(opening), RNG.integers(1, 7), replace=False)
        patch = Patch(tuple(edit for at in chosen for edit in opening[at]))
        try:
            compiled = client.compile(stablehlo.canonical(program.apply(patch).text))
            _ = Roofline(compiled.text(), Rates()).seconds
        except (GevolveError, UnknownTripsError):
            continue
        if compiled.fingerprint() not in seen:
            seen.add(compiled.fingerprint())
            found.append((str(patch), compiled))
    return found, arrays


def measured(programs: list[CompiledProgram], buffers: list[Any]) -> Any:
    """Logarithms of times, a line for each turn in which all programs ran."""
    first = float(np.median([programs[0].run(buffers)[1] for _ in range(3)]))
    row = max(1, min(MOST, int(ROW / first)))
    for program in programs:
        program.run(buffers)
    turns: list[Any] = []
    began = time.process_time()
    while len(turns) < 8 or time.process_time() - began < SECONDS:
        times = np.zeros(len(programs))
        for at in RNG.permutation(len(programs)):
            runs = sorted(programs[at].run(buffers)[1] for _ in range(row))
            times[at] = runs[min(1, row // 4)]
        turns.append(np.log(times))
    found = np.array(turns)
    return found - np.median(found, 1, keepdims=True)


def main() -> None:
    client, rates = Client("cpu", 0), machine_rates()
    kept: dict[str, Any] = {}
    print(
        "model            variants  rank correlation  at most  beyond 3 %  at most   noise  modelled"
    )
    for name in MODELS:
        found, arrays = variants(client, name)
        times = measured([one for _, one in found], [client.upload(one) for one in arrays])
        halves = [np.median(times[start::2], 0)[1:] for start in (0, 1)]
        middle = np.median(times, 0)
        clock = (middle - middle[0])[1:]
        seconds = [Roofline(one.text(), rates).seconds for _, one in found]
        modelled = np.log(np.array(seconds[1:]) / seconds[0])
        apart = np.abs(clock) > 0.03
        all_of_them, beyond = (
            f"{spearman(modelled[some], clock[some]):.2f}     {attainable(*(half[some] for half in halves)):.2f}"
            for some in (np.ones(len(clock), bool), apart)
        )
        noise = np.std(halves[0] - halves[1]) / 2
        print(
            f"{name:16} {len(clock):8}  {all_of_them:>25}  {beyond:>18} ({apart.sum()})  {noise:6.1%}  {seconds[0] * 1e6:.0f} us",
            flush=True,
        )
        kept[name] = [
            (patch, float(ratio), one.text())
            for (patch, one), ratio in zip(found, np.exp(middle - middle[0]), strict=True)
        ]
        if KEEP:
            Path(KEEP).write_text(json.dumps(kept))


def attainable(one: Any, other: Any) -> float:
    """The correlation with the mean of two measurements that their true values would have, by how far the two agree."""
    agree = max(0.0, spearman(one, other))
    return (2 * agree / (1 + agree)) ** 0.5
