"""PTX to machine code by NVIDIA's own assembler: whether it assembles, and what it takes. No GPU needed.

    made = assemble(ptx, "sm_80")
    made.cubin                            # what the driver loads
    made.kernels["saxpy"].registers       # what one thread of the kernel holds

`ptxas` comes with the extra ``cuda`` or with a CUDA toolkit on the path. If several are installed,
the newest one that knows the architecture is used: CUDA 13 dropped all before sm_75.
"""

import re
import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec

from gevolve.device import nvidia
from gevolve.errors import CompileError, DeviceError
from gevolve.system import tools

WHEEL = "nvidia-cuda-nvcc-cu12"
"""Its ptxas (12.9) knows sm_50 to sm_121."""

_USUAL = "/usr/local/cuda/bin/ptxas"
_TARGET = re.compile(r"^(\s*\.target\s+)sm_\d+[af]?", re.MULTILINE)
_ARCH = re.compile(r"sm_(\d+)[af]?")
_LISTED = re.compile(r"'(sm_\d+[af]?)'")
_RELEASE = re.compile(r"release (\d+)\.(\d+)")
_ENTRY = re.compile(r"Compiling entry function '([^']+)'")
_COMPLAINT = re.compile(r"(?:fatal|error) *: (.*)")
_ABORTED = "Ptx assembly aborted"


class Resources(msgspec.Struct, frozen=True, kw_only=True):
    """What a kernel takes of a GPU, in bytes but for the registers."""

    registers: int
    """Of one thread."""
    spill_stores: int = 0
    spill_loads: int = 0
    shared: int = 0
    """Of one block; what a launch asks for comes on top."""
    stack: int = 0
    constant: int | None = None
    """With the parameters; None where ptxas does not say."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """Machine code, and what its kernels take."""

    cubin: bytes
    arch: str
    version: str
    """Of ptxas."""
    kernels: dict[str, Resources]


@dataclass(frozen=True, slots=True)
class Tool:
    """An installed ptxas."""

    path: str
    release: tuple[int, int]
    archs: frozenset[str]

    @property
    def version(self) -> str:
        return ".".join(map(str, self.release))


def assemble(
    ptx: str, arch: str, *, seconds: float = 60.0, options: tuple[str, ...] = ()
) -> Assembled:
    """Machine code for one architecture, such as ``sm_80``.

    `CompileError` if ptxas rejects the PTX, `DeviceError` if there is none that knows `arch`.
    """
    tool = find(arch)
    with tempfile.TemporaryDirectory(prefix="gevolve-") as name:
        source, made = Path(name, "kernel.ptx"), Path(name, "kernel.cubin")
        source.write_text(ptx)
        command = [tool.path, "-v", "-arch", arch, *options, str(source), "-o", str(made)]
        try:
            done = tools.run(command, seconds=seconds)
        except tools.ToolTimeoutError:
            raise CompileError(
                f"ptxas {tool.version} was not done with the PTX for {arch} after {seconds:g} s"
            ) from None
        if done.status or not made.is_file():
            raise CompileError(
                f"ptxas {tool.version} rejects the PTX for {arch}: {_complaint(done, name)}"
            )
        resources = _resources(done.text + done.errors)
        return Assembled(made.read_bytes(), arch, tool.version, resources)


def retargeted(ptx: str, arch: str) -> str:
    """The same PTX with another target; whether it runs there its assembler finds out."""
    return _TARGET.sub(rf"\g<1>{arch}", ptx, count=1)


def find(arch: str) -> Tool:
    """The newest installed ptxas that knows this architecture."""
    if not _ARCH.fullmatch(arch):
        raise DeviceError(f"{arch!r} is no architecture of a GPU; give one such as sm_80")
    tools = installed()
    if not tools:
        raise DeviceError(f"no ptxas is installed; `pip install {WHEEL}` brings one")
    for tool in tools:
        if arch in tool.archs:
            return tool
    known = sorted({a for tool in tools for a in tool.archs if a[-1].isdigit()}, key=_number)
    versions = ", ".join(dict.fromkeys(tool.version for tool in tools))
    raise DeviceError(
        f"no installed ptxas ({versions}) knows {arch}; choose one of {', '.join(known)}, "
        f"or `pip install {WHEEL}` for sm_50 to sm_121"
    )


def installed() -> list[Tool]:
    """Every ptxas of this environment, of the path and of the usual place, newest first."""
    tools = (_tool(str(path)) for path in _places())
    return sorted((t for t in tools if t is not None), key=lambda t: t.release, reverse=True)


def _places() -> list[Path]:
    """Where a ptxas is, each file once."""
    found: dict[Path, Path] = {}
    others = [Path(path) for path in (shutil.which("ptxas"), _USUAL) if path]
    for path in (*nvidia.files("bin/ptxas"), *others):
        if path.is_file():
            found.setdefault(path.resolve(), path)
    return list(found.values())


@cache
def _tool(path: str) -> Tool | None:
    """What a ptxas is, by its own words; None if it does not work here."""
    try:
        flags = ("--version", "--help")
        version, options = (tools.run([path, flag], seconds=20.0).text for flag in flags)
    except (OSError, tools.ToolTimeoutError):
        return None
    release = _RELEASE.search(version)
    archs = frozenset(_LISTED.findall(options))
    return Tool(path, (int(release[1]), int(release[2])), archs) if release and archs else None


def _resources(report: str) -> dict[str, Resources]:
    """What ``ptxas -v`` says of every kernel; functions that it calls count with it."""
    _, *parts = _ENTRY.split(report)
    return {name: _read(text) for name, text in zip(parts[::2], parts[1::2], strict=True)}


def _read(text: str) -> Resources:
    def all_of(what: str) -> list[int]:
        return [int(number) for number in re.findall(rf"(\d+) (?:bytes )?{what}", text)]

    constant = all_of(r"cmem\[")
    return Resources(
        registers=max(all_of("registers"), default=0),
        spill_stores=sum(all_of("spill stores")),
        spill_loads=sum(all_of("spill loads")),
        shared=max(all_of("smem"), default=0),
        stack=max(all_of("(?:stack frame|cumulative stack size)"), default=0),
        constant=sum(constant) if constant else None,
    )


def _complaint(done: tools.Done, folder: str) -> str:
    """The first thing that ptxas says against the PTX, without the place of our copy of it."""
    lines = (done.text + done.errors).replace(f"{folder}/", "").splitlines()
    for line in lines:
        said = _COMPLAINT.search(line)
        if said and _ABORTED not in said[1]:
            place = re.search(r"line \d+", line)
            return f"{place[0]}: {said[1]}" if place else said[1]
    return f"it ended with {done.how} and said nothing"


def _number(arch: str) -> int:
    found = _ARCH.fullmatch(arch)
    return int(found[1]) if found else 0
