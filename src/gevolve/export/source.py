"""A variant as a change of the user's own source, compiled and judged as source before it is shown."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gevolve.device.nvrtc.apart import compile_apart
from gevolve.errors import CompileError, DeviceError, GevolveError, OptionError, WorkloadError
from gevolve.export.made import Made
from gevolve.ir.llvm.program import LlvmProgram
from gevolve.ir.llvm.ptx_process import ptx_for
from gevolve.ir.llvm.source import instances, read
from gevolve.patch import Patch
from gevolve.workload.kernel import KernelWorkload

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from gevolve.evaluate.evaluator import Evaluator
    from gevolve.evaluate.verdict import Evaluation
    from gevolve.export.made import Source
    from gevolve.ir.llvm.source_form import SourceForm
    from gevolve.patch import Edit
    from gevolve.run.run import Run
    from gevolve.workload.base import Split

SPLITS: tuple[Split, ...] = ("search", "held-out")
"""What the changed source is judged on."""
_INSTEAD = "export it as ptx, cubin, ll or patch instead"


def diff(source: Source) -> Made:
    """The change as patch(1) takes it; refused if none of it can be written in the source and is right there.

    Edits that have no form in the source, or are wrong there without those, are left out, which the
    notes say; so it is the source that is judged, not the variant.
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
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise WorkloadError(f"{path} cannot be read: {error}") from None
    form = program.source_form(source.patch, text, path.name)
    if not form.words:
        why = form.left[0] if form.left else "it has no edits"
        raise OptionError(f"nothing of it can be written in {path.name} ({why}); {_INSTEAD}")
    with run.evaluator(workers=1) as evaluator:
        try:
            told = _judged(run, evaluator, form.text)
        except (CompileError, DeviceError):
            form = right_part(program, source.patch, form, lambda one: _passes(run, evaluator, one))
            if not form.words:
                raise
            told = _judged(run, evaluator, form.text)
    notes = [*dict.fromkeys(form.words), *(f"left out: {edit}" for edit in form.left), *told]
    return Made(form.diff.encode(), notes=notes)


def right_part(
    program: LlvmProgram, patch: Patch, form: SourceForm, passes: Callable[[str], bool]
) -> SourceForm:
    """As much of a form that is wrong as is right.

    Edits that have no form may be what others need; and which way a condition goes is read off the
    source, where it may decide more than in the program. Edits are added by halves: most are right.
    """
    kept: list[Edit] = []
    right = [program.source_form(Patch(), form.source, form.file)]
    known = {right[0].text: True, form.text: False}

    def add(edits: Sequence[Edit]) -> None:
        more = program.source_form(Patch((*kept, *edits)), form.source, form.file)
        if more.text not in known:
            known[more.text] = passes(more.text)
        if known[more.text]:
            kept.extend(edits)
            right.append(more)
        elif len(edits) > 1:
            half = len(edits) // 2
            add(edits[:half])
            add(edits[half:])

    add(patch.edits)
    why = (f"{program.describe(e).sentence}: as source it is wrong" for e in patch if e not in kept)
    return replace(right[-1], left=(*right[-1].left, *why))


def _passes(run: Run, evaluator: Evaluator, text: str) -> bool:
    """Whether a changed source compiles and is right on the search cases."""
    workload = run.workload
    assert isinstance(workload, KernelWorkload)
    try:
        return _evaluated(evaluator, "search", _compiled(text, workload)).ok
    except CompileError:
        return False


def _compiled(text: str, workload: KernelWorkload) -> bytes:
    """PTX of the changed source by our own compiler."""
    with _written(text, workload) as (changed, options):
        try:
            return ptx_for(read(changed, options)).encode()
        except CompileError as error:
            raise CompileError(
                f"the changed source does not compile; {_INSTEAD}\n{error}"
            ) from None


def _compiled_by_nvcc(text: str, workload: KernelWorkload, arch: str) -> bytes | None:
    """PTX of the changed source by NVIDIA's compiler; None if it does not compile it."""
    with _written(text, workload) as (changed, options):
        try:
            made = instances(read(changed, options))
            return compile_apart(changed, options, arch, made).ptx
        except GevolveError:
            return None


@contextmanager
def _written(text: str, workload: KernelWorkload) -> Generator[tuple[Path, tuple[str, ...]]]:
    """The changed source as a file, with options by which it sees the same headers as the user's."""
    path = workload.path()
    with tempfile.TemporaryDirectory(prefix="gevolve-") as folder:
        changed = Path(folder) / path.name
        changed.write_text(text)
        yield changed, (*workload.clang_options, f"-I{path.parent.absolute()}")


def _judged(run: Run, evaluator: Evaluator, text: str) -> list[str]:
    """What the changed source is worth, in words; raises `DeviceError` if it is wrong."""
    workload = run.workload
    assert isinstance(workload, KernelWorkload)
    artefact = _compiled(text, workload)
    theirs = run.findings.nvcc_artefact
    changed = _compiled_by_nvcc(text, workload, run.device.arch or "") if theirs else None
    told: list[str] = []
    for split in SPLITS:
        if split not in workload.splits:
            continue
        unedited = evaluator.prepare(split).evaluation
        found = _evaluated(evaluator, split, artefact)
        if not found.ok or not found.time or not unedited.time:
            why = f"{found.verdict}{f' ({found.detail})' if found.detail else ''}"
            raise DeviceError(f"as source it is {why} on the {split} cases; {_INSTEAD}")
        ratio = f"{unedited.time / found.time:.2f}x"
        told.append(f"as source: {ratio} on the {split} cases, beside gevolve's unedited build")
        if theirs and changed:
            before, after = (_evaluated(evaluator, split, ptx) for ptx in (theirs, changed))
            told.append(_beside_nvcc(before, after, split))
    return told


def _evaluated(evaluator: Evaluator, split: Split, artefact: bytes) -> Evaluation:
    evaluator.submit(split, Patch(), split, artefact=artefact)
    (_, found), *_ = evaluator.results()
    return found


def _beside_nvcc(before: Evaluation, after: Evaluation, split: Split) -> str:
    if not (before.ok and after.ok and before.time and after.time):
        verdict = after.verdict if before.ok else before.verdict
        return f"built by nvcc, it is {verdict} on the {split} cases"
    return f"built by nvcc: {before.time / after.time:.2f}x on the {split} cases, beside nvcc's unedited build"
