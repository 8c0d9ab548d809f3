"""CUDA C++ to PTX by NVIDIA's own compiler: what the user would have had without gevolve.

    built = compile_cuda(Path("kernel.cu"), ("-DTILE=32",), "sm_80")
    built.ptx                             # of all kernels of the source, by the names that ours have

NVRTC comes with the extra ``cuda``. It compiles device code alone and has no headers of the host:
`headers` stands in for those that kernels often include, and `gevolve.ir.llvm.hostcode` takes out the host's part.
"""

import ctypes
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from gevolve.device import nvidia
from gevolve.device.nvrtc.headers import HEADERS
from gevolve.device.nvrtc.refused import MISSING, compile_without_refused
from gevolve.errors import CompileError, DeviceError, MissingPackageError, SourceError
from gevolve.ir.llvm.hostcode import without_host

OLDEST = 75
"""Of the architectures that NVRTC 13 compiles for."""

_PLAIN = re.compile(r"-[DU].+|-I.+|-std=.+")
_PAIRED = {"-D": "-D", "-U": "-U", "-I": "-I", "-isystem": "-I", "-include": "--pre-include="}
_SAME = {
    "-ffast-math": "--use_fast_math",
    "-ffp-contract=off": "--fmad=false",
    "-fgpu-flush-denormals-to-zero": "--ftz=true",
    "-fcuda-flush-denormals-to-zero": "--ftz=true",
}
_INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_HOST = "host function"
_FIRST_ERROR = re.compile(r"^(.*?)\((\d+)\): (?:catastrophic )?error: (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Built:
    """A source as NVIDIA's compiler makes it."""

    ptx: bytes
    arch: str
    version: str
    """Of NVRTC."""


def compile_cuda(
    path: Path, options: Sequence[str], arch: str, instances: Sequence[str] = ()
) -> Built:
    """PTX of a CUDA source for one architecture, with the options for clang that NVRTC has too.

    `instances` are the kernels that host code makes of templates (``gemm<16>``): NVRTC sees no host code.
    `CompileError` with its first complaint if it refuses the source, `DeviceError` if it is not
    installed or does not know the architecture.
    """
    library = _library()
    number = int(re.sub(r"\D", "", arch))
    if number < OLDEST:
        raise DeviceError(f"NVRTC {version()} compiles for sm_{OLDEST} and later, not for {arch}")
    try:
        text = path.read_bytes()
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({error.strerror}); check the file") from None
    given = [
        f"--gpu-architecture=compute_{arch.removeprefix('sm_')}",
        "-lineinfo",
        "-w",
        "--pre-include=cuda_runtime.h",  # as nvcc does
        *translated(options, path.parent),
        f"-I{path.parent}",
    ]
    log, ptx = _compile(library, text, path.name, given, instances)
    latest = log  # what was said last; an error names what was said of the source as it is
    if ptx is None:
        # A whole program: host code is no part of the kernels, and NVRTC takes none.
        text = without_host(text.decode(errors="replace")).encode()
        given.append("-default-device")
        latest, ptx = _compile(library, text, path.name, given, instances)
        log = latest if _HOST in log else log
    beside: dict[str, str] = {}
    if ptx is None:
        beside = _beside(text.decode(errors="replace"), path.parent)
        latest, ptx = _compile(library, text, path.name, given, instances, beside)
        log = latest if _HOST in log else log
    if ptx is None and MISSING in log:
        folder = _bundled()
        given += [f"-I{folder}", f"-I{folder}/cccl"]
        log, ptx = _compile(library, text, path.name, given, instances, beside)
        latest = log
    if ptx is None:

        def again(texts: Mapping[str, str]) -> tuple[str, bytes | None]:
            headers = {name: text for name, text in texts.items() if name != path.name}
            source = texts[path.name].encode()
            return _compile(library, source, path.name, given, instances, headers)

        texts = {path.name: text.decode(errors="replace"), **beside}
        ptx = compile_without_refused(texts, latest, again)
    if ptx is None:
        raise CompileError(f"NVRTC {version()} does not compile {path.name}: {_complaint(log)}")
    return Built(ptx.rstrip(b"\0"), arch, version())


def _beside(text: str, folder: Path) -> dict[str, str]:
    """The headers beside a source that it includes, and those that they do, without their host code."""
    found: dict[str, str] = {}
    left = [text]
    while left:
        for name in _INCLUDED.findall(left.pop()):
            path = folder / name
            if name not in found and path.is_file():
                found[name] = without_host(path.read_text(errors="replace"))
                left.append(found[name])
    return found


def translated(options: Sequence[str], folder: Path) -> list[str]:
    """Options for clang as NVRTC spells them; those that it has nothing for are left out."""
    found: list[str] = []
    rest = iter(options)
    for option in rest:
        if option in _PAIRED:
            found.append(_PAIRED[option] + next(rest, ""))
        elif option in _SAME:
            found.append(_SAME[option])
        elif _PLAIN.fullmatch(option):
            found.append(option)
    # Folders are relative to the source, wherever gevolve was started.
    return [f"-I{folder / option[2:]}" if option.startswith("-I") else option for option in found]


@cache
def version() -> str:
    """Of the NVRTC that is installed."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    _library().nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return f"{major.value}.{minor.value}"


def _compile(
    library: Any,
    text: bytes,
    name: str,
    options: Sequence[str],
    instances: Sequence[str],
    beside: Mapping[str, str] = MappingProxyType({}),
) -> tuple[str, bytes | None]:
    """The compiler's log and the PTX, or None in its place."""
    headers = {**HEADERS, **beside}
    program = ctypes.c_void_p()
    made = library.nvrtcCreateProgram(
        ctypes.byref(program),
        text,
        name.encode(),
        len(headers),
        _strings(headers.values()),
        _strings(headers),
    )
    if made:
        raise CompileError(f"NVRTC {version()} takes no program {name}: error {made}")
    try:
        for instance in instances:
            library.nvrtcAddNameExpression(program, instance.encode())
        failed = library.nvrtcCompileProgram(program, len(options), _strings(options))
        log = _fetched(library, "ProgramLog", program).rstrip(b"\0").decode(errors="replace")
        return log, None if failed else _fetched(library, "PTX", program)
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _strings(texts: Iterable[str]) -> Any:
    data = [text.encode() for text in texts]
    return (ctypes.c_char_p * len(data))(*data)


def _fetched(library: Any, what: str, program: ctypes.c_void_p) -> bytes:
    size = ctypes.c_size_t()
    getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    room = ctypes.create_string_buffer(max(size.value, 1))
    getattr(library, f"nvrtcGet{what}")(program, room)
    return room.raw


@cache
def _bundled() -> str:
    """A folder with the headers of CUDA that come inside NVRTC; it ends with the process."""
    folder = tempfile.TemporaryDirectory(prefix="gevolve-")
    _kept.append(folder)
    said = ctypes.c_char_p()
    failed = _library().nvrtcInstallBundledHeaders(folder.name.encode(), 1, ctypes.byref(said))
    if failed:
        raise DeviceError(f"NVRTC {version()} cannot unpack its headers: {said.value!r}")
    # They call int64_t a long long; on Linux it is a long, and kernels have names by that.
    integers = Path(folder.name, "cccl/cuda/std/cstdint")
    if integers.is_file():
        integers.write_text(integers.read_text().replace(" long long;", " long;"))
    return folder.name


_kept: list[Any] = []


@cache
def _library() -> Any:
    for path in sorted(nvidia.files("lib/libnvrtc.so.*"), reverse=True):
        library: Any = ctypes.CDLL(str(path))
        if hasattr(library, "nvrtcInstallBundledHeaders"):
            return library
    raise MissingPackageError("NVIDIA's own build needs nvidia-cuda-nvrtc 13.4 or later", "cuda")


def _complaint(log: str) -> str:
    first = _FIRST_ERROR.search(log)
    if first:
        return f"line {first[2]}: {first[3]}"
    return " ".join(log.split())[:300] or "it said nothing"
