"""Takes single variants out of a run: what each edit does, and the variant in a form to use."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import msgspec

from gevolve.device.registry import open_device
from gevolve.errors import (
    GevolveError,
    MissingPackageError,
    OptionError,
    PatchError,
    SourceError,
    StoreError,
)
from gevolve.export import manifest
from gevolve.export import scripts as snippets
from gevolve.export.files import write_bytes, write_text
from gevolve.export.forms import Made, of_kernels, of_model
from gevolve.export.manifest import Manifest, Pair
from gevolve.export.scripts import Loader
from gevolve.ir import restore
from gevolve.patch import Patch
from gevolve.program import Program
from gevolve.run.config import Config, read_config
from gevolve.run.loop import summarise
from gevolve.run.store import Row, Store, format_id, parse_id

Form = Literal["ptx", "cubin", "ll", "mlir", "bytecode", "jax", "patch"]
FORMS: dict[str, tuple[Form, ...]] = {
    "llvm": ("ptx", "cubin", "ll", "patch"),
    "stablehlo": ("mlir", "bytecode", "jax", "patch"),
}
"""What a program can be written as, by its IR; the first is what people want."""
BINARY = ("cubin", "bytecode", "jax")


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


@dataclass(frozen=True, slots=True)
class Exported:
    """A variant in a form to use, with all that goes beside it."""

    variant: str
    form: Form
    data: bytes
    manifest: Manifest
    script: str
    """Python that loads it; empty for what is loaded by nothing."""


def inspect_variant(run: Path, variant: str) -> Detail:
    """Read one variant of a run."""
    with Store.open(run, readonly=True) as store:
        row = store.variant(parse_id(variant))
        checks = store.validations(row.id)
        program = _restore(store)
    try:
        skipped = dict(program.apply(row.patch).skipped)
    except PatchError:  # of an edit kind that is not installed here; the rest can be shown
        skipped = {}
    return Detail(
        id=variant,
        verdict=row.evaluation.verdict.value,
        time=row.evaluation.time,
        error=row.evaluation.error,
        detail=row.evaluation.detail,
        patch=str(row.patch),
        edits=[
            program.describe(edit).sentence + (f"  (skipped: {skipped[n]})" if n in skipped else "")
            for n, edit in enumerate(row.patch)
        ],
        checks={split: evaluation.verdict.value for split, evaluation in checks.items()},
    )


def export_variant(
    run: Path,
    variant: str | None = None,
    form: str | None = None,
    *,
    arch: str | None = None,
    loader: Loader = "cupy",
    name: str | None = None,
) -> Exported:
    """One variant in a form to use; by default the best that passed all checks.

    `arch` is the GPU that PTX and machine code are made for, `name` what the file will be called. With
    the loader ``none`` there is no script, and nothing of the workload is loaded or run.
    """
    with Store.open(run, readonly=True) as store:
        config = read_config(store)
        chosen = _form(form, config.ir, arch)
        if variant is None:
            best = summarise(run).best
            if best is None:
                raise StoreError(
                    f"{run}: no variant is faster and validated; name one with --variant, e.g. v0"
                )
            variant = best.id
        row = store.variant(parse_id(variant))
        program = _restore(store)
        text = program.apply(row.patch).text
        file = name or f"{config.workload.lower()}-{format_id(row.id)}.{_ending(chosen)}"
        spec = None if loader == "none" else config.spec
        made = (
            Made(_lines(row.patch).encode())
            if chosen == "patch"
            else of_kernels(chosen, text, program.text, arch, spec)
            if config.ir == "llvm"
            else of_model(chosen, text, spec)
        )
        command = ["gevolve export", run.name, f"--variant {variant}", f"--format {chosen}"]
        command += [f"--arch {arch}"] if arch else []
        return Exported(
            variant,
            chosen,
            made.data,
            _manifest(store, config, row, made, file, chosen, " ".join(command)),
            _script(chosen, loader, file, _about(row, config, file, made.variables), made),
        )


def _form(form: str | None, ir: str, arch: str | None) -> Form:
    fitting = FORMS[ir]
    if form not in {None, *get_args(Form)}:
        raise OptionError(f"--format is {form!r}; it must be one of {', '.join(get_args(Form))}")
    chosen: Form = fitting[0] if form is None else form  # pyright: ignore[reportAssignmentType]  (looked up above)
    if chosen not in fitting:
        what = "kernels" if ir == "llvm" else "a model"
        raise OptionError(
            f"--format {chosen} does not fit a run of {what}; use one of {', '.join(fitting)}"
        )
    if arch is not None and chosen not in ("ptx", "cubin"):
        raise OptionError(f"--arch says nothing about {chosen}; it is for ptx and cubin")
    return chosen


def _restore(store: Store) -> Program:
    try:
        return restore(read_config(store).ir, store.program_text)
    except ImportError:
        raise MissingPackageError("models need JAX", "ml") from None
    except (SourceError, AssertionError, LookupError, ValueError):
        raise StoreError(
            f"{store.folder}: its program cannot be read; restore a copy, or start a new run"
        ) from None


def _manifest(
    store: Store,
    config: Config,
    row: Row,
    made: Made,
    file: str,
    form: Form,
    command: str,
) -> Manifest:
    digest = manifest.sha256(made.data)
    return Manifest(
        file=manifest.File(
            name=file,
            format=form,
            arch=made.arch,
            bytes=len(made.data),
            sha256=digest,
            judged=digest == row.evaluation.artefact,
        ),
        evidence=manifest.evidence_of(store, config, row, _checks(config.device)),
        origin=manifest.Origin(
            workload=config.workload,
            source=manifest.short_place(config),
            seed=config.seed,
            run=manifest.run_command(config),
            export=command,
            variant=format_id(row.id),
            patch=str(row.patch),
            edits=len(row.patch),
            program_sha256=store.program_digest,
            patch_sha256=manifest.sha256(str(row.patch)),
            artefact_sha256=row.evaluation.artefact,
            run_versions=config.versions,
            versions=manifest.versions() | made.versions,
            made=manifest.now(),
        ),
        resources=made.resources,
        notes=tuple(made.notes),
    )


def _checks(device: str) -> tuple[str, ...]:
    try:
        return open_device(device).checks
    except (GevolveError, ImportError):  # a device of the workload's own, or one that is not here
        return ()


def _about(row: Row, config: Config, file: str, variables: list[str]) -> str:
    about = f"Variant {format_id(row.id)} of {config.workload}; {file}.json says what it is worth."
    if variables:
        about += f"\nThe workload sets variables of the module first: {', '.join(variables)}."
    return about


def _script(form: Form, loader: Loader, file: str, about: str, made: Made) -> str:
    if form in ("ptx", "cubin"):
        return snippets.kernel_script(loader, file, about, made.launches)
    if form in ("mlir", "bytecode", "jax") and loader != "none":
        return snippets.model_script(form, file, about)
    return ""


def _ending(form: Form) -> str:
    return {"bytecode": "mlirbc", "jax": "jax"}.get(form, form)


def _lines(patch: Patch) -> str:
    return "".join(f"{edit}\n" for edit in patch)


def told(exported: Exported) -> list[str]:
    """What people should know of it, line by line."""
    lines = [exported.manifest.evidence.statement]
    for kernel, pair in exported.manifest.resources.items():
        lines.append(f"{kernel}: {_compared(pair)}")
    return lines + list(exported.manifest.notes)


def _compared(pair: Pair) -> str:
    def change(what: str) -> str:
        after = getattr(pair.after, what)
        before = getattr(pair.before, what) if pair.before else after
        return f"{after}" if before == after else f"{before} -> {after}"

    return (
        f"registers {change('registers')}, shared memory {change('shared')} bytes, "
        f"spills {change('spill_stores')} bytes stored and {change('spill_loads')} loaded"
    )


def save(exported: Exported, path: Path) -> list[Path]:
    """Write the file, its manifest and the script that loads it; returns what was written."""
    write_bytes(path, exported.data)
    if path.exists() and not path.is_file():  # a pipe or a device has no place beside it
        return [path]
    beside = {path.with_name(f"{path.name}.json"): exported.manifest.json()}
    if exported.script:
        beside[path.with_name(f"{path.name}.load.py")] = exported.script
    for place, text in beside.items():
        write_text(place, text)
    return [path, *beside]


def to_stdout(exported: Exported) -> None:
    """Write the file itself to standard output."""
    if exported.form in BINARY and sys.stdout.isatty():
        raise OptionError(f"{exported.form} is no text; give --output FILE")
    sys.stdout.flush()
    sys.stdout.buffer.write(exported.data)
    sys.stdout.buffer.flush()
