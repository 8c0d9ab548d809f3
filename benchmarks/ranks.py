"""Whether the modelled time of `xla:cpu` ranks variants of models as the clock does.

    MODELS=2fcnet,mixer PATCHES=40 python -m benchmarks ranks

Spearman's rank correlation over variants of each model, and over those pairs of a variant and the unedited program
that differ by more than 3 %. A variant is one to six of the edits that open a search; what XLA makes the same
program of is one variant, for the clock tells two of them apart by chance alone. What chance does is shown: the
standard deviation of the ratio of the unedited program beside itself. `KEEP=FILE` writes what was measured, and
the optimized programs, to look for what the model gets wrong.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp

from gevolve.device.xla.client import Client, CompiledProgram
from gevolve.device.xla.rates import machine_rates
from gevolve.device.xla.roofline import Roofline, UnknownTripsError
from gevolve.errors import GevolveError
from gevolve.evaluate.child.timing import Precision, compare
from gevolve.ir import stablehlo
from gevolve.patch import Patch
from gevolve.workload.locate import locate

MODELS = os.environ.get("MODELS", "2fcnet,mobilenet-small,mixer,attention,lenet").split(",")
PATCHES = int(os.environ.get("PATCHES", "40"))
KEEP = os.environ.get("KEEP", "")
PRECISION = Precision(spread=0.0, least=10, most=20, seconds=1.5)
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
    return float(np.corrcoef(*ranks)[0, 1]) if len(one) > 2 else float("nan")


def main() -> None:
    client, rates = Client("cpu", 0), machine_rates()
    kept: dict[str, Any] = {}
    print("model            variants  rank correlation  beyond 3 %  chance")
    for name in MODELS:
        program, arrays = load(name)
        buffers = [client.upload(array) for array in arrays]
        unedited = client.compile(stablehlo.canonical(program.text))
        seconds = Roofline(unedited.text(), rates).seconds

        def once(compiled: CompiledProgram, buffers: Any = buffers) -> float:
            return compiled.run(buffers)[1]

        found: dict[str, tuple[float, float]] = {}
        opening = [patch for patch in program.sweep(program.kinds, None) if len(patch) == 1]
        seen = {unedited.fingerprint()}
        for _ in range(10 * PATCHES):
            if len(found) == PATCHES:
                break
            chosen = RNG.choice(len(opening), RNG.integers(1, 7), replace=False)
            patch = Patch(tuple(edit for at in chosen for edit in opening[at]))
            try:
                compiled = client.compile(stablehlo.canonical(program.apply(patch).text))
                modelled = Roofline(compiled.text(), rates).seconds / seconds
            except (GevolveError, UnknownTripsError):
                continue
            if compiled.fingerprint() in seen:
                continue
            seen.add(compiled.fingerprint())
            ratio = compare(lambda _, c=compiled: once(c), lambda _, u=unedited: once(u), PRECISION)
            found[str(patch)] = modelled, ratio.value
            kept[f"{name}: {patch}"] = [ratio.value, ratio.unit, compiled.text()]
        alone = [
            compare(lambda _, u=unedited: once(u), lambda _, u=unedited: once(u), PRECISION).value
            for _ in range(5)
        ]
        kept[f"{name}: "] = [1.0, 0.0, unedited.text()]
        modelled, measured = map(np.array, zip(*found.values(), strict=True))
        apart = np.abs(np.log(measured)) > 0.03
        beyond = spearman(modelled[apart], measured[apart])
        print(
            f"{name:16} {len(found):8}  {spearman(modelled, measured):16.2f}  {beyond:10.2f} ({apart.sum()})  {np.std(alone):.1%}",
            flush=True,
        )
        if KEEP:
            Path(KEEP).write_text(json.dumps(kept))
