"""What is written beside an exported file: where it comes from, and what speaks for it."""

import hashlib
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import msgspec

from gevolve.device.registry import open_device
from gevolve.errors import GevolveError
from gevolve.evaluate.verdict import Evaluation
from gevolve.export.made import Made, ResourceChange
from gevolve.run.caveats import Caveats, read_caveats
from gevolve.run.claim import words
from gevolve.run.findings import Interval, NvccBuild, Refit
from gevolve.run.run import Run
from gevolve.run.store import StoredVariant, format_id
from gevolve.run.summary import VariantSummary


class File(msgspec.Struct, frozen=True, kw_only=True):
    """The file that was written."""

    name: str
    format: str
    arch: str | None
    """The GPU that it was made for; None for what is tied to none."""
    bytes: int
    sha256: str
    judged: bool
    """Whether it is, byte for byte, the artefact that was judged."""


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the variant on one set of cases."""

    verdict: str
    time: float | None
    ratio: float | None
    """Its time over the unedited program's on the same cases."""
    error: float | None
    off: float = 0.0
    """The share of output elements that differ from the original's by more than a tenth."""
    detail: str = ""


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What speaks for the variant, and what does not."""

    validated: bool
    statement: str
    """One sentence for people."""
    device: str
    checks: tuple[str, ...]
    """Further ways in which the device ran it, and found nothing that the original does not do."""
    caveats: Caveats
    """Checks that do not hold for the original, and what was the same in all cases."""
    cases: tuple[str, ...]
    """The search cases."""
    splits: dict[str, Judged]
    """By set of cases, ``search`` first."""
    interval: Interval | None
    """The ratio to gevolve's unedited build on cases that the search never used, and its bounds; None
    if it did not pass all."""
    nvcc: NvccBuild
    """nvcc's build of the unedited program beside gevolve's."""
    nvcc_interval: Interval | None
    """The ratio to nvcc's build on the cases of `interval`, if that was measured."""
    gain: bool
    """Whether it is faster than the better of both builds."""
    tolerance: float
    refit: Refit | None = None
    """What became of it when its weights were re-fit; the splits have the errors without that."""


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """The run, the program and the variant in it."""

    workload: str
    source: str
    """Where the workload is written down."""
    seed: int
    search: str
    """The search algorithm."""
    settings: dict[str, Any]
    """Its settings that the user chose."""
    run: str
    """The command that repeats the run."""
    export: str
    """The command that made the file."""
    variant: str
    patch: str
    edits: int
    program_sha256: str
    patch_sha256: str
    artefact_sha256: str
    """Of what was judged."""
    run_versions: dict[str, str]
    versions: dict[str, str]
    """Of what made the file."""
    made: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """All of it."""

    manifest: int = 1
    file: File
    evidence: Evidence
    origin: Origin
    resources: dict[str, ResourceChange] = {}
    """By kernel, as ptxas says; empty if it was not asked."""
    notes: tuple[str, ...] = ()

    def json(self) -> str:
        """As it is written."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2).decode() + "\n"


def manifest_of(
    run: Run, row: StoredVariant, made: Made, file: str, form: str, command: str
) -> Manifest:
    """The manifest of a variant that was written as `file` by this command."""
    digest, config = sha256(made.data), run.config
    return Manifest(
        file=File(
            name=file,
            format=form,
            arch=made.arch,
            bytes=len(made.data),
            sha256=digest,
            judged=digest == row.evaluation.artefact,
        ),
        evidence=_evidence(run, row),
        origin=Origin(
            workload=config.workload,
            source=run.source,
            seed=config.seed,
            search=config.search,
            settings=config.settings,
            run=run.command,
            export=command,
            variant=format_id(row.id),
            patch=str(row.patch),
            edits=len(row.patch),
            program_sha256=run.store.program_digest,
            patch_sha256=sha256(str(row.patch)),
            artefact_sha256=row.evaluation.artefact,
            run_versions=config.versions,
            versions=_versions() | made.versions,
            made=datetime.now(UTC).isoformat(timespec="seconds"),
        ),
        resources=made.resources,
        notes=tuple(made.notes),
    )


def _evidence(run: Run, row: StoredVariant) -> Evidence:
    """What the run knows of a variant."""
    store = run.store
    mine = {"search": row.evaluation, **store.validations(row.id)}
    unedited = {"search": store.variant(0).evaluation, **store.validations(0)}
    splits = {split: _judged(found, unedited.get(split)) for split, found in mine.items()}
    caveats = read_caveats(store)
    failed = [split for split, found in mine.items() if not found.ok]
    shown = run.describe(row)
    return Evidence(
        validated=shown is not None and shown.interval is not None,
        statement=_statement(row, failed, splits, shown, run.findings.nvcc)
        + "".join(f" {line}" for line in caveats.lines if row.patch.edits),
        device=run.config.device,
        checks=_checks(run.config.device, caveats) if row.evaluation.ok else (),
        caveats=caveats,
        cases=store.get("cases", tuple[str, ...], ()),
        splits=splits,
        interval=shown and shown.interval,
        nvcc=run.findings.nvcc,
        nvcc_interval=shown and shown.nvcc_interval,
        gain=shown is not None and shown.gain,
        tolerance=run.config.tolerance,
        refit=shown and shown.refit,
    )


def _checks(device: str, caveats: Caveats) -> tuple[str, ...]:
    """The device's checks, but for those that the unedited program does not pass itself."""
    try:
        names = open_device(device).checks
    except (GevolveError, ImportError):  # a device of the workload's own, or one that is not here
        return ()
    return tuple(name for name in names if name not in caveats.unchecked)


def _judged(found: Evaluation, unedited: Evaluation | None) -> Judged:
    ratio = None
    if unedited is not None and found.time and unedited.time:
        ratio = found.time / unedited.time
    return Judged(
        verdict=found.verdict.value,
        time=found.time,
        ratio=ratio,
        error=found.error,
        off=found.off,
        detail=found.detail,
    )


def _statement(
    row: StoredVariant,
    failed: list[str],
    splits: dict[str, Judged],
    shown: VariantSummary | None,
    nvcc: NvccBuild,
) -> str:
    if not row.patch.edits:
        return "This is the unedited program."
    if failed:
        bad = splits[failed[0]]
        return f"REJECTED: judged {bad.verdict} on the {failed[0]} cases ({bad.detail})."
    if shown is None or shown.interval is None:
        return "NOT VALIDATED: it was judged on the cases of the search only; no gain is claimed."
    passed = f"It passed on all of its cases ({', '.join(splits)})"
    times = words(shown.interval, shown.nvcc_interval, nvcc)
    if shown.refit is not None:
        passed += f"; {shown.refit}, without that {shown.error:.3g}"
    if not shown.gain:
        return (
            f"{passed}, but is not shown to be faster than both builds of the unedited program"
            f" ({times}); no gain is claimed."
        )
    return f"{passed}, on those not of the search in {times}."


def _versions() -> dict[str, str]:
    """What is installed here of all that has a part in a file."""
    found: dict[str, str] = {}
    for name in ("gevolve", "llvmlite", "ziglang", "numpy", "jax", "jaxlib"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def sha256(data: bytes | str) -> str:
    """The hash by which two files can be told apart."""
    return hashlib.sha256(data if isinstance(data, bytes) else data.encode()).hexdigest()
