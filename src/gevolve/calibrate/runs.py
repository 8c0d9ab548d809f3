"""A run of ours as measured times: its variants, timed again on a model.

A run on a `cuda` device keeps the time of every variant that it judged as right. The same patches are
judged on a `sim` device, and the two columns are compared. Times are those of the unedited program's:
a GPU is measured by turns with it, so that only the ratio is kept.
"""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from gevolve.calibrate.report import Calibration, Point, Refused, Watch, compare, draw
from gevolve.calibrate.simulate import clock_of
from gevolve.errors import OptionError
from gevolve.evaluate.evaluator import Evaluator
from gevolve.run.run import Run
from gevolve.run.store import StoredVariant, format_id

if TYPE_CHECKING:
    from gevolve.calibrate.measured import Configuration


def calibrate_run(
    folder: Path,
    device: str,
    *,
    sample: int = 0,
    seed: int = 0,
    workers: int = 1,
    trust: bool = False,
    watch: Watch | None = None,
) -> Calibration:
    """Time the variants of a run on a model and compare; `sample` of them, or all.

    Variants with the same code count once, and the unedited program is always among them.
    """
    clock_of(device)
    with Run.open(folder, trust=trust) as run:
        if run.config.device == device:
            raise OptionError(f"{folder}: this run was timed on {device} itself; choose another")
        unedited, *others = _distinct(run)
        drawn = [unedited, *draw(others, sample and sample - 1, seed)]
        if len(drawn) < 2:
            raise OptionError(f"{folder}: no variant was right besides the unedited program")
        with run.evaluator(device, workers=workers) as evaluator:
            return _compared(run, device, evaluator, drawn, len(others) + 1, watch)


def _distinct(run: Run) -> list[StoredVariant]:
    """The variants that have a time, the unedited program first; of those with the same code the first."""
    found: dict[str, StoredVariant] = {}
    for row in run.store.evaluations():
        if row.evaluation.ok and row.evaluation.time:
            found.setdefault(row.evaluation.identity or format_id(row.id), row)
    rows = sorted(found.values(), key=lambda row: (bool(row.patch.edits), row.id))
    if not rows or rows[0].patch.edits:
        raise OptionError(
            f"{run.folder}: the unedited program has no time; let the run begin first"
        )
    return rows


def _compared(
    run: Run,
    device: str,
    evaluator: Evaluator,
    rows: list[StoredVariant],
    known: int,
    watch: Watch | None,
) -> Calibration:
    base = evaluator.prepare("search").evaluation.time or 1.0
    real = rows[0].evaluation.time or 1.0
    points = [Point({"variant": format_id(rows[0].id)}, 1.0, 1.0)]
    reasons: Counter[str] = Counter()
    examples: dict[str, Configuration] = {}
    by_id = {row.id: row for row in rows[1:]}
    for row in by_id.values():
        evaluator.submit(row.id, row.patch)
    for done, (key, judged) in enumerate(evaluator.results(), 2):
        row = by_id[int(str(key))]
        name: Configuration = {"variant": format_id(row.id)}
        if judged.ok and judged.time and row.evaluation.time:
            points.append(Point(name, row.evaluation.time / real, judged.time / base))
        else:
            reason = f"{judged.verdict}: {judged.detail}" if judged.detail else str(judged.verdict)
            reasons[reason] += 1
            examples.setdefault(reason, name)
        if watch:
            watch(done, len(rows), name)
    points.sort(key=lambda point: str(point.configuration["variant"]))
    return Calibration(
        title=f"{run.config.workload} on {run.config.device}",
        device=device,
        agreement=compare(points),
        points=tuple(points),
        refused=tuple(Refused(r, n, examples[r]) for r, n in reasons.most_common()),
        left_out=known - len(rows),
        unit="of the unedited program",
    )
