"""Makes PTX in a subprocess, since LLVM ends the process on IR that it cannot select instructions for.

python -m gevolve.ir.llvm.ptx_process sm_60 < kernel.ll > kernel.ptx
"""

import sys

from gevolve.errors import CompileError
from gevolve.ir.llvm.codegen import ARCHS, target, to_ptx
from gevolve.system import tools

TIMEOUT = 120.0
_REFUSED = 3


def ptx_for(text: str, arch: str | None = None) -> str:
    """PTX of a module for a GPU, by default for the one that it was compiled for."""
    arch = arch or target(text)
    if arch not in ARCHS:
        raise CompileError(f"LLVM makes no PTX for {arch}; choose one of {', '.join(ARCHS)}")
    command = [sys.executable, "-m", __name__, arch]
    try:
        done = tools.run(command, seconds=TIMEOUT, stdin=text.encode())
    except tools.ToolTimeoutError:
        raise CompileError(
            f"LLVM was not done with the PTX for {arch} after {TIMEOUT:g} s"
        ) from None
    if done.status == 0:
        return done.text
    lines = done.errors.strip().splitlines()
    if done.status == _REFUSED and lines:
        raise CompileError(lines[-1])
    told = next((line for line in lines if "LLVM ERROR" in line), f"it ended with {done.how}")
    older = f"; it was compiled for {target(text)}" if arch != target(text) else ""
    raise CompileError(f"LLVM cannot make PTX for {arch}: {' '.join(told.split())[:300]}{older}")


def main() -> None:
    """Read a module, write PTX."""
    try:
        sys.stdout.write(to_ptx(sys.stdin.read(), arch=sys.argv[1]))
    except CompileError as error:
        print(error, file=sys.stderr)
        sys.exit(_REFUSED)


if __name__ == "__main__":
    main()
