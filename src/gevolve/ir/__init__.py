"""The languages that programs are written in: LLVM-IR for kernels, StableHLO for models.

What both share is here; `llvm` and `stablehlo` are packages of their own. Each is imported when the
first program in it is loaded, since that takes time, and models need packages that kernels do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from gevolve.errors import MissingPackageError

if TYPE_CHECKING:
    from gevolve.program import Program

IrName: TypeAlias = Literal["llvm", "stablehlo"]


@dataclass(frozen=True, slots=True)
class Ir:
    """One language that programs are written in."""

    name: IrName
    subject: str
    """What programs in it are called, such as ``kernels``."""
    module: str
    """The Python package that implements it; it has the functions `load` and `restore`."""
    packages: tuple[str, ...]
    """Distributions whose versions decide what comes out."""
    needs: tuple[str, str] | None = None
    """What is to be said if such a package is missing, and the extra of gevolve that brings it."""

    def implementation(self) -> Any:
        """The package that implements it; raises `MissingPackageError`."""
        try:
            return import_module(self.module)
        except ModuleNotFoundError as error:
            if self.needs is None or error.name not in self.packages:
                raise
            raise MissingPackageError(*self.needs) from None


IRS: dict[str, Ir] = {
    ir.name: ir
    for ir in (
        Ir("llvm", "kernels", "gevolve.ir.llvm", ("llvmlite", "ziglang")),
        Ir(
            "stablehlo",
            "models",
            "gevolve.ir.stablehlo",
            ("jax", "jaxlib"),
            ("models need JAX", "ml"),
        ),
    )
}
"""Every IR by its name."""


def restore(ir: IrName, text: str) -> Program:
    """The program in this IR that has this text, with the same ids."""
    return IRS[ir].implementation().restore(text)
