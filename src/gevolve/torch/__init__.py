"""PyTorch models as JAX functions: what `torch.export` gives is gone through, operation by operation.

No other package is needed than PyTorch itself, which is asked for its core operations only; each of these is a few
words of JAX (`gevolve.torch.operations`). Weights become an argument, so that one program serves them all.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from gevolve.errors import MissingPackageError, UnsupportedError, WorkloadError, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt


@dataclass(frozen=True)
class TorchModel:
    """A PyTorch model as a JAX function ``function(weights, *inputs)``, and its weights."""

    function: Callable[..., Any]
    weights: dict[str, npt.NDArray[Any]]
    """Parameters, buffers and constants by name, as NumPy arrays."""


def from_torch(model: Any, example_inputs: Sequence[Any] = ()) -> TorchModel:
    """Convert an `nn.Module` with example inputs, or what `torch.export` has made of one.

    Gradients are not converted, nor is what depends on chance: dropout does nothing, as in `eval`.
    """
    try:
        torch: Any = import_module("torch")
    except ImportError:
        raise MissingPackageError("PyTorch models need PyTorch", "torch") from None
    name = type(model).__name__
    try:
        if isinstance(model, torch.nn.Module):
            given = tuple(torch.as_tensor(np.asarray(one)) for one in example_inputs)
            model = torch.export.export(model.eval(), given)
        exported: Any = model.run_decompositions()
    except Exception as error:  # noqa: BLE001  (PyTorch raises many kinds)
        raise WorkloadError(f"{name}: torch.export cannot export it: {one_line(error)}") from None
    return _converted(exported, name)


def _converted(exported: Any, name: str) -> TorchModel:
    operations = import_module("gevolve.torch.operations").OPERATIONS  # JAX loads when it is needed
    nodes = list(exported.graph.nodes)
    _check(nodes, operations, name)
    signature = exported.graph_signature
    stored = {
        **signature.inputs_to_parameters,
        **signature.inputs_to_buffers,
        **signature.inputs_to_lifted_tensor_constants,
    }
    state = {**exported.constants, **exported.state_dict}
    weights = {
        placeholder: state[target].detach().cpu().numpy() for placeholder, target in stored.items()
    }
    inputs = [node.name for node in nodes if node.op == "placeholder" and node.name not in weights]
    wanted = list(signature.user_outputs)

    def function(weights: dict[str, Any], *arguments: Any) -> Any:
        values: dict[str, Any] = {**weights, **dict(zip(inputs, arguments, strict=True))}

        def value(argument: Any) -> Any:
            if hasattr(argument, "op") and hasattr(argument, "name"):
                return values[argument.name]
            if isinstance(argument, list | tuple):
                return [value(one) for one in argument]  # pyright: ignore[reportUnknownVariableType]
            return argument

        for node in nodes:
            if node.op == "call_function":
                named = {key: value(one) for key, one in node.kwargs.items()}
                values[node.name] = operations[_name(node)](*map(value, node.args), **named)
        results = [values[one] if isinstance(one, str) else one for one in wanted]
        return results[0] if len(results) == 1 else tuple(results)

    function.__name__ = name
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(one, kind) for one in ("weights", *inputs)]
    function.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportFunctionMemberAccess]
    return TorchModel(function, weights)


def _check(nodes: Sequence[Any], operations: dict[str, Any], name: str) -> None:
    missing = sorted(
        {_name(node) for node in nodes if node.op == "call_function"} - operations.keys()
    )
    if missing:
        raise UnsupportedError(
            f"{name}: no conversion of PyTorch's {', '.join(missing)}; export it to StableHLO by another tool"
        )


def _name(node: Any) -> str:
    """The name of an operation, without its overload."""
    target = node.target
    packet = getattr(target, "overloadpacket", None)
    if packet is not None:
        return str(packet).removeprefix("aten.")
    return getattr(target, "__name__", str(target))
