"""Where the modelled time of `xla:cpu` is wrong: each instruction's time beside what XLA's own profiler measures.

    MODEL=mobilenet PATCH="skip o349 o263 #1" python -m benchmarks instructions

Of the unedited program, or of a variant. Instructions are sorted by how far the two are apart. The profiler itself takes about
a microsecond an instruction, so what is short looks longer than it is.
"""

import os
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import jax
import numpy as np

from benchmarks.ranks import load
from gevolve.device.xla.client import Client, CompiledProgram
from gevolve.device.xla.rates import machine_rates
from gevolve.device.xla.roofline import Roofline
from gevolve.ir.stablehlo import canonical
from gevolve.patch import Patch

MODEL = os.environ.get("MODEL", "mobilenet-small")
PATCH = os.environ.get("PATCH", "")
RUNS = 60
SHOWN = 20


def measured(program: CompiledProgram, buffers: list[Any]) -> dict[str, float]:
    """Seconds of each instruction in a run, by its name."""
    for _ in range(5):
        program.run(buffers)
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            for _ in range(RUNS):
                program.run(buffers)
        (file,) = Path(folder).rglob("*.xplane.pb")
        planes = jax.profiler.ProfileData.from_file(str(file)).planes
        times: defaultdict[str, list[float]] = defaultdict(list)
        for plane in planes:
            for line in plane.lines:
                for event in line.events:
                    times[event.name].append(event.duration_ns / 1e9)
    return {name: float(np.median(found)) * len(found) / RUNS for name, found in times.items()}


def main() -> None:
    client = Client("cpu", 0)
    program, arrays = load(MODEL)
    text = program.apply(Patch.parse(PATCH)).text if PATCH else program.text
    compiled = client.compile(canonical(text))
    buffers = [client.upload(array) for array in arrays]
    seconds = measured(compiled, buffers)
    clock = float(np.median([compiled.run(buffers)[1] for _ in range(RUNS)]))
    roofline = Roofline(compiled.text(), machine_rates())
    entry = roofline.entry
    found = [
        (roofline.instruction(entry, one), seconds.get(one.name, 0.0), one)
        for one in entry.instructions.values()
    ]
    total = sum(real for _, real, _ in found)
    print(
        f"{MODEL}: {roofline.seconds * 1e6:.0f} us by the model, {clock * 1e6:.0f} by the clock, {total * 1e6:.0f} of them in instructions"
    )
    print("  modelled   measured  instruction")
    for modelled, real, one in sorted(found, key=lambda row: -abs(row[0] - row[1]))[:SHOWN]:
        taken = ", ".join(str(list(shape.sizes)) for shape in entry.shapes_of(one)[:4])
        print(
            f"{modelled * 1e6:8.1f} us {real * 1e6:7.1f} us  {one.name} {list(one.shape.sizes)} of {taken}"
        )
