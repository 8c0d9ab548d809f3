"""A model in, a faster one out, in one call."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gevolve.errors import OptionError
from gevolve.export.load import Model, load
from gevolve.export.variant import export
from gevolve.optimize import optimize
from gevolve.torch import from_torch
from gevolve.workload.packed import pack

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gevolve.run.summary import Summary
    from gevolve.workload.base import Array, Split


@dataclass(frozen=True)
class OptimizedModel:
    """The model that was found: call it as the one that was given."""

    summary: Summary
    function: Model
    weights: list[Array]
    """Of a PyTorch model, in the order that the program takes them."""

    def __call__(self, *inputs: Any) -> Any:
        """Run it on arrays, or tensors, as many as the example inputs had.

        If its weights were re-fit, those are used in the place of what was given.
        """
        jax: Any = import_module("jax")
        flat = [*self.weights, *jax.tree.leaves([_plain(one) for one in inputs])]
        return self.function(*self.function.refitted(*flat))


def optimize_model(
    model: Any,
    example_inputs: Sequence[Any],
    *,
    error: Callable[..., float] | None = None,
    held_out: Sequence[Any] | None = None,
    loss: Callable[..., Any] | None = None,
    refit_on: Sequence[Sequence[Any]] = (),
    tolerance: float = 0.02,
    out: str | Path,
    **options: Any,
) -> OptimizedModel:
    """Optimize a JAX function or a PyTorch module, given inputs to try it on; returns one to call.

    `error(outputs, arrays)` says how wrong the outputs are; it gets the flat arrays that the program takes, and must
    stand at the top level of a file, since workers import it. Without it the error is the largest difference from
    the model's own outputs, relative to the largest of them. Variants may have `tolerance` more of it. `held_out`
    are other inputs of the same shapes, on which what is found must hold; without them the floats of the examples
    are moved by a little. `out` is a new folder; other options are those of `optimize`.

    With ``refit=N`` weights are trained for N steps after the edits, on `refit_on`: other inputs like the examples, as
    many times as there are batches. What is the same in all of them is a weight, as are constants of the model. `loss`
    is called as ``loss(outputs, arrays, number)`` with `jax.numpy` arrays and the number of the batch, and stands at the
    top level of a file, too; without it weights learn to give what the unedited model gives.
    """
    folder = Path(out)
    if folder.exists():
        raise OptionError(f"{folder} is there already; give a new folder")
    if bool(options.get("refit")) != bool(refit_on):
        raise OptionError("refit=N and refit_on=[inputs, …], what to train on, go together")
    if loss is not None and not refit_on:
        raise OptionError(
            "loss is what weights are re-fit by; give refit=N and refit_on=[inputs, …]"
        )
    stablehlo: Any = import_module("gevolve.ir.stablehlo")  # JAX loads when it is needed
    weights: list[Array] = []
    inputs = [_plain(one) for one in example_inputs]
    others = [_plain(one) for one in held_out] if held_out is not None else _moved(inputs)
    if hasattr(model, "state_dict"):
        converted = from_torch(model, inputs)
        model = converted.function
        weights = stablehlo.flatten([converted.weights])
        program = stablehlo.load(model, [converted.weights, *inputs])
    else:
        program = stablehlo.load(model, inputs)

    def flat(one: Sequence[Any]) -> list[Array]:
        return [*weights, *stablehlo.flatten([_plain(each) for each in one])]

    arrays: dict[Split, list[Array]] = {"search": flat(inputs), "held-out": flat(others)}
    batches = [flat(one) for one in refit_on]
    _check_alike(arrays["search"], [arrays["held-out"], *batches])
    script = pack(
        folder / "model",
        program.text,
        arrays,
        batches=batches,
        error=error,
        loss=loss,
        tolerance=tolerance,
    )
    summary = optimize(f"{script}:Model", out=folder / "run", **options)
    found = folder / "best.mlir"
    best = summary.best.id if summary.best else "v0"
    export(folder / "run", variant=best, format="mlir", output=found)
    return OptimizedModel(summary, load(found), weights)


def _check_alike(first: Sequence[Array], others: Sequence[Sequence[Array]]) -> None:
    """Raise `OptionError` if some inputs are not like the examples."""
    for other in others:
        if [(one.shape, one.dtype) for one in other] != [(one.shape, one.dtype) for one in first]:
            raise OptionError(
                "held_out and each of refit_on must be as many arrays as example_inputs, with their shapes"
                " and types"
            )


def _plain(one: Any) -> Any:
    """A tensor of PyTorch as an array; anything else as it is."""
    return one.detach().cpu().numpy() if hasattr(one, "detach") else one


def _moved(inputs: Sequence[Any]) -> list[Any]:
    """The same inputs with their floats moved by a hundredth of their spread."""
    jax: Any = import_module("jax")
    rng = np.random.default_rng(0)

    def moved(leaf: Any) -> Any:
        array = np.asarray(leaf)
        if array.dtype.kind != "f":
            return array
        noise = rng.standard_normal(array.shape) * 0.01 * (float(array.std()) or 1.0)
        return (array + noise).astype(array.dtype)

    return [jax.tree.map(moved, one) for one in inputs]
