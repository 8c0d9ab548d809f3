"""Kernels and models in the forms in which they leave a run."""

from dataclasses import dataclass, field
from typing import Any

from gevolve.device import ptxas
from gevolve.device.ptxas import Resources
from gevolve.errors import DeviceError, one_line
from gevolve.export.manifest import Pair
from gevolve.export.scripts.launches import Launch, record
from gevolve.ir.llvm.codegen import target
from gevolve.ir.llvm.ptx_process import ptx_for
from gevolve.workload.base import KernelWorkload
from gevolve.workload.locate import Spec, load_workload


@dataclass(slots=True)
class Made:
    """A form, and what was learnt while it was made."""

    data: bytes
    arch: str | None = None
    resources: dict[str, Pair] = field(default_factory=dict[str, Pair])
    versions: dict[str, str] = field(default_factory=dict[str, str])
    """Of tools that are not installed as packages."""
    notes: list[str] = field(default_factory=list[str])
    launches: list[Launch] = field(default_factory=list[Launch])
    variables: list[str] = field(default_factory=list[str])
    """Those of the module that the workload's host code uses."""


def of_kernels(form: str, text: str, unedited: str, arch: str | None, spec: Spec | None) -> Made:
    """Kernels as IR, PTX or machine code, with what ptxas says of them.

    The workload of `spec` is run to see how it launches them; None if it is not to be loaded.
    """
    gpu = arch or target(text)
    if form == "ll":
        return Made(text.encode(), gpu)
    ptx, before = ptx_for(text, gpu), ptx_for(unedited, gpu)
    made = Made(ptx.encode(), gpu)
    try:
        assembled = ptxas.assemble(ptx, gpu)
        made.resources = _compare(ptxas.assemble(before, gpu).kernels, assembled.kernels)
        made.versions["ptxas"] = assembled.version
        made.data = assembled.cubin if form == "cubin" else made.data
    except DeviceError as missing:
        if form == "cubin":
            raise
        made.notes.append(f"not tried whether it assembles: {missing}")
    if spec is None:
        return made
    try:
        workload = load_workload(spec)
        assert isinstance(workload, KernelWorkload)
        made.launches, made.variables = record(workload, before)
    except Exception as error:  # noqa: BLE001  (host code may raise anything; the file is none the worse)
        made.notes.append(f"the workload that launches it cannot be run: {one_line(error)}")
    return made


def _compare(before: dict[str, Resources], after: dict[str, Resources]) -> dict[str, Pair]:
    return {kernel: Pair(before=before.get(kernel), after=after[kernel]) for kernel in after}


def of_model(form: str, text: str, spec: Spec | None) -> Made:
    """A model as StableHLO text, as a portable artefact or as one of `jax.export`.

    The last takes what the function of the workload of `spec` takes, or flat arrays.
    """
    from gevolve.ir.stablehlo import export  # noqa: PLC0415  (JAX loads when a model is asked for)

    if form == "mlir":
        return Made(export.to_mlir(text).encode())
    if form == "bytecode":
        return Made(export.to_bytecode(text))
    made = Made(b"")
    trees: dict[str, Any] = {}
    try:
        workload: Any = load_workload(spec) if spec else None
        source = workload.program() if workload else None
        if callable(source):
            trees = {"source": source, "arguments": workload.arguments(workload.data("search"))}
    except Exception as error:  # noqa: BLE001  (host code may raise anything; flat arrays always work)
        made.notes.append(
            f"it takes flat arrays, since its workload cannot be read: {one_line(error)}"
        )
    made.data = export.to_jax(text, **trees)
    return made
