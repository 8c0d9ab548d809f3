"""Builds the library that programs load as ``libcuda.so.1``, once, into the user's cache."""

import os
import platform
import sys
import tempfile
from functools import cache
from hashlib import sha256
from importlib import metadata, resources
from pathlib import Path

from gevolve.device.sim.host import DEADLINE, cache_folder
from gevolve.device.virtual.codes import Code
from gevolve.device.virtual.functions import symbols
from gevolve.device.virtual.names import IN_C, base_of
from gevolve.device.virtual.wire import ARGUMENTS
from gevolve.errors import DeviceError
from gevolve.system import tools

NAME = "libcuda.so.1"
# Under this soname a library that is loaded by its path is found by those who ask for it without a version.
_OPTIONS = (
    *("cc", "-shared", "-O1", "-mcpu=baseline", "-fPIC", "-fno-sanitize=all"),
    *(
        "-fno-stack-protector",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-nostdlib",
        "-Wl,-soname,libcuda.so",
    ),
)

_LATER = (
    "cuMemcpyAsync",
    "cuMemcpyDtoDAsync",
    "cuMemcpyHtoDAsync",
    "cuMemFreeAsync",
    "cuEventRecord",
)
_MANNERS = {
    "cuLaunchKernel": "LAUNCHES",
    "gevolveBegin": "BEGINS",
    **dict.fromkeys(_LATER, "NEED_NOT_WAIT"),
}
"""Who need not wait for the GPU while launches are only timed; what fails is told to who waits next."""


@cache
def library_folder() -> Path:
    """A folder with the library, under both of the names that programs ask for."""
    source = (resources.files("gevolve.device.virtual") / "libcuda.c").read_text()
    header = _header()
    made_of = (source, header, *_OPTIONS, metadata.version("ziglang"), platform.machine())
    digest = sha256("\0".join(made_of).encode()).hexdigest()[:24]
    kept = cache_folder() / f"gpu-{digest}"
    if not (kept / NAME).exists():
        _build(source, header, kept)
    return kept


def _header() -> str:
    """``functions.h``: a function for each symbol, and the tables that the library looks things up in."""
    taken = ", ".join(f"uint64_t a{n}" for n in range(ARGUMENTS))
    given = ", ".join(f"a{n}" for n in range(ARGUMENTS))
    lines = [
        "int cuGetErrorName(int, const char **);",
        "int cuGetErrorString(int, const char **);",
        f"#define FUNCTION(number, name) int name({taken}); int name({taken}) \\",
        f"  {{ uint64_t all[] = {{{given}}}; return forward(number, all); }}",
    ]
    lines += [
        f"FUNCTION({number}, {name})" for number, name in enumerate(symbols()) if name not in IN_C
    ]
    manners = ", ".join(_MANNERS.get(base_of(name), "WAITS") for name in symbols())
    lines.append(f"static const unsigned char manners[] = {{{manners}}};")
    lines.append("static const struct symbol symbols[] = {")
    lines += [f'{{"{name}", (void *){name}}},' for name in symbols()]
    lines.append("};\nstatic const struct error errors[] = {")
    lines += [f'{{{int(code)}, "{code.title}", "{code.words}"}},' for code in Code]
    return "\n".join([*lines, "};", ""])


def _build(source: str, header: str, kept: Path) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="gpu-", dir=kept.parent) as name:
        folder = Path(name)
        (folder / "libcuda.c").write_text(source)
        (folder / "functions.h").write_text(header)
        made = folder / "made"
        made.mkdir()
        command = [sys.executable, "-m", "ziglang", *_OPTIONS, "libcuda.c", "-o", f"made/{NAME}"]
        zig = {f"ZIG_{scope}_CACHE_DIR": str(folder / "zig") for scope in ("GLOBAL", "LOCAL")}
        try:
            done = tools.run(command, seconds=DEADLINE, folder=folder, environment=zig)
        except tools.ToolTimeoutError as late:
            raise DeviceError(f"libcuda of the virtual GPU did not compile: {late}") from None
        if done.status or not (made / NAME).exists():
            words = " ".join(done.said.split())[:400]
            raise DeviceError(
                f"libcuda of the virtual GPU did not compile; reinstall ziglang: {words}"
            )
        (made / "libcuda.so").symlink_to(NAME)
        try:
            os.rename(made, kept)  # noqa: PTH104  (if another was faster, theirs is as good)
        except OSError:
            if not (kept / NAME).exists():
                raise
