"""One function out of many: every call is replaced by the body of the function that it calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gevolve.errors import SourceError, UnsupportedError
from gevolve.ir.stablehlo.mlir import Op, everything_in, ir, run_passes

if TYPE_CHECKING:
    from collections.abc import Mapping

_CALLS = {"func.call": "callee", "stablehlo.composite": "decomposition"}
"""Operations that stand for the body of a function, and the attribute that names it."""


def functions_of(module: Op) -> dict[str, Op]:
    """The functions of a module by name."""
    return {
        _symbol(operation): operation.operation
        for operation in module.regions[0].blocks[0].operations
        if operation.operation.name == "func.func"
    }


def main_of(module: Op, name: str) -> Op:
    """The function that the program is: ``main``, or the only public one."""
    functions = functions_of(module)
    if not functions:
        raise SourceError(f"{name}: there is no function in it; a program has a function `main`")
    public = [
        symbol for symbol, function in functions.items() if _visibility(function) != "private"
    ]
    if "main" in functions:
        return functions["main"]
    if len(public) != 1:
        shown = ", ".join(f"@{symbol}" for symbol in (public or functions))
        what = "several public functions" if public else "only private functions"
        raise SourceError(f"{name}: no function `main`, {what}: {shown}; name one of them `main`")
    return functions[public[0]]


def inline(module: Op, main: Op, name: str) -> None:
    """Leave nothing in a module but its main function, which then calls no other."""
    functions = functions_of(module)
    _refuse_recursion(functions, name)
    while calls := [found for found in everything_in(main) if found.name in _CALLS]:
        while calls:
            _replace(calls.pop(), functions, name)
    for function in functions.values():
        visibility = "public" if function == main else "private"
        function.attributes["sym_visibility"] = ir.StringAttr.get(visibility, module.context)
    main.attributes["sym_name"] = ir.StringAttr.get("main", module.context)
    run_passes(module, "symbol-dce")


def _replace(call: Op, functions: Mapping[str, Op], name: str) -> None:
    callee = functions.get(_callee(call))
    if callee is None:
        raise SourceError(f"{name}: @{_callee(call)} is called but not defined")
    if len(callee.regions[0].blocks) != 1:
        raise UnsupportedError(f"{name}: @{_callee(call)} has branches or no body")
    # The copy's body is moved to where the call is, since that carries nested regions along.
    copy = callee.clone(ip=ir.InsertionPoint(callee)).operation
    body = copy.regions[0].blocks[0]
    for argument, value in zip(body.arguments, call.operands, strict=True):
        argument.replace_all_uses_with(value)
    *operations, last = [operation.operation for operation in body.operations]
    for operation in operations:
        operation.move_before(call)
    for result, value in zip(call.results, last.operands, strict=True):
        result.replace_all_uses_with(value)
    last.erase()
    call.erase()
    copy.erase()


def _refuse_recursion(functions: Mapping[str, Op], name: str) -> None:
    called = {
        symbol: {_callee(found) for found in everything_in(function) if found.name in _CALLS}
        for symbol, function in functions.items()
    }
    finished: set[str] = set()

    def visit(symbol: str, above: tuple[str, ...]) -> None:
        if symbol in above:
            raise UnsupportedError(f"{name}: @{symbol} calls itself; programs have no recursion")
        if symbol not in finished:
            for inner in sorted(called.get(symbol, ())):
                visit(inner, (*above, symbol))
            finished.add(symbol)

    for symbol in functions:
        visit(symbol, ())


def _callee(call: Op) -> str:
    return str(call.attributes[_CALLS[call.name]]).removeprefix("@").strip('"')


def _symbol(function: Op) -> str:
    return ir.StringAttr(function.attributes["sym_name"]).value


def _visibility(function: Op) -> str:
    attributes = function.attributes
    return (
        ir.StringAttr(attributes["sym_visibility"]).value
        if "sym_visibility" in attributes
        else "public"
    )
