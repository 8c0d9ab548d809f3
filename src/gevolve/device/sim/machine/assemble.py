"""PTX to machine code, in this process, by NVIDIA's own assembler and linker. No GPU needed.

    data = assemble(ptx, "sm_80")         # a cubin: what the driver loads

`nvJitLink` takes 11 ms for a small kernel, where starting `ptxas` alone takes 16. It knows no
architecture before sm_75; for these `ptxas` is asked, if one that knows them is installed.
"""

import ctypes
import re
from collections.abc import Callable, Sequence
from functools import cache

from gevolve.device import nvidia, ptxas
from gevolve.errors import CompileError, DeviceError

WHEEL = "nvidia-nvjitlink"

_Call = Callable[..., int]

_PTX = 2
_LINES = "-lineinfo"
# nvJitLink assembles for linking, so that routines such as division are called by the ABI's rules, for
# more registers. With this, the code is that of ptxas, which sees the whole program.
_WHOLE = "-Xptxas=--enable-func-clone-sc=true"
_LOC = re.compile(r"^\s*\.loc\s", re.MULTILINE)
_UNKNOWN_ARCH = (2, 16, 17)
_ARCH = re.compile(r"sm_(\d+)[af]?")
_OLDEST = 75
_SAID = re.compile(r"line (\d+); (?:error|fatal) *: (.*)")
_COMPLAINT = re.compile(r"(?:error|fatal) *: (.*)")
_TOO_WIDE = re.compile(r"with max regcount of (\d+) calls function")
_NOISE = ("Ptx assembly aborted", "PTX compilation failed")


def assemble(ptx: str, arch: str, *, registers: int = 0) -> bytes:
    """The cubin of PTX for one architecture, with line numbers; the same for the same PTX.

    A thread may have so many `registers`, if that is not 0.

    `CompileError` if the assembler rejects the PTX, `DeviceError` if none knows `arch`.
    """
    found = _ARCH.fullmatch(arch)
    if not found:
        raise DeviceError(f"{arch!r} is no architecture of a GPU; give one such as sm_80")
    # nvJitLink ends the process on some PTX without lines if it is asked for lines.
    extra = (*((_LINES,) if _LOC.search(ptx) else ()), *_at_most(registers))
    if int(found[1]) < _OLDEST:
        return ptxas.assemble(ptx, arch, options=extra).cubin
    data = ptx.encode() + b"\n"  # it ends the process on some PTX whose last line has no end
    try:
        return _linked([(_PTX, data)], arch, (_WHOLE, *extra))
    except CompileError as error:
        narrow = _TOO_WIDE.search(str(error))
        if narrow is None:
            raise
        # A kernel of few registers calls a function that would take more: none may take more.
        return _linked([(_PTX, data)], arch, (_WHOLE, f"-maxrregcount={narrow[1]}", *extra))


def link(inputs: Sequence[tuple[int, bytes]], arch: str, *, registers: int = 0) -> bytes:
    """The cubin of several pieces, each with the number of its kind (`nvJitLinkInputType`)."""
    return _linked(inputs, arch, _at_most(registers))


def _at_most(registers: int) -> tuple[str, ...]:
    return (f"-maxrregcount={registers}",) if registers else ()


def _linked(inputs: Sequence[tuple[int, bytes]], arch: str, extra: Sequence[str]) -> bytes:
    linker = _library()
    handle = ctypes.c_void_p()
    options = [option.encode() for option in (f"-arch={arch}", *extra)]
    code = linker.nvJitLinkCreate(
        ctypes.byref(handle), len(options), (ctypes.c_char_p * len(options))(*options)
    )
    if code in _UNKNOWN_ARCH:
        raise DeviceError(f"the installed {WHEEL} does not know {arch}; choose another GPU")
    if code:
        raise DeviceError(f"{WHEEL} does not start (error {code}); install it anew")
    try:
        for kind, data in inputs:
            code = code or linker.nvJitLinkAddData(handle, kind, data, len(data), b"kernel.ptx")
        code = code or linker.nvJitLinkComplete(handle)
        if code:
            log = _text(linker.nvJitLinkGetErrorLogSize, linker.nvJitLinkGetErrorLog, handle)
            raise CompileError(f"NVIDIA's assembler rejects the PTX for {arch}: {_said(log, code)}")
        return _bytes(linker.nvJitLinkGetLinkedCubinSize, linker.nvJitLinkGetLinkedCubin, handle)
    finally:
        linker.nvJitLinkDestroy(ctypes.byref(handle))


@cache
def _library() -> ctypes.CDLL:
    for path in reversed(nvidia.files("lib/libnvJitLink.so.*")):
        return ctypes.CDLL(str(path))
    raise DeviceError(f"NVIDIA's assembler is not installed; `pip install {WHEEL}`")


def _bytes(size_of: _Call, get: _Call, handle: ctypes.c_void_p) -> bytes:
    size = ctypes.c_size_t()
    if size_of(handle, ctypes.byref(size)):
        return b""
    buffer = ctypes.create_string_buffer(size.value)
    return b"" if get(handle, buffer) else buffer.raw


def _text(size_of: _Call, get: _Call, handle: ctypes.c_void_p) -> str:
    return _bytes(size_of, get, handle).rstrip(b"\0").decode(errors="replace")


def _said(log: str, code: int) -> str:
    """The first thing that the assembler says against the PTX, in one line."""
    for line in log.splitlines():
        if any(noise in line for noise in _NOISE):
            continue
        if found := _SAID.search(line):
            return f"line {found[1]}: {found[2]}"
        if found := _COMPLAINT.search(line):
            return found[1]
    return " ".join(log.split()) or f"it ended with {code} and said nothing"
