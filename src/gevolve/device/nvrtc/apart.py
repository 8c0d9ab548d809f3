"""Compiles in a subprocess: a compiler may hang or crash on a source, and a run must outlive that.

python -m gevolve.device.nvrtc.apart sm_80 kernel.cu -DTILE=32 > kernel.ptx
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from gevolve.device.nvrtc import Built, compile_cuda, version
from gevolve.errors import CompileError, GevolveError
from gevolve.system import tools

TIMEOUT = 120.0
_REFUSED = 3
_INSTANCE = "instance:"


def compile_apart(
    path: Path, options: Sequence[str], arch: str, instances: Sequence[str] = ()
) -> Built:
    """What `compile_cuda` gives, or raises, by another process."""
    named = [_INSTANCE + name for name in instances]
    command = [sys.executable, "-m", __name__, arch, str(path), *named, *options]
    try:
        done = tools.run(command, seconds=TIMEOUT)
    except tools.ToolTimeoutError:
        raise CompileError(
            f"NVRTC {version()} was not done with {path.name} after {TIMEOUT:g} s"
        ) from None
    if done.status == 0:
        return Built(done.out, arch, version())
    lines = done.errors.strip().splitlines()
    if done.status == _REFUSED and lines:
        raise CompileError(lines[-1])
    raise CompileError(f"NVRTC {version()} ended on {path.name}: {done.how}")


def main() -> None:
    """Read a source, write PTX."""
    arch, path, *rest = sys.argv[1:]
    instances = [word.removeprefix(_INSTANCE) for word in rest if word.startswith(_INSTANCE)]
    options = [word for word in rest if not word.startswith(_INSTANCE)]
    try:
        sys.stdout.buffer.write(compile_cuda(Path(path), options, arch, instances).ptx)
    except GevolveError as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        sys.exit(_REFUSED)


if __name__ == "__main__":
    main()
