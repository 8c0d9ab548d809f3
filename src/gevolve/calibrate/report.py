"""`calibrate`: measured times beside a model's, for a sample of configurations."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np

from gevolve.calibrate.agreement import Agreement, agreement
from gevolve.calibrate.expression import evaluate
from gevolve.calibrate.kerneltuner import KernelTuner
from gevolve.calibrate.measured import Configuration, read_measured
from gevolve.calibrate.simulate import Plan, clock_of, host_of, simulate_all
from gevolve.errors import OptionError

Row = TypeVar("Row")


class Point(msgspec.Struct, frozen=True):
    """One configuration, both ways, in milliseconds or as a share of the unedited program's time."""

    configuration: Configuration
    measured: float
    model: float


class Refused(msgspec.Struct, frozen=True):
    """Configurations that ran on the GPU and not on the model, and the reason that they share."""

    reason: str
    count: int
    example: Configuration


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """What `calibrate` found; plain data, to be kept and shown."""

    title: str
    device: str
    agreement: Agreement
    points: tuple[Point, ...]
    refused: tuple[Refused, ...] = ()
    failed: int = 0
    """Configurations of the file that had no time on the GPU either."""
    left_out: int = 0
    """Configurations that were not sampled, or that `where` excludes."""
    unit: str = "ms"
    """What both times are counted in."""


Watch = Callable[[int, int, Configuration], None]
"""Called after each configuration: how many are done, of how many, and which."""


def calibrate(
    measured: Path,
    host: str,
    device: str,
    *,
    source: Path | None = None,
    where: str = "",
    sample: int = 0,
    seed: int = 0,
    workers: int = 1,
    compiler: str = "clang",
    watch: Watch | None = None,
) -> Calibration:
    """Run configurations that a tuner has measured on a model, and compare the times.

    `host` is a T1 file or a Python file with a `Host`; `where` chooses configurations by an
    expression of their parameters; `sample` of them are drawn by `seed`, or all are run. Most tuners
    compile with nvcc: `compiler` ``nvrtc`` is closest to that.
    """
    clock_of(device)
    known = host_of(host)
    if source is None:
        source = known.source if isinstance(known, KernelTuner) else None
    if source is None or not source.is_file():
        raise OptionError(f"no such source: {source}; give the kernel that was measured, --source")
    rows, failed = read_measured(measured)
    chosen = [row for row in rows if not where or evaluate(where, row.configuration)]
    drawn = draw(chosen, sample, seed)
    if len(drawn) < 2:
        raise OptionError(f"{measured}: {len(drawn)} configurations; two are needed to compare")
    if compiler not in {"clang", "nvrtc"}:
        raise OptionError(f"no compiler {compiler!r}; use clang, or nvrtc for NVIDIA's")
    plan = Plan(str(source.resolve()), host, device, compiler)
    points: list[Point] = []
    reasons: Counter[str] = Counter()
    examples: dict[str, Configuration] = {}
    outcomes = simulate_all(plan, [row.configuration for row in drawn], workers)
    for done, (row, outcome) in enumerate(zip(drawn, outcomes, strict=True), 1):
        if outcome.fault:
            reasons[outcome.fault] += 1
            examples.setdefault(outcome.fault, row.configuration)
        else:
            points.append(Point(row.configuration, row.time, outcome.time))
        if watch:
            watch(done, len(drawn), row.configuration)
    return Calibration(
        title=f"{source.name}, {measured.name}",
        device=device,
        agreement=compare(points),
        points=tuple(points),
        refused=tuple(Refused(r, n, examples[r]) for r, n in reasons.most_common()),
        failed=failed,
        left_out=len(rows) - len(drawn),
    )


def compare(points: Sequence[Point]) -> Agreement:
    """How well the two times of these points agree."""
    return agreement([p.measured for p in points], [p.model for p in points])


def draw(rows: Sequence[Row], sample: int, seed: int) -> list[Row]:
    """So many rows, in the order of the file; all of them if `sample` is 0."""
    if not sample or sample >= len(rows):
        return list(rows)
    picked = np.random.default_rng(seed).choice(len(rows), sample, replace=False)
    return [rows[int(i)] for i in sorted(picked)]
