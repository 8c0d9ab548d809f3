"""Writes one variant of a run in a format that other programs use, with its manifest and a script."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from gevolve.analyze.refit import refit_weights, with_weights
from gevolve.errors import OptionError
from gevolve.export import kernels, models, scripts, source
from gevolve.export.files import write_bytes, write_text
from gevolve.export.load import WEIGHTS
from gevolve.export.made import Made, ResourceChange, Source
from gevolve.export.manifest import Manifest, manifest_of
from gevolve.export.scripts import Loader
from gevolve.run.run import Run, opened
from gevolve.run.store import format_id
from gevolve.system.npz import to_npz
from gevolve.system.text import printable


@dataclass(frozen=True, slots=True)
class Format:
    """One way to write a variant."""

    ir: str
    """The IR of the programs that can be written so; empty for all."""
    make: Callable[[Source], Made]
    ending: str
    binary: bool = False
    for_gpu: bool = False
    """Whether it is made for one GPU, which ``--arch`` names."""


def _patch(source: Source) -> Made:
    return Made("".join(f"{edit}\n" for edit in source.patch).encode())


FORMATS = {
    "ptx": Format("llvm", kernels.ptx, "ptx", for_gpu=True),
    "cubin": Format("llvm", kernels.cubin, "cubin", binary=True, for_gpu=True),
    "source": Format("llvm", source.diff, "diff"),
    "ll": Format("llvm", kernels.ll, "ll"),
    "mlir": Format("stablehlo", models.mlir, "mlir"),
    "bytecode": Format("stablehlo", models.bytecode, "mlirbc", binary=True),
    "jax": Format("stablehlo", models.jax, "jax", binary=True),
    "vmfb": Format("stablehlo", models.vmfb, "vmfb", binary=True, for_gpu=True),
    "patch": Format("", _patch, "patch"),
}
"""By name; the first that fits a run's IR is the default."""


@dataclass(frozen=True, slots=True)
class Exported:
    """A variant in a format to use, with all that goes beside it."""

    variant: str
    format: str
    data: bytes
    manifest: Manifest
    script: str
    """Python that loads it; empty if there is none."""
    weights: bytes = b""
    """Re-fit weights to call it with, as an npz file; empty if there are none."""
    files: tuple[Path, ...] = ()
    """What was written: the file, its manifest, its script."""

    def lines(self) -> list[str]:
        """What people should know of it, line by line."""
        resources = self.manifest.resources.items()
        changes = [f"{kernel}: {_compared(change)}" for kernel, change in resources]
        return [self.manifest.evidence.statement, *changes, *self.manifest.notes]

    def print(self) -> None:
        """Write the file itself to standard output."""
        if FORMATS[self.format].binary and sys.stdout.isatty():
            raise OptionError(f"{self.format} is no text; give --output FILE")
        sys.stdout.flush()
        data = self.data
        if sys.stdout.isatty():
            data = printable(data.decode(errors="replace")).encode()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def export(
    run: Run | str | Path,
    variant: str | None = None,
    format: str | None = None,  # noqa: A002  (what the command line calls it)
    *,
    arch: str | None = None,
    loader: Loader = "cupy",
    output: str | Path | None = None,
) -> Exported:
    """One variant in a format to use, by default the best that was validated.

    `arch` is the GPU that PTX and machine code are made for. With the loader ``none`` there is no
    script, and nothing of the workload is loaded or run. With an `output` it is written there, a
    manifest and the script beside it.
    """
    with opened(run) as mine:
        exported = _export(mine, variant, format, arch, loader, output and Path(output).name)
    return exported if output is None else replace(exported, files=_save(exported, Path(output)))


def _export(
    run: Run,
    variant: str | None,
    format: str | None,  # noqa: A002  (what the command line calls it)
    arch: str | None,
    loader: Loader,
    file: str | None,
) -> Exported:
    format = _choose(format, run.config.ir, arch)  # noqa: A001  (what the command line calls it)
    row = run.variant(variant)
    name = format_id(row.id)
    file = file or f"{run.config.workload.lower()}-{name}.{FORMATS[format].ending}"
    text = run.guarded(lambda: run.program.apply(row.patch).text, str)
    fitted = refit_weights(run, name)
    if fitted:
        unfitted = text
        text = run.guarded(lambda: with_weights(unfitted, fitted, arguments=False), str)
    made = FORMATS[format].make(
        Source(
            row.patch,
            text,
            run.program.text,
            arch,
            None if loader == "none" else run,
        )
    )
    given = {key: one for key, one in fitted.items() if key[0] == "a"}
    if given and FORMATS[format].ir == "stablehlo":
        made.weights = to_npz(given)
        made.notes.append(f"call it with the re-fit weights of {file}{WEIGHTS}")
    about = f"Variant {name} of {run.config.workload}; {file}.json says what it is worth."
    if made.variables:
        about += f"\nThe workload sets variables of the module first: {', '.join(made.variables)}."
    command = f"gevolve export {run.folder.name} --variant {name} --format {format}"
    command += f" --arch {arch}" if arch else ""
    return Exported(
        name,
        format,
        made.data,
        manifest_of(run, row, made, file, format, command),
        scripts.script(format, loader, file, about, made.launches),
        made.weights,
    )


def _choose(name: str | None, ir: str, arch: str | None) -> str:
    fitting = [name for name, one in FORMATS.items() if one.ir in ("", ir)]
    if name is None:
        name = fitting[0]
    if name not in FORMATS:
        raise OptionError(f"--format is {name!r}; it must be one of {', '.join(FORMATS)}")
    if name not in fitting:
        what = "kernels" if ir == "llvm" else "a model"
        raise OptionError(
            f"--format {name} does not fit a run of {what}; use one of {', '.join(fitting)}"
        )
    if arch is not None and not FORMATS[name].for_gpu:
        raise OptionError(f"--arch says nothing about {name}; it is for ptx, cubin and vmfb")
    return name


def _save(exported: Exported, path: Path) -> tuple[Path, ...]:
    write_bytes(path, exported.data)
    if path.exists() and not path.is_file():  # a pipe or a device has no place beside it
        return (path,)
    beside = {path.with_name(f"{path.name}.json"): exported.manifest.json()}
    if exported.script:
        beside[path.with_name(f"{path.name}.load.py")] = exported.script
    for place, text in beside.items():
        write_text(place, text)
    if not exported.weights:
        return (path, *beside)
    weights = path.with_name(f"{path.name}{WEIGHTS}")
    write_bytes(weights, exported.weights)
    return (path, *beside, weights)


def _compared(change: ResourceChange) -> str:
    def both(what: str) -> str:
        after = getattr(change.after, what)
        before = getattr(change.before, what) if change.before else after
        return f"{after}" if before == after else f"{before} -> {after}"

    return (
        f"registers {both('registers')}, shared memory {both('shared')} bytes, "
        f"spills {both('spill_stores')} bytes stored and {both('spill_loads')} loaded"
    )
