"""One variant in detail: its verdicts, and its patch edit by edit."""

from pathlib import Path

import msgspec

from gevolve.errors import PatchError
from gevolve.run.run import Run, opened


class VariantDetail(msgspec.Struct, frozen=True, kw_only=True):
    """One variant of a run."""

    id: str
    verdict: str
    time: float | None
    error: float | None
    detail: str
    """Why it failed, if it did."""
    patch: str
    edits: list[str]
    """Each edit in words, with source lines; one that did nothing says why."""
    checks: dict[str, str]
    """The verdicts on other cases, by split."""

    def json(self) -> str:
        """As one JSON object."""
        return msgspec.json.encode(self).decode()


def inspect(run: Run | str | Path, variant: str) -> VariantDetail:
    """What a run knows of one variant, such as ``v17``."""
    with opened(run) as mine:
        row = mine.variant(variant)
        program = mine.program
        try:
            skipped = dict(program.apply(row.patch).skipped)
        except PatchError:  # of an edit kind that is not installed here; the rest can be shown
            skipped = {}
        return VariantDetail(
            id=variant,
            verdict=row.evaluation.verdict.value,
            time=row.evaluation.time,
            error=row.evaluation.error,
            detail=row.evaluation.detail,
            patch=str(row.patch),
            edits=[
                program.describe(edit).sentence
                + (f"  (skipped: {skipped[n]})" if n in skipped else "")
                for n, edit in enumerate(row.patch)
            ],
            checks={
                split: evaluation.verdict.value
                for split, evaluation in mine.store.validations(row.id).items()
            },
        )
