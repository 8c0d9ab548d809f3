"""Compiles a StableHLO program with IREE, kernel by kernel: what was compiled before is taken as it was.

IREE cuts a program into dispatches first, which takes a third of its time. Each is then compiled alone, to
PTX. Variants of a program share most of them, so they are known by their text and kept. A kept kernel goes
into a module as PTX from outside, which is IREE's own way to link code that it has not made; so does an
edited one.
"""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from gevolve.device.iree.library import Compilation
from gevolve.device.iree.messages import Kernel
from gevolve.device.iree.older import older

FLAGS = (
    "--iree-input-type=stablehlo",
    "--iree-hal-target-device=cuda",
    # Every tensor is a parameter of its own: fused, its offset in a buffer that many share is a number in
    # the kernel, and an edit anywhere makes other kernels of all.
    "--iree-scheduling-optimize-bindings=false",
)
SOURCES, _TARGETS = "executable-sources", "executable-targets"
"""Phases after which kernels are tensor operations, and LLVM-IR."""
_DISPATCH = re.compile(
    r"^  hal\.executable private @(\S+) \{\n.*?^  \}\n", re.DOTALL | re.MULTILINE
)
_CODE = re.compile(r"^      builtin\.module.*?^      \}\n", re.DOTALL | re.MULTILINE)
_VARIANT = re.compile(r"^(    hal\.executable\.variant .*) \{$", re.MULTILINE)
_EXPORT = re.compile(r"hal\.executable\.export public @(\S+)")
_ALIGNED = re.compile(r"(?<= alignment\()\d+(?=\))")
_ALIGNMENT = 64
"""What each tensor is aligned to at least, in bytes. More of it follows from where IREE happens to place a tensor beside others, and
changes nothing in the code of a kernel: no access is of more than 16 bytes.
"""
_OBJECT = "OBJECT"
"""Stands for the path of a kernel's PTX."""
_KEPT = 4096
"""Kernels that are kept."""
_CUT = 4
"""Programs of which it is kept how they are cut into dispatches."""


class Dispatch(NamedTuple):
    """A kernel that was compiled."""

    frame: str
    """How the host launches it: the dispatch without its code."""
    code: Kernel


class Module(NamedTuple):
    """What IREE makes of a program."""

    data: bytes
    kernels: dict[str, Dispatch]
    """By name, in the order of the program."""
    fresh: int
    """How many of them were not known before."""


class Compiler:
    """Compiles programs for one architecture."""

    def __init__(self, arch: str, folder: Path) -> None:
        """`folder` is for files that come and go."""
        self._folder = folder
        self._flags = (
            *FLAGS,
            f"--iree-cuda-target={arch}",
            f"--iree-hal-dump-executable-binaries-to={folder}",
            f"--iree-hal-dump-executable-intermediates-to={folder}",
        )
        self._kernels: dict[str, Dispatch] = {}
        self._cut: dict[bytes, tuple[str, list[str]]] = {}

    def compile(self, program: bytes, evolved: Mapping[str, bytes] | None = None) -> Module:
        """The module of a program, the same for the same program; `SourceError` if IREE rejects it.

        `evolved` is PTX that stands in for that of kernels, by name.
        """
        text, names = self._dispatches(program)
        missing = [name for name in names if name not in self._kernels]
        if missing and evolved:  # so that it is known what they stand in for
            self.compile(program)
            missing = []
        with Compilation(self._flags) as back:
            back.parse(self._with_objects(text, evolved or {}).encode())
            frames: dict[str, str] = {}
            if missing:
                back.run(SOURCES, _TARGETS)
                frames = _frames(back.text())
            back.run(_TARGETS, "end")
            data = back.module()
        for name in missing:
            self._kernels[name] = self._dumped(name, frames[name])
        made = Module(data, {name: self._kernels[name] for name in names}, len(missing))
        for name in names:  # what was used last goes last
            self._kernels[name] = self._kernels.pop(name)
        for name in list(self._kernels)[:-_KEPT]:
            del self._kernels[name]
        return made

    def _dispatches(self, program: bytes) -> tuple[str, list[str]]:
        """A program cut into dispatches, and their names."""
        if program not in self._cut:
            with Compilation(self._flags) as front:
                front.parse(program)
                front.run("start", SOURCES)
                self._cut[program] = named_by_content(front.text())
            for old in list(self._cut)[:-_CUT]:
                del self._cut[old]
        return self._cut[program]

    def _with_objects(self, text: str, evolved: Mapping[str, bytes]) -> str:
        """A module whose known dispatches have PTX from outside."""

        def frame(found: re.Match[str]) -> str:
            kernel = self._kernels.get(found[1])
            if kernel is None:
                return found[0]
            ptx = evolved.get(found[1], kernel.code.ptx)
            path = self._folder / f"{hashlib.sha256(ptx).hexdigest()}.ptx"
            if not path.exists():
                path.write_bytes(ptx)
            return kernel.frame.replace(_OBJECT, str(path))

        return _DISPATCH.sub(frame, text)

    def _dumped(self, name: str, frame: str) -> Dispatch:
        """What IREE has written of a kernel that it has compiled just now."""
        found: dict[str, bytes] = {}
        for path in self._folder.glob(f"*{name}_*"):
            found["".join(path.suffixes)] = path.read_bytes()
            path.unlink()
        return Dispatch(frame, Kernel(older(found[".optimized.ll"].decode()), found[".ptx"]))


def named_by_content(text: str) -> tuple[str, list[str]]:
    """A module whose dispatches and their kernels are named by what they compute; and those names."""
    new: dict[str, str] = {}
    blocks: dict[str, str] = {}
    for found in _DISPATCH.finditer(text):
        old, block = found[1], _ALIGNED.sub(_least, found[0])
        digest = hashlib.sha256(_word(old).sub("", block).encode()).hexdigest()[:12]
        for kernel in _EXPORT.findall(block):
            what = kernel.removeprefix(old).strip("_")[:100]  # it is part of the name of a file
            new[kernel] = f"{what or 'kernel'}_{digest}"
            new[old] = new[kernel]
        blocks.setdefault(new[old], block)

    names = list(blocks)
    text = _DISPATCH.sub(lambda found: blocks.pop(new[found[1]], ""), text)
    return re.sub(r"(?<=@)[\w$.-]+", lambda found: new.get(found[0], found[0]), text), names


def _least(alignment: re.Match[str]) -> str:
    return str(min(int(alignment[0]), _ALIGNMENT))


def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<=@){re.escape(name)}(?!\d)")


def _frames(text: str) -> dict[str, str]:
    """Dispatches without their code, which is to come from an object."""
    return {
        found[1]: _VARIANT.sub(rf'\1 objects([#hal.executable.object<{{path = "{_OBJECT}"}}>]) {{', _CODE.sub("", found[0]))
        for found in _DISPATCH.finditer(text)
    }  # fmt: skip
