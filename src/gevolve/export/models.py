"""Models as StableHLO text, as a portable artifact, or as one of `jax.export`."""

from typing import Any

from gevolve.errors import one_line
from gevolve.export.made import Made, Source


def mlir(source: Source) -> Made:
    """StableHLO text."""
    from gevolve.ir.stablehlo import export  # noqa: PLC0415  (JAX loads when a model is asked for)

    return Made(export.to_mlir(source.text).encode())


def bytecode(source: Source) -> Made:
    """A portable artifact, which other versions of StableHLO can read."""
    from gevolve.ir.stablehlo import export  # noqa: PLC0415  (JAX loads when a model is asked for)

    return Made(export.to_bytecode(source.text))


def jax(source: Source) -> Made:
    """What `jax.export` writes; it takes what the workload's function takes, or else flat arrays."""
    from gevolve.ir.stablehlo import export  # noqa: PLC0415  (JAX loads when a model is asked for)

    made = Made(b"")
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
