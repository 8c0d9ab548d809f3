"""Takes single variants out of a run: what each edit does, and the variant in a form to use."""

from pathlib import Path

import msgspec

from gevo.errors import OptionError, StoreError
from gevo.llvm import restore
from gevo.llvm.codegen import to_ptx
from gevo.patch import Patch
from gevo.run import summarise
from gevo.store import Store, parse_id

FORMATS = ("ll", "ptx", "patch")


class Detail(msgspec.Struct, frozen=True, kw_only=True):
    """One variant in detail."""

    id: str
    verdict: str
    time: float | None
    error: float | None
    detail: str
    patch: str
    edits: list[str]
    """Each edit in words, with source lines; what did nothing says why."""
    checks: dict[str, str]
    """The verdicts on other cases, by split."""

    def json(self) -> str:
        return msgspec.json.encode(self).decode()


def inspect_variant(run: Path, variant: str) -> Detail:
    """Read one variant of a run."""
    with Store.open(run, readonly=True) as store:
        row = store.variant(parse_id(variant))
        checks = store.validations(row.id)
        program = restore(store.program_text)
    skipped = dict(program.apply(row.patch).skipped)
    return Detail(
        id=variant,
        verdict=row.evaluation.verdict.value,
        time=row.evaluation.time,
        error=row.evaluation.error,
        detail=row.evaluation.detail,
        patch=str(row.patch),
        edits=[
            program.describe(edit) + (f"  (skipped: {skipped[n]})" if n in skipped else "")
            for n, edit in enumerate(row.patch)
        ],
        checks={split: evaluation.verdict.value for split, evaluation in checks.items()},
    )


def export_variant(run: Path, variant: str | None, form: str) -> str:
    """One variant as LLVM-IR, PTX or a patch; by default the best that passed all checks."""
    if form not in FORMATS:
        raise OptionError(f"--format is {form!r}; it must be one of {', '.join(FORMATS)}")
    if variant is None:
        best = summarise(run).best
        if best is None:
            raise StoreError(
                f"{run}: no variant is faster and validated; name one with --variant, e.g. v0"
            )
        variant = best.id
    with Store.open(run, readonly=True) as store:
        patch = store.variant(parse_id(variant)).patch
        if form == "patch":
            return _lines(patch)
        text = restore(store.program_text).apply(patch).text
    return text if form == "ll" else to_ptx(text)


def _lines(patch: Patch) -> str:
    return "".join(f"{edit}\n" for edit in patch)


def write_text(path: Path, text: str) -> None:
    """Write a file, whole or not at all; what is no plain file (a link, a pipe) directly."""
    special = path.is_symlink() or (path.exists() and not path.is_file())
    part = path if special else path.with_name(f"{path.name}.part")
    try:
        part.write_text(text)
        if not special:
            part.replace(path)
    except OSError as error:
        if not special:
            part.unlink(missing_ok=True)
        raise StoreError(
            f"{path}: cannot be written ({error.strerror}); choose another --output"
        ) from None
