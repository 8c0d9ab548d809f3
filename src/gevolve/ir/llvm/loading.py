"""Programs from files, and from the text of such programs."""

from collections.abc import Sequence
from pathlib import Path

from gevolve.ir.llvm.program import LlvmProgram
from gevolve.ir.llvm.source import read, resolve
from gevolve.system.limited import limited


def load(
    path: str | Path, *, kernels: Sequence[str] = (), clang_options: Sequence[str] = ()
) -> LlvmProgram:
    """Load kernels from a ``.cu``, ``.ll`` or ``.bc`` file.

    Edits stay within the named kernels and the functions that they call; within all if none is
    named.
    """
    path = Path(path)

    def work() -> bytes:
        text = read(path, clang_options)
        LlvmProgram(text)
        return text.encode()

    text = limited(work, str(path)).decode()
    return LlvmProgram(text, [resolve(text, kernel) for kernel in kernels])


def restore(text: str, *, kernels: Sequence[str] = ()) -> LlvmProgram:
    """The program that has this text, with the same ids."""
    return LlvmProgram(text, [resolve(text, kernel) for kernel in kernels])
