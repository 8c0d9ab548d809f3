"""Kernels as LLVM-IR, PTX or machine code, with what ptxas says of them and how they are launched."""

from gevolve.device import ptxas
from gevolve.device.ptxas import Resources
from gevolve.errors import DeviceError, one_line
from gevolve.export.made import Made, ResourceChange, Source
from gevolve.export.scripts.launches import record
from gevolve.ir.llvm.codegen import target
from gevolve.ir.llvm.ptx_process import ptx_for
from gevolve.workload.kernel import KernelWorkload


def ll(source: Source) -> Made:
    """The IR, as text."""
    return Made(source.text.encode(), target(source.text))


def ptx(source: Source) -> Made:
    """PTX; if ptxas is installed, also whether it assembles and what it uses of the GPU."""
    return _made(source, cubin=False)


def cubin(source: Source) -> Made:
    """Machine code, which needs ptxas."""
    return _made(source, cubin=True)


def _made(source: Source, *, cubin: bool) -> Made:
    gpu = source.arch or target(source.text)
    text, before = ptx_for(source.text, gpu), ptx_for(source.unedited, gpu)
    made = Made(text.encode(), gpu)
    try:
        assembled = ptxas.assemble(text, gpu)
        made.resources = _compare(ptxas.assemble(before, gpu).kernels, assembled.kernels)
        made.versions["ptxas"] = assembled.version
        made.data = assembled.cubin if cubin else made.data
    except DeviceError as missing:
        if cubin:
            raise
        made.notes.append(f"not tried whether it assembles: {missing}")
    if source.run is not None:
        try:
            workload = source.run.workload
            assert isinstance(workload, KernelWorkload)
            made.launches, made.variables = record(workload, before)
        except Exception as error:  # noqa: BLE001  (host code may raise anything; the file is none the worse)
            made.notes.append(f"the workload that launches it cannot be run: {one_line(error)}")
    return made


def _compare(
    before: dict[str, Resources], after: dict[str, Resources]
) -> dict[str, ResourceChange]:
    return {name: ResourceChange(before=before.get(name), after=after[name]) for name in after}
