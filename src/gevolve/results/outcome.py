"""What one run of a measurement came to."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from gevolve.analyze.cost import Costs
from gevolve.errors import GevolveError, PatchError
from gevolve.program import Change
from gevolve.results.process import COST, WHY
from gevolve.run.run import Run
from gevolve.run.store import FILE, parse_id
from gevolve.run.summary import VariantSummary

MANY = 4
"""Of more edits of one kind than this, only the first is said in full."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A variant that was found and validated. Gains are t0/t - 1."""

    id: str
    search: float
    """Its gain on the search cases, ..."""
    held_out: float | None
    fresh: float
    large: float | None
    """... and on cases that the search never used."""
    nvcc: float
    """Its gain on fresh cases over the better of our build of the unedited program and nvcc's."""
    error: float
    edits: int
    words: list[str]
    """What each edit does, in words of the source."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """One workload with one seed, preset and device."""

    workload: str
    device: str
    preset: str
    seed: int
    status: str
    """``finished``, ``stopped`` (or going on), or why there is no such run."""
    tolerance: float = 0.0
    time: float = 0.0
    """The unedited program's, in the device's unit, on the search cases."""
    gaps: float = 0.0
    """The time between its launches, which is not in `time`."""
    exact: Found | None = None
    within: Found | None = None
    """The best within the tolerance, which may be the exact one."""
    evaluations: int = 0
    ok: int = 0
    """Of the evaluations, those with the verdict ok."""
    seconds: float = 0.0
    bound: dict[str, float] = {}
    """The unedited program's cycles by what they were spent on, as shares of all, largest first."""

    @property
    def key(self) -> tuple[str, str, str]:
        """What all seeds of it share."""
        return (self.device, self.preset, self.workload)


def read_outcomes(results: Path) -> list[Outcome]:
    """What the runs in a results folder came to, in a fixed order."""
    folders = {path.parent for name in (FILE, WHY) for path in results.rglob(name)}
    found = (read_outcome(folder) for folder in sorted(folders))
    return sorted((one for one in found if one), key=lambda one: (*one.key, one.seed))


def read_outcome(folder: Path) -> Outcome | None:
    """What the run in this folder came to; None if it has not begun."""
    if not (folder / FILE).exists():
        return _missing(folder)
    with Run.open(folder) as run:
        config = run.config
        outcome = Outcome(
            workload=run.source,
            device=config.device,
            preset=config.preset,
            seed=config.seed,
            tolerance=config.tolerance,
            status="stopped",
        )
        try:
            summary = run.summary()
        except GevolveError:  # the unedited program was not judged yet
            why = _why(folder)
            return msgspec.structs.replace(outcome, status=why) if why else None
        return msgspec.structs.replace(
            outcome,
            status=summary.status,
            time=summary.baseline["time"],
            gaps=summary.baseline.get("gaps", 0.0),
            exact=_found(run, summary.best_exact),
            within=_found(run, summary.best),
            evaluations=summary.evaluations,
            ok=summary.verdicts.get("ok", 0),
            seconds=summary.seconds,
            bound=_bound(folder),
        )


def _found(run: Run, best: VariantSummary | None) -> Found | None:
    if best is None or best.interval is None or best.headline is None:
        return None
    return Found(
        id=best.id,
        search=1 / best.ratio - 1,
        held_out=best.held_out and 1 / best.held_out - 1,
        fresh=1 / best.interval.value - 1,
        large=best.large and 1 / best.large - 1,
        nvcc=1 / best.headline.value - 1,
        error=best.error,
        edits=best.edits,
        words=_words(run, best),
    )


def _words(run: Run, best: VariantSummary) -> list[str]:
    patch = run.store.variant(parse_id(best.id)).patch
    try:
        return in_words([(edit.kind, run.program.describe(edit)) for edit in patch])
    except PatchError:  # of an edit kind that is not installed here
        return [str(edit) for edit in patch]


def in_words(changes: Sequence[tuple[str, Change]]) -> list[str]:
    """What each change is; of many of one kind the first, and at which lines the others are."""
    kinds: dict[str, list[Change]] = {}
    for kind, change in changes:
        kinds.setdefault(kind, []).append(change)
    said: list[str] = []
    for same in kinds.values():
        if len(same) <= MANY:
            said += [change.sentence for change in same]
            continue
        lines = ", ".join(dict.fromkeys(change.line for change in same[1:] if change.line))
        more = f"; {len(same) - 1} more of this kind" + f" ({lines})" * bool(lines)
        said.append(same[0].sentence + more)
    return said


def _bound(folder: Path) -> dict[str, float]:
    """What the cycles of the unedited program were spent on, if its device knows."""
    try:
        costs = msgspec.json.decode((folder / COST).read_bytes(), type=Costs | None)
    except (OSError, msgspec.DecodeError):
        return {}
    if costs is None:
        return {}
    kinds: dict[str, float] = {}
    for kernel in costs.before.values():
        for kind, cycles in kernel.kinds.items():
            kinds[kind] = kinds.get(kind, 0.0) + cycles
    whole = sum(kinds.values()) or 1.0
    shares = sorted(kinds.items(), key=lambda item: (-item[1], item[0]))
    return {kind: round(cycles / whole, 4) for kind, cycles in shares if cycles > 0}


def _why(folder: Path) -> str:
    try:
        return (folder / WHY).read_text().strip()
    except OSError:
        return ""


def _missing(folder: Path) -> Outcome:
    """A run that could not be made; its folders say which it would have been."""
    group, name, seed = folder.parts[-3:]
    device, preset = folder.parts[-5:-3]
    return Outcome(
        workload=f"{group}/{name}",
        device=device,
        preset=preset,
        seed=int(seed.removeprefix("seed-")),
        status=_why(folder),
    )
