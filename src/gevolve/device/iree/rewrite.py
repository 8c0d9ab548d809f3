"""Says otherwise what IREE makes a wrong kernel of: the largest of each row (`top_k`).

IREE 3.13 compiles `chlo.top_k` for CUDA to a kernel in which all threads of a block insert into the same row of global
memory, without a barrier: values come out twice, on any GPU. A sort and a slice is the same, and right; but
IREE sees in a slice of what is sorted a `top_k`, so it must not see both at once. Its sorts are not stable, so the places of
equal values decide.
"""

from typing import Any

from gevolve.ir.stablehlo.mlir import Op, context, everything_in, ir, parse

_TOP_K, _SORT = "chlo.top_k", "stablehlo.sort"
_SORTED = """
func.func @main(%rows: tensor<SHAPExTYPE>) -> (tensor<OUTxTYPE>, tensor<OUTxi32>) {
  %numbers = stablehlo.iota dim = LAST : tensor<SHAPExi32>
  %sorted:2 = "stablehlo.sort"(%rows, %numbers) <{dimension = LAST : i64, is_stable = false}> ({
  ^bb0(%a: tensor<TYPE>, %b: tensor<TYPE>, %c: tensor<i32>, %d: tensor<i32>):
    %larger = stablehlo.compare GT, %a, %b, ORDER : (tensor<TYPE>, tensor<TYPE>) -> tensor<i1>
    %same = stablehlo.compare EQ, %a, %b, ORDER : (tensor<TYPE>, tensor<TYPE>) -> tensor<i1>
    %before = stablehlo.compare LT, %c, %d, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %tie = stablehlo.and %same, %before : tensor<i1>
    %first = stablehlo.or %larger, %tie : tensor<i1>
    stablehlo.return %first : tensor<i1>
  }) : (tensor<SHAPExTYPE>, tensor<SHAPExi32>) -> (tensor<SHAPExTYPE>, tensor<SHAPExi32>)
  %kept:2 = stablehlo.optimization_barrier %sorted#0, %sorted#1 : tensor<SHAPExTYPE>, tensor<SHAPExi32>
  %values = stablehlo.slice %kept#0 [RANGES] : (tensor<SHAPExTYPE>) -> tensor<OUTxTYPE>
  %places = stablehlo.slice %kept#1 [RANGES] : (tensor<SHAPExi32>) -> tensor<OUTxi32>
  return %values, %places : tensor<OUTxTYPE>, tensor<OUTxi32>
}
"""


def rewritten(module: Op, *, places: bool = False) -> str:
    """The text of a program, which is changed, as IREE is given it; with the place of each operation if asked for."""
    _rewrite(module)
    # Bytecode is read by the release of MLIR that wrote it; the text of StableHLO by many.
    return str(module.get_asm(print_generic_op_form=True, enable_debug_info=places))


def function_of(module: Op, name: str) -> str:
    """The text of a program's one function, which is changed, under a name of its own, to stand beside others."""
    _rewrite(module)
    (function,) = module.regions[0].blocks[0].operations
    with context():
        function.attributes["sym_name"] = ir.StringAttr.get(name)
    return str(function.operation.get_asm(print_generic_op_form=True, use_local_scope=True))


def _rewrite(module: Op) -> None:
    with context(), ir.Location.unknown():
        for operation in everything_in(module):
            name = operation.operation.name
            if name == _TOP_K:
                _sort_instead(operation.operation)
            elif name == _SORT:
                _keep_apart(operation.operation)


def _keep_apart(sort: Op) -> None:
    """Put a barrier between a sort and what uses it."""
    place = ir.InsertionPoint(sort)
    copy = sort.clone(ip=place).operation
    types = [result.type for result in copy.results]
    barrier = ir.Operation.create(
        "stablehlo.optimization_barrier", results=types, operands=list(copy.results), ip=place
    )
    for result, kept in zip(sort.results, barrier.results, strict=True):
        result.replace_all_uses_with(kept)
    sort.erase()


def _sort_instead(top_k: Op) -> None:
    """Put a sort in the place of an operation."""
    rows = top_k.operands[0]
    block = parse(_sort_of(rows.type, top_k.results[0].type)).regions[0].blocks[0]
    made: dict[Any, Any] = {}
    body = next(iter(block.operations)).regions[0].blocks[0]
    made[body.arguments[0]] = rows
    *steps, end = body.operations
    for step in steps:
        copy = step.operation.clone(ip=ir.InsertionPoint(top_k))
        for number, operand in enumerate(step.operation.operands):
            copy.operation.operands[number] = made[operand]
        made.update(zip(step.operation.results, copy.operation.results, strict=True))
    for result, value in zip(top_k.results, end.operands, strict=True):
        result.replace_all_uses_with(made[value])
    top_k.erase()


def _sort_of(given: Any, found: Any) -> str:
    """A function that sorts rows of one type and returns the first of each, as another has room for."""
    kind = str(given.element_type)
    sizes = found.shape
    words = {
        "SHAPE": "x".join(map(str, given.shape)),
        "OUT": "x".join(map(str, sizes)),
        "LAST": str(len(sizes) - 1),
        "RANGES": ", ".join(f"0:{size}" for size in sizes),
        "ORDER": "TOTALORDER" if "f" in kind else "UNSIGNED" if kind.startswith("ui") else "SIGNED",
        "TYPE": kind,
    }
    text = _SORTED
    for word, meaning in words.items():
        text = text.replace(word, meaning)
    return text
