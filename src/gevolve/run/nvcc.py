"""The unedited program as NVIDIA's own compiler builds it, judged like any variant of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gevolve.device.nvrtc.apart import compile_apart
from gevolve.errors import GevolveError
from gevolve.ir.llvm.source import instances, read
from gevolve.patch import Patch
from gevolve.run.findings import NvccBuild
from gevolve.workload.kernel import KernelWorkload

if TYPE_CHECKING:
    from gevolve.device.base import Device
    from gevolve.device.nvrtc import Built
    from gevolve.evaluate.evaluator import Evaluator
    from gevolve.evaluate.verdict import Evaluation
    from gevolve.run.run import Run
    from gevolve.workload.base import Split, Workload


def nvcc_is_due(run: Run) -> bool:
    """Whether it is a run of a kernel whose build by nvcc was not looked at yet."""
    return run.config.ir == "llvm" and run.findings.nvcc == NvccBuild()


def compare_with_nvcc(run: Run, evaluator: Evaluator) -> None:
    """Have nvcc's build of a run's source judged on the search cases; once is enough."""
    baseline = evaluator.prepare("search")
    if not baseline.deterministic:  # such a device is for workers to open
        why = f"only devices whose times repeat are compared with nvcc, not {run.config.device}"
        run.findings.nvcc = NvccBuild(why=why)
        return
    try:
        built = nvcc_build(run.workload, run.device)
    except GevolveError as error:  # no such device in this process
        built = str(error)
    if isinstance(built, str):
        run.findings.nvcc = NvccBuild(why=built)
        return
    run.findings.nvcc_artefact = built.ptx
    run.findings.nvcc = NvccBuild(version=built.version)
    evaluator.submit("nvcc", Patch(), artefact=built.ptx)
    for _, evaluation in evaluator.results():
        keep_judged(run, "search", evaluation, baseline.evaluation)


def keep_judged(run: Run, split: Split, mine: Evaluation, unedited: Evaluation) -> None:
    """Take note of nvcc's build on a split; one that fails is nothing to compare with."""
    findings = run.findings
    if mine.ok:
        if mine.time and unedited.time:  # some cases are not timed
            findings.nvcc = findings.nvcc.on(split, mine.time / unedited.time)
        return
    why = f"nvcc's build is judged {mine.verdict} on the {split} cases"
    why += f" ({mine.detail})" if mine.detail else ""
    findings.drop_nvcc(why)


def nvcc_build(workload: Workload, device: Device) -> Built | str:
    """PTX of a workload's own source by nvcc's compiler, or the reason why there is none."""
    if not isinstance(workload, KernelWorkload):
        return "nvcc compiles no models"
    if not device.arch:
        return f"{device.name} does not run what nvcc compiles"
    path = workload.path()
    if path.suffix != ".cu":
        return f"{path.name} is LLVM-IR, which nvcc does not compile"
    try:
        made = instances(read(path, workload.clang_options))
        return compile_apart(path.absolute(), workload.clang_options, device.arch, made)
    except GevolveError as error:
        return str(error)
