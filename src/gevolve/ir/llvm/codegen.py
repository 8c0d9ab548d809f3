"""LLVM-IR in, PTX out: the artefact that every kernel device takes.

The module goes through the O3 pipeline with NVPTX's own passes in it (so `__nvvm_reflect` is
answered and address spaces are inferred) and then through the back end. LLVM ends the process on IR
that it cannot select instructions for; whoever feeds it variants must be prepared for that.

Units of a module (`units`) are compiled one by one, and those that were compiled before are not compiled
again; nor is a unit of which the optimiser makes what it made of another.
"""

import hashlib
import os
import re
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from functools import cache, lru_cache
from typing import Any, cast

import llvmlite.binding  # pyright: ignore[reportMissingTypeStubs]

from gevolve.errors import CompileError
from gevolve.ir.llvm.units import join, split
from gevolve.ir.llvm.verifier import parsed

llvm: Any = llvmlite.binding  # llvmlite has no types

TRIPLE = "nvptx64-nvidia-cuda"
_ARCH = "sm_70"
# The version of PTX that sources are compiled for; without it LLVM cannot select __activemask().
_PTX = 78
ARCHS = dict.fromkeys(
    (
        *("sm_50", "sm_52", "sm_53", "sm_60", "sm_61", "sm_62", "sm_70", "sm_72", "sm_75"),
        *("sm_80", "sm_86", "sm_87", "sm_89", "sm_90"),
    ),
    _PTX,
) | {
    "sm_90a": 80,
    **dict.fromkeys(("sm_100", "sm_100a", "sm_101", "sm_101a"), 86),
    **dict.fromkeys(("sm_120", "sm_120a"), 87),
    **dict.fromkeys(("sm_100f", "sm_101f", "sm_103", "sm_103a", "sm_103f"), 88),
    **dict.fromkeys(("sm_120f", "sm_121", "sm_121a", "sm_121f"), 88),
    **dict.fromkeys(("sm_88", "sm_110", "sm_110a", "sm_110f"), 90),
}
"""The GPUs that PTX can be made for, and the least version of PTX that each asks for.

LLVM ends the process if it is given less, and takes a name that it does not know for the oldest GPU.
"""
_TARGET_CPU = re.compile(r'"target-cpu"="(sm_\d+[af]?)"')
# A comment that numbers all calls since the process began: the same module must give the same PTX.
_CALL_NUMBER = re.compile(r" // callseq \d+(?:, \d+)?$", re.MULTILINE)
_TARGET_PTX = re.compile(r"\+ptx(\d+)")
# What a variant chose of the numbers of the host code (`parameters`).
_CHOSEN = re.compile(r"^!gevolve\.chosen\.(\w+)\.(-?\d+) = !\{\}\n?", re.MULTILINE)
_UNITS = 128
"""Units whose PTX is remembered."""
_emitted: dict[tuple[bytes, str, int], str] = {}
"""PTX by the digest of what the optimiser left of a unit, and what it was made for."""

# LLVM would sink arithmetic into the branches that use its results, such as guarded stores. Then all
# its operands live until there, and NVIDIA's assembler spills: it sinks by itself what it should.
_NO_SINKING = ("-instcombine-code-sinking=0", "-disable-machine-sink")

# Threads of a warp that jump through a table run one after the other until the end of the whole switch, and
# nvcc makes branches of a switch too. Tables of values clang has made before.
_SWITCHES = re.compile(
    r"^(define [^\n]*?\))( local_unnamed_addr| unnamed_addr)?(?=(?: #\d| !dbg | \{)[^\n]*\n(?:(?!\}\n).*\n)*?  switch )",
    re.MULTILINE,
)
_BY_BRANCHES = r'\1\2 "no-jump-tables"="true"'

# What asks for a loop to be unrolled.
_HINT = '!"llvm.loop.unroll.'

# Full debug sections triple the size of the PTX and nothing here reads them; `.loc` lines stay.
_DIRECTIVES_ONLY = "emissionKind: DebugDirectivesOnly"
_VERBOSE_KINDS = ("emissionKind: FullDebug", "emissionKind: LineTablesOnly")


def to_ptx(text: str, *, arch: str | None = None) -> str:
    """Optimise a module at O3 and emit PTX; `CompileError` if LLVM refuses it.

    `arch` is what the module itself was compiled for, if it says so: some instructions exist only on
    newer GPUs, and some only on older ones.
    """
    arch, version = arch or target(text), ptx_version(text)
    comments = _choice(text)
    if comments:
        text = _CHOSEN.sub("", text)
    return comments + join([unit_to_ptx(unit, arch, version) for unit in split(terse(text))])


@lru_cache(maxsize=_UNITS)
def unit_to_ptx(text: str, arch: str, version: int) -> str:
    """The PTX of one unit."""
    with _optimised(text, arch, version) as (module, machine):
        digest = hashlib.sha256(module.as_bitcode()).digest()
        known = _emitted.pop((digest, arch, version), None)
        ptx = known or _CALL_NUMBER.sub("", cast("str", machine.emit_assembly(module)))
        _emitted[digest, arch, version] = ptx
        if len(_emitted) > _UNITS:
            del _emitted[next(iter(_emitted))]
        return ptx


def optimise(text: str) -> str:
    """The module as it is after the O3 pipeline, which is what PTX is then made of."""
    with _optimised(terse(text), target(text), ptx_version(text)) as (module, _):
        return str(module)


@contextmanager
def _optimised(text: str, arch: str, version: int) -> Generator[tuple[Any, Any]]:
    """A module after the O3 pipeline, and the machine that emits code for it."""
    if arch not in ARCHS:
        raise CompileError(f"LLVM makes no PTX for {arch}; choose one of {', '.join(ARCHS)}")
    _set_options()
    try:
        with parsed(_by_branches(text)) as module:
            machine = _machine(arch, max(version, ARCHS[arch]))
            builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(3))
            passes = builder.getModulePassManager()
            with _quiet() if _HINT in text else nullcontext():
                passes.run(module, builder)
            # llvmlite 0.50 forgets to free these: 0.1 MB for every variant, copied by every fork.
            llvm.ffi.lib.LLVMPY_DisposeNewModulePassManger(passes)
            passes.detach()
            yield module, machine
    except RuntimeError as error:
        raise CompileError(f"LLVM cannot make PTX for {arch}: {_one_line(error)}") from None


@contextmanager
def _quiet() -> Generator[None]:
    """Let LLVM say nothing: it warns of every loop that it cannot unroll as an edit asks for."""
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


@cache
def _set_options() -> None:
    for option in _NO_SINKING:
        llvm.set_option("gevolve", option)


def _choice(text: str) -> str:
    """What a module chose, as comments that a device reads (`gevolve.device.parameters`)."""
    found = sorted(_CHOSEN.findall(text)) if "!gevolve.chosen." in text else []
    return "".join(f"// gevolve.parameter {name}={value}\n" for name, value in found)


def target(text: str) -> str:
    """The GPU that a module was compiled for."""
    return max(_TARGET_CPU.findall(text), key=_number, default=_ARCH)


def ptx_version(text: str) -> int:
    """The version of PTX that a module was compiled for."""
    return max((int(found) for found in _TARGET_PTX.findall(text)), default=_PTX)


def _by_branches(text: str) -> str:
    """The module with branches to come in the place of jump tables, where a function has a switch."""
    return _SWITCHES.sub(_BY_BRANCHES, text) if "\n  switch " in text else text


def terse(text: str) -> str:
    """The module with debug information for `.loc` lines only."""
    for kind in _VERBOSE_KINDS:
        text = text.replace(kind, _DIRECTIVES_ONLY)
    return text


@cache
def _machine(arch: str, version: int) -> Any:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(TRIPLE)
    return target.create_target_machine(cpu=arch, features=f"+ptx{version}", opt=3)


def _number(arch: str) -> int:
    return int(arch[3:].rstrip("af"))


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:400]
