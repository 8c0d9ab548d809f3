"""A program as a function of JAX, operation by operation, so that JAX can differentiate it.

XLA runs StableHLO but knows no gradients, and JAX knows those of its own operations alone. So each operation is
done by the one of JAX that it came from. What has no rule here, such as a loop, is an error that names it.
"""

from __future__ import annotations

import math
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from gevolve.ir.stablehlo.jax_rules import constant, rule_of
from gevolve.ir.stablehlo.mlir import Op, ir, module_of
from gevolve.ir.stablehlo.signature import array_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_jnp: Any = import_module("jax.numpy")

LARGE = 16
"""A constant of so many different fractions, or more, holds weights."""


def function_of(text: str) -> Callable[[Sequence[Any], Mapping[int, Any]], list[Any]]:
    """The program as a function of its flat arguments and of its weights, which are given by number.

    Weights that are not given have the values of the program.
    """
    block = _main(text)
    operations = [operation.operation for operation in block.operations]
    for operation in operations:
        rule_of(operation)  # says what is not known before anything is computed
    numbers = {operation: n for n, operation in enumerate(_weights(operations))}

    def run(arguments: Sequence[Any], weights: Mapping[int, Any]) -> list[Any]:
        values = {
            place: _jnp.asarray(given, array_spec(place.type).dtype)
            for place, given in zip(block.arguments, arguments, strict=True)
        }
        for operation in operations:
            if operation.name == "func.return":
                return [values[operand] for operand in operation.operands]
            given = weights.get(numbers.get(operation, -1))
            results = (
                rule_of(operation)(operation, [values[operand] for operand in operation.operands])
                if given is None
                else given
            )
            if len(operation.results) == 1:
                results = [results]
            values.update(zip(operation.results, results, strict=True))
        raise AssertionError("main does not return")

    return run


def weights_of(text: str) -> list[np.ndarray[Any, Any]]:
    """The constants of a program that hold weights, in order."""
    operations = [operation.operation for operation in _main(text).operations]
    return [constant(operation, ()) for operation in _weights(operations)]


def with_values(
    text: str, arguments: Mapping[int, Any], weights: Mapping[int, Any] | None = None
) -> str:
    """The program with constants in the place of some arguments, and with other weights."""
    module = module_of(text).clone().operation
    block = module.regions[0].blocks[0].operations[0].regions[0].blocks[0]
    constants = _weights([operation.operation for operation in block.operations])
    with module.context, ir.Location.unknown():
        for number, array in (weights or {}).items():
            kind = constants[number].results[0].type
            constants[number].attributes["value"] = _attribute(array, kind)
        for number, array in arguments.items():
            argument = block.arguments[number]
            constant = ir.Operation.create(
                "stablehlo.constant",
                [argument.type],
                attributes={"value": _attribute(array, argument.type)},
                ip=ir.InsertionPoint.at_block_begin(block),
            )
            argument.replace_all_uses_with(constant.results[0])
    return str(module.get_asm(use_name_loc_as_prefix=True))


def _main(text: str) -> Any:
    return module_of(text).regions[0].blocks[0].operations[0].regions[0].blocks[0]


def _weights(operations: Sequence[Op]) -> list[Op]:
    found: list[Op] = []
    for operation in operations:
        if operation.name == "stablehlo.constant":
            value, spec = operation.attributes["value"], array_spec(operation.results[0].type)
            if spec.dtype == np.float32 and math.prod(spec.shape) >= LARGE and not value.is_splat:
                found.append(operation)
    return found


def _attribute(array: Any, kind: Any) -> Any:
    plain = np.ascontiguousarray(array)
    return ir.DenseElementsAttr.get(plain, type=kind.element_type, shape=kind.shape)
