"""GPU kernels in LLVM-IR, as in GEVO: source, program, edits with repair, PTX.

A name is loaded when it is first used: a process that only compiles need not wait for the rest.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gevolve.ir.llvm.edit_kind import LlvmEdit
    from gevolve.ir.llvm.loading import load, restore
    from gevolve.ir.llvm.program import LlvmProgram

_HOMES = {
    "LlvmEdit": "edit_kind",
    "LlvmProgram": "program",
    "load": "loading",
    "restore": "loading",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


__all__ = ["LlvmEdit", "LlvmProgram", "load", "restore"]
