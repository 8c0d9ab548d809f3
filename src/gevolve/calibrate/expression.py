"""Arithmetic on the parameters of a configuration, as tuners write it: ``use_padding == 0 or x % 32``.

The text is parsed by Python's own parser and then walked; nothing is ever executed.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from gevolve.errors import WorkloadError

Value = Any
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: operator.mod,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}


def _extreme(pick: Callable[[Any], Any]) -> Callable[..., Any]:
    """`max` or `min`, also of one number: tuners write it of a parameter, whose values it is over."""
    return lambda *values: (
        values[0] if len(values) == 1 and isinstance(values[0], int | float) else pick(*values)
    )


def _floor(x: float) -> int:
    return int(x // 1)


def _ceil(x: float) -> int:
    return -int(-x // 1)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "max": _extreme(max),
    "min": _extreme(min),
    "abs": abs,
    "int": int,
    "ceil": _ceil,
    "floor": _floor,
}


def evaluate(text: str, names: Mapping[str, Value]) -> Value:
    """The value of an expression of these names; `WorkloadError` for what is not plain arithmetic."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
        return _walk(tree.body, names)
    except (SyntaxError, TypeError, ZeroDivisionError, IndexError, OverflowError) as error:
        raise WorkloadError(f"cannot evaluate {text!r}: {error}") from None


def _walk(node: ast.expr, names: Mapping[str, Value]) -> Value:
    match node:
        case ast.Constant(value=int() | float() | str() as value):
            return value
        case ast.Name(id=name):
            if name not in names:
                raise WorkloadError(f"no parameter {name!r}; there are {', '.join(names)}")
            return names[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](_walk(left, names), _walk(right, names))
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            return _UNARY[type(op)](_walk(operand, names))
        case ast.BoolOp(op=op, values=values):
            wanted = isinstance(op, ast.Or)
            return next((v for n in values if bool(v := _walk(n, names)) is wanted), not wanted)
        case ast.Compare(left=left, ops=ops, comparators=others):
            return _compare(left, ops, others, names)
        case ast.Subscript(value=value, slice=index):
            return _walk(value, names)[_walk(index, names)]
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return [_walk(element, names) for element in elements]
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_walk(argument, names) for argument in arguments))
        case _:
            raise WorkloadError(f"{ast.unparse(node)!r} is not plain arithmetic on parameters")


def _compare(
    left: ast.expr, ops: list[ast.cmpop], others: list[ast.expr], names: Mapping[str, Value]
) -> bool:
    before = _walk(left, names)
    for op, other in zip(ops, others, strict=True):
        after = _walk(other, names)
        if type(op) not in _COMPARE or not _COMPARE[type(op)](before, after):
            return False
        before = after
    return True
