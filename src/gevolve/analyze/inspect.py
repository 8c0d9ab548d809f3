"""One variant in detail: its verdicts, and its patch edit by edit."""

from pathlib import Path

import msgspec

from gevolve.errors import PatchError
from gevolve.run.caveats import read_caveats
from gevolve.run.claim import words
from gevolve.run.findings import NvccBuild, Refit
from gevolve.run.run import Run, opened
from gevolve.run.summary import VariantSummary


class VariantDetail(msgspec.Struct, frozen=True, kw_only=True):
    """One variant of a run."""

    id: str
    verdict: str
    time: float | None
    error: float | None
    off: float
    """The share of output elements that differ by more than a tenth."""
    unedited_error: float = 0.0
    """The error of the unedited program, by whose own measure errors of models are."""
    detail: str
    """Why it failed, if it did."""
    patch: str
    edits: list[str]
    """Each edit in words, with source lines; one that did nothing says why."""
    ratio: float | None = None
    """Its time over that of our unedited build, on the search cases."""
    nvcc: float | None = None
    """Its time over that of nvcc's build of the unedited program there, if that was judged."""
    gain: bool = False
    """Whether it may be called faster."""
    refit: Refit | None = None
    """What became of it when its weights were re-fit."""
    beside: str = ""
    """Both ratios in words."""
    checks: dict[str, str]
    """The verdicts on other cases, by split."""
    caveats: list[str]
    """What is not known of any variant of the run."""

    def json(self) -> str:
        """As one JSON object."""
        return msgspec.json.encode(self).decode()


def _beside(shown: VariantSummary | None, nvcc: NvccBuild) -> str:
    if shown is None:
        return ""
    if shown.interval is not None:
        return words(shown.interval, shown.nvcc_interval, nvcc)
    theirs = f", {shown.nvcc:.4g} of nvcc's" if shown.nvcc else ""
    return f"{shown.ratio:.4g} of the unedited time{theirs}, on the search cases only"


def inspect(run: Run | str | Path, variant: str) -> VariantDetail:
    """What a run knows of one variant, such as ``v17``."""
    with opened(run) as mine:
        return mine.guarded(lambda: _inspect(mine, variant), VariantDetail)


def _inspect(mine: Run, variant: str) -> VariantDetail:
    row = mine.variant(variant)
    program = mine.program
    shown = mine.describe(row)
    try:
        skipped = dict(program.apply(row.patch).skipped)
    except PatchError:  # of an edit kind that is not installed here; the rest can be shown
        skipped = {}
    return VariantDetail(
        id=variant,
        verdict=row.evaluation.verdict.value,
        time=row.evaluation.time,
        error=row.evaluation.error,
        off=row.evaluation.off,
        unedited_error=shown.unedited_error if shown else 0.0,
        detail=row.evaluation.detail,
        patch=str(row.patch),
        edits=[
            program.describe(edit).sentence + (f"  (skipped: {skipped[n]})" if n in skipped else "")
            for n, edit in enumerate(row.patch)
        ],
        ratio=shown and shown.ratio,
        nvcc=shown and shown.nvcc,
        gain=shown is not None and shown.gain,
        refit=shown and shown.refit,
        beside=_beside(shown, mine.findings.nvcc) if row.patch.edits else "",
        caveats=read_caveats(mine.store).lines,
        checks={
            split: evaluation.verdict.value
            for split, evaluation in mine.store.validations(row.id).items()
        },
    )
