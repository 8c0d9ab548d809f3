"""An operation in a narrower element type: operands converted before it, results after it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gevolve.ir.stablehlo.mlir import Value, everything_in, ir, named
from gevolve.ir.stablehlo.tensor import tensor

if TYPE_CHECKING:
    from gevolve.ir.stablehlo.draft import StablehloDraft

_INSIDE = frozenset(
    f"stablehlo.{name}"
    for name in [
        "add",
        "and",
        "compare",
        "maximum",
        "minimum",
        "multiply",
        "or",
        "return",
        "select",
    ]
)
"""What the region of an atom may hold for it to be narrowed."""


def narrow_op(draft: StablehloDraft, target: str, wide: str, element: str) -> bool:
    """Let an operation compute in a narrower element type than `wide`; whether that could be done."""
    old = draft.op(target)
    operands = [_converted(draft, target, value, wide, element) for value in old.operands]
    new = old.clone(ip=ir.InsertionPoint(old)).operation
    new.location = named(f"{target}n")
    hidden = draft.hide(new, target)
    for number, value in enumerate(operands):
        new.operands[number] = value
    for inner in everything_in(new):
        if inner != new and inner.name not in _INSIDE:
            draft.remove(hidden)
            return False
        for result in inner.results:
            _retype(result, wide, element)
        for region in inner.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    _retype(argument, wide, element)
    try:
        new.verify()
    except ir.MLIRError:
        draft.remove(hidden)
        return False
    for result, made, kind in zip(
        old.results, new.results, draft.info(target).results, strict=True
    ):
        result.replace_all_uses_with(draft.fit(made, kind, target))
    draft.remove(target)
    return True


def _converted(draft: StablehloDraft, target: str, value: Value, wide: str, element: str) -> Value:
    kind = tensor(str(value.type))
    if kind is None or kind.element != wide:
        return value
    return draft.fit(value, str(replace(kind, element=element)), target)


def _retype(value: Value, wide: str, element: str) -> None:
    kind = tensor(str(value.type))
    if kind is not None and kind.element == wide:
        value.set_type(replace(kind, element=element).native)
