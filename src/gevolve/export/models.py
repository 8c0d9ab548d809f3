"""Models as StableHLO text, as a portable artifact, as one of `jax.export`, or as a module of IREE's."""

from typing import Any

from gevolve.errors import one_line
from gevolve.export.made import Made, Source
from gevolve.ir.levels import from_comments


def mlir(source: Source) -> Made:
    """StableHLO text."""
    from gevolve.ir.stablehlo import export  # noqa: PLC0415  (JAX loads when a model is asked for)

    return _graph_alone(source, export.to_mlir(source.text).encode())


def bytecode(source: Source) -> Made:
    """A portable artifact, which other versions of StableHLO can read."""
    from gevolve.ir.stablehlo import export  # noqa: PLC0415  (JAX loads when a model is asked for)

    return _graph_alone(source, export.to_bytecode(source.text))


def jax(source: Source) -> Made:
    """What `jax.export` writes; it takes what the workload's function takes, or else flat arrays."""
    from gevolve.ir.stablehlo import export  # noqa: PLC0415  (JAX loads when a model is asked for)

    made = _graph_alone(source, b"")
    trees: dict[str, Any] = {}
    try:
        workload: Any = source.run.workload if source.run else None
        function = workload.program() if workload else None
        if callable(function):
            trees = {"source": function, "arguments": workload.example()}
    except Exception as error:  # noqa: BLE001  (host code may raise anything; flat arrays always work)
        made.notes.append(
            f"it takes flat arrays, since its workload cannot be read: {one_line(error)}"
        )
    made.data = export.to_jax(source.text, **trees)
    return made


def vmfb(source: Source) -> Made:
    """A module that IREE's runtime loads, with kernels for an NVIDIA GPU: those that `iree` devices time."""
    from gevolve.device.iree import arch_of, module_of  # noqa: PLC0415  (it loads when it is asked for)

    arch = source.arch or arch_of(source.run.config.device if source.run else "")
    made = module_of(source.text, arch)
    wanted = from_comments(source.text)
    edited = [name for name in wanted if name in made.kernels]
    notes = [f"{len(made.kernels)} kernels for {arch}: {', '.join(made.kernels)}"]
    if edited:
        notes.append(f"{len(edited)} of them edited: {', '.join(edited)}")
    notes += [f"its edits of {name} are not in it: IREE makes no such kernel for {arch}" for name in wanted if name not in edited]  # fmt: skip
    return Made(made.module, arch=arch, notes=notes)


def _graph_alone(source: Source, data: bytes) -> Made:
    """A form that holds no kernels."""
    kernels = from_comments(source.text)
    lost = f"it is the graph alone; the edits of {len(kernels)} kernels are in a vmfb"
    return Made(data, notes=[lost] if kernels else [])
