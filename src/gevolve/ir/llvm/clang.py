"""CUDA C++ to LLVM-IR: with the clang that is bundled, or with the user's own and a CUDA toolkit."""

import importlib.util
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from gevolve.errors import CompileError, SourceError, UnsupportedError
from gevolve.ir.llvm.overlay import without_host_code
from gevolve.system import tools
from gevolve.system.text import printable

ARCH = "sm_70"
DEADLINE = 120.0
"""Seconds that clang may take for a source; the slowest of the suite takes 2."""
_INCLUDE = Path(__file__).parent / "include"
_EMIT = ("-x", "cuda", "--cuda-device-only", f"--cuda-gpu-arch={ARCH}", "-O3", "-gline-tables-only",
         "-S", "-emit-llvm")  # fmt: skip
# As in codegen: NVIDIA's assembler sinks by itself what it should.
_NO_SINKING = ("-mllvm", "-instcombine-code-sinking=0")
# People know arguments by their names.
_KEEP_NAMES = ("-fno-discard-value-names",)
# Headers of the toolkit and its libraries that no stand-in is provided for.
_TOOLKIT_HEADER = re.compile(
    r"(cub|thrust|cuda|nv|cooperative_groups|cutlass|cute|crt)/.*"
    r"|(cu(rand|blas|fft|sparse|solver|dnn|da)|nv|npp|helper_|texture_|surface_|sm_|cooperative_)\w*"
    r"\.(h|hpp|cuh)|channel_descriptor\.h"
)
# Errors of clang that mean: this source uses what gevolve cannot run.
_UNSUPPORTED = (
    (re.compile(r"'(tex[123]D\w*|tex1Dfetch|texCubemap\w*|texture)'"), "textures"),
    (re.compile(r"'(surf[123]D\w*|surface)'"), "surfaces"),
    (re.compile(r"(kernel launch) from __device__ or __global__"), "dynamic parallelism"),
    (re.compile(r"'((?:nvcuda|wmma)\w*|mma\.h)'"), "tensor cores"),
)
_FIRST_ERROR = re.compile(r"^(.*?:\d+):\d+: (?:fatal )?error: (.*)$", re.MULTILINE)
_KERNEL = re.compile(r"^define [^\n]*\bptx_kernel\b", re.MULTILINE)
_MISSING = re.compile(r"fatal error: '([^']+)' file not found")


def compile_cuda(path: Path, options: Sequence[str] = ()) -> str:
    """LLVM-IR text for the device side of a CUDA source; clang's own words if it refuses."""
    done = _bundled(path, options)
    if done.status == 0:
        sys.stderr.write(printable(done.errors))
        return done.text
    _name_unsupported(done.errors)
    missing = _MISSING.search(done.errors)
    header = missing[1] if missing and _TOOLKIT_HEADER.fullmatch(missing[1]) else ""
    if not (header and _clang() and _toolkit()):
        text = _device_side(path, options, done.errors)
        if text is not None:
            return text
    if not header:
        raise CompileError(_refusal(path, done))
    return _with_toolkit(path, options, header)


def _device_side(path: Path, options: Sequence[str], errors: str) -> str | None:
    """A source without the host code that does not compile, if there is a kernel in the rest."""
    _, library = _zig()
    found = without_host_code(
        path,
        errors,
        lambda more: _bundled(path, (*options, *more)),
        lambda header: _TOOLKIT_HEADER.fullmatch(header) is not None,
        (_INCLUDE, library),
    )
    if found is None or not _KERNEL.search(found[0].text):
        return None
    names = ", ".join(found[1])
    sys.stderr.write(f"{path.name}: host code does not compile here and was left out ({names})\n")
    return found[0].text


def _name_unsupported(errors: str) -> None:
    first = _FIRST_ERROR.search(errors)
    if first is None:
        return
    for pattern, what in _UNSUPPORTED:
        found = pattern.search(first[2])
        if found:
            raise UnsupportedError(f"{first[1]}: {what} ({found[1]}) cannot be run by gevolve")


def _bundled(path: Path, options: Sequence[str]) -> tools.Done:
    zig, library = _zig()
    libc = library / "libc" / "include"
    system = (
        _INCLUDE,
        library / "libcxx" / "include",
        library / "include",
        libc / "x86_64-linux-musl",
        libc / "generic-musl",
        libc / "x86-linux-any",
        libc / "any-linux-any",
    )
    # An installed toolkit must not change the result, nor the folder that the source is in, nor
    # the machine: the host side is parsed for one fixed target.
    with tempfile.TemporaryDirectory(prefix="gevolve-") as empty:
        command = [
            *(zig, "clang", "--target=x86_64-linux-musl", *_EMIT, *_NO_SINKING, *_KEEP_NAMES),
            *(f"--cuda-path={empty}", "-nocudainc", "-nocudalib", "--cuda-feature=+ptx78"),
            *("-nostdinc", "-nostdinc++"),
            *(word for folder in system for word in ("-isystem", str(folder))),
            *(
                "-include",
                str(_INCLUDE / "gevolve_cuda.h"),
                f"-DGEVOLVE_CONTRACT={_contract(options)}",
            ),
            *("-fdebug-compilation-dir=.", f"-ffile-prefix-map={library}/="),
            *(f"-ffile-prefix-map={_INCLUDE}/=", f"-ffile-prefix-map={path.parent}/="),
            *(*options, str(path), "-o", "-"),
        ]
        return _run(command, path.parent)


def _with_toolkit(path: Path, options: Sequence[str], header: str) -> str:
    clang, toolkit = _clang(), _toolkit()
    if clang is None or toolkit is None:
        raise SourceError(
            f"{path}: {header} comes with the CUDA toolkit, which gevolve does without. Two ways out: "
            "install clang++ and the toolkit (found on PATH and by CUDA_PATH, CUDA_HOME or "
            "/usr/local/cuda), and gevolve will use them for this source; or compile it where they are, "
            f"with `clang++ {' '.join(_EMIT)} {path.name} -o {path.stem}.ll`, and use "
            f"{path.stem}.ll as the source."
        )
    command = [clang, *_EMIT, *_NO_SINKING, *_KEEP_NAMES, f"--cuda-path={toolkit}", "-Wno-unknown-cuda-version",
               *options, str(path), "-o", "-"]  # fmt: skip
    done = _run(command, path.parent)
    if done.status:
        raise CompileError(
            f"{path} includes {header}, so it was compiled by {clang} with the toolkit in {toolkit}; "
            f"if they do not fit each other, compile it elsewhere and pass the .ll.\n"
            f"{_refusal(path, done)}"
        )
    sys.stderr.write(printable(done.errors))
    return done.text


def _run(command: Sequence[str], folder: Path) -> tools.Done:
    # Options such as -Iinclude are relative to the source, wherever gevolve was started.
    try:
        return tools.run(command, seconds=DEADLINE, folder=folder)
    except tools.ToolTimeoutError as late:
        raise CompileError(
            f"{command[-3]}: {late}; simplify what it computes when it is compiled"
        ) from None
    except OSError as error:
        raise SourceError(f"{command[0]}: cannot be started ({error.strerror})") from None


def _refusal(path: Path, done: tools.Done) -> str:
    """Clang's own words; it says nothing if it is ended by a signal."""
    return done.errors.strip() or f"{path}: clang {done.said}"


def _zig() -> tuple[str, Path]:
    """The bundled compiler and its library; started directly, so that no file of the user's interferes."""
    spec = importlib.util.find_spec("ziglang")
    if spec is None or spec.origin is None:
        raise SourceError("no clang: install the package ziglang (pip install ziglang)")
    home = Path(spec.origin).parent
    return str(home / "zig"), home / "lib"


def _contract(options: Sequence[str]) -> str:
    """How the user wants products and sums fused; the header restores it after its own functions."""
    chosen = [option for option in options if option.startswith("-ffp-contract=")]
    mode = chosen[-1].partition("=")[2] if chosen else "fast"
    return mode if mode in {"on", "off"} else "fast"


def _clang() -> str | None:
    names = ("clang++", *(f"clang++-{version}" for version in range(22, 14, -1)))
    return next((found for name in names if (found := shutil.which(name))), None)


def _toolkit() -> Path | None:
    places = (os.environ.get("CUDA_PATH"), os.environ.get("CUDA_HOME"), "/usr/local/cuda")
    folders = (Path(place) for place in places if place)
    return next((f for f in folders if (f / "include" / "cuda_runtime.h").is_file()), None)
