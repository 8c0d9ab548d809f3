"""IREE's compiler: a StableHLO program to a module of IREE's, with kernels for an NVIDIA GPU in it."""

import importlib.util
import re
from pathlib import Path

from gevolve.errors import MissingPackageError, SourceError, one_line
from gevolve.system import tools

_DEADLINE = 300.0
_ERROR = re.compile(r"\berror: (.*)")


def compile_module(artefact: bytes, arch: str) -> bytes:
    """The module of a program, the same for the same program; `SourceError` if IREE rejects it."""
    from gevolve.ir.stablehlo.mlir import parse  # noqa: PLC0415  (JAX loads when it is needed)

    # Bytecode is read by the release of MLIR that wrote it; the text of StableHLO by many.
    text = parse(artefact).get_asm(print_generic_op_form=True)
    command = [
        str(_tool()),
        "-",
        "-o",
        "-",
        "--iree-input-type=stablehlo",
        "--iree-hal-target-device=cuda",
        f"--iree-cuda-target={arch}",
    ]
    try:
        done = tools.run(command, seconds=_DEADLINE, stdin=text.encode())
    except tools.ToolTimeoutError as late:
        raise SourceError(f"IREE does not compile it: {late}") from None
    if done.status or not done.out:
        raise SourceError(f"IREE does not compile it: {_complaint(done)}")
    return done.out


def _complaint(done: tools.Done) -> str:
    """The first error that the compiler names, in one line."""
    found = _ERROR.search(done.errors)
    return one_line(Exception(found[1]))[:300] if found else done.said.splitlines()[0][:300]


def installed() -> bool:
    """Whether compiler and runtime are there; imports nothing of them."""
    if importlib.util.find_spec("iree") is None:
        return False
    return all(importlib.util.find_spec(f"iree.{part}") for part in ("compiler", "runtime"))


def _tool() -> Path:
    found = importlib.util.find_spec("iree.compiler") if installed() else None
    if found is None or not found.submodule_search_locations:
        raise MissingPackageError("models on iree need IREE", "iree")
    return Path(found.submodule_search_locations[0]) / "_mlir_libs" / "iree-compile"
