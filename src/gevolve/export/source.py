"""A variant as a change of the user's own source, compiled and judged as source before it is shown."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from gevolve.errors import CompileError, DeviceError, OptionError, WorkloadError
from gevolve.export.made import Made
from gevolve.ir.llvm.program import LlvmProgram
from gevolve.ir.llvm.ptx_process import ptx_for
from gevolve.ir.llvm.source import read
from gevolve.patch import Patch
from gevolve.workload.kernel import KernelWorkload

if TYPE_CHECKING:
    from gevolve.export.made import Source
    from gevolve.run.run import Run
    from gevolve.workload.base import Split

SPLITS: tuple[Split, ...] = ("search", "held-out")
"""What the changed source is judged on."""
_INSTEAD = "export it as ptx, cubin, ll or patch instead"


def diff(source: Source) -> Made:
    """The change as patch(1) takes it; refused if none of it can be written in the source, or it is wrong there.

    Edits that have no form in the source are left out, which the notes say; so it is the source that is
    judged, not the variant.
    """
    run = source.run
    if run is None:
        raise OptionError(
            "a change of the source is judged, which needs the workload: leave out --loader none"
        )
    run.load_program()
    workload, program = run.workload, run.program
    assert isinstance(workload, KernelWorkload)
    assert isinstance(program, LlvmProgram)
    path = workload.path()
    if path.suffix != ".cu":
        raise OptionError(f"{path.name} is no CUDA source; {_INSTEAD}")
    try:
        form = program.source_form(source.patch, path.read_text(), path.name)
    except (OSError, UnicodeDecodeError) as error:
        raise WorkloadError(f"{path} cannot be read: {error}") from None
    if not form.words:
        why = form.left[0] if form.left else "it has no edits"
        raise OptionError(f"nothing of it can be written in {path.name} ({why}); {_INSTEAD}")
    judged = _judged(run, _compiled(form.text, workload))
    notes = [*form.words, *(f"left out: {edit}" for edit in form.left), *judged]
    return Made(form.diff.encode(), notes=notes)


def _compiled(text: str, workload: KernelWorkload) -> bytes:
    """PTX of the changed source, which sees the same headers as the user's."""
    path = workload.path()
    with tempfile.TemporaryDirectory(prefix="gevolve-") as folder:
        changed = Path(folder) / path.name
        changed.write_text(text)
        options = (*workload.clang_options, f"-I{path.parent.absolute()}")
        try:
            return ptx_for(read(changed, options)).encode()
        except CompileError as error:
            raise CompileError(
                f"the changed source does not compile; {_INSTEAD}\n{error}"
            ) from None


def _judged(run: Run, artefact: bytes) -> list[str]:
    """What the changed source is worth, in words; raises `DeviceError` if it is wrong."""
    told: list[str] = []
    with run.evaluator(workers=1) as evaluator:
        for split in SPLITS:
            if split not in run.workload.splits:
                continue
            unedited = evaluator.prepare(split).evaluation
            evaluator.submit(split, Patch(), split, artefact=artefact)
            (_, found), *_ = evaluator.results()
            if not found.ok or not found.time or not unedited.time:
                why = f"{found.verdict}{f' ({found.detail})' if found.detail else ''}"
                raise DeviceError(f"as source it is {why} on the {split} cases; {_INSTEAD}")
            told.append(
                f"as source: {unedited.time / found.time:.2f}x on the {split} cases, beside gevolve's unedited build"
            )
    return told
