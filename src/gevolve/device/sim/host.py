"""Turns C and LLVM-IR into functions of this process: builds the runtime once, JITs each kernel.

The runtime is compiled by the clang of the `ziglang` package into the user's cache directory, under
a name that holds the hash of all that went into it; concurrent first uses each build their own and
the last rename wins.
"""

import ctypes
import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import llvmlite.binding  # pyright: ignore[reportMissingTypeStubs]

from gevolve.errors import DeviceError
from gevolve.system import tools

llvm: Any = llvmlite.binding  # llvmlite has no types

DEADLINE = 300.0
_SOURCES = (
    *("sim.h", "trace.c", "exchange.c", "simt.c", "math.c", "machine.c", "print.c", "runtime.c"),
    *("record.h", "record.c", "cells.c", "hazards.c"),
    *("replay.h", "cache.c", "engine.h", "control.c", "warps.c", "lsu.c", "replay.c"),
)
_OPTIONS = (
    *("cc", "-c", "-O2", "-mcpu=baseline", "-fPIC", "-fno-sanitize=all", "-fno-stack-protector"),
    *("-ffp-contract=off", "-frounding-math", "-Wall", "-Wextra", "-Werror"),
)


def compile_function(text: str, name: str) -> tuple[Any, int]:
    """Compile LLVM-IR text for the host: the engine that owns the code, and a function's address."""
    engine, (address,) = compile_functions(text, [name])
    return engine, address


def compile_functions(text: str, names: Sequence[str]) -> tuple[Any, list[int]]:
    """Compile LLVM-IR text for the host: the engine that owns the code, and the addresses of functions."""
    runtime()
    context = llvm.create_context()
    module = llvm.parse_assembly(text, context)
    for function in module.functions:
        if function.is_declaration and function.name.startswith("gevolve_"):
            _link(function.name)
    # An engine that compiles would verify the module twice, and keep it.
    code = _emitter().emit_object(module)
    module.close()
    del context
    engine = _loaded(code)
    return engine, [engine.get_function_address(name) for name in names]


def _loaded(code: bytes) -> Any:
    """An engine that holds the functions of an object file."""
    # The engine owns its target machine, so each needs its own. Its empty module is in LLVM's global context:
    # the garbage collector might end one of our own before the engine.
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


@cache
def _emitter() -> Any:
    """What compiles for the host.

    Without optimisation LLVM's fast instruction selection is used, which is six times as quick and costs little at
    run time.
    """
    return _machine()


@cache
def _link(name: str) -> None:
    llvm.add_symbol(name, runtime().get_function_address(name))


def runtime_function(name: str) -> int:
    """The address of a function of the C runtime."""
    return runtime().get_function_address(name)


def _machine() -> Any:
    cpu, features = _cpu()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=cpu, features=features, opt=0, jit=True)


@cache
def _cpu() -> tuple[str, str]:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@cache
def runtime() -> Any:
    """The engine that holds the compiled runtime."""
    if sys.platform != "linux" or sys.maxsize < 1 << 32:
        raise DeviceError("sim needs 64-bit Linux; use another device")
    # Generated code and the runtime call libm by name.
    ctypes.CDLL("libm.so.6", mode=ctypes.RTLD_GLOBAL)
    return _loaded(runtime_object())


@cache
def runtime_object() -> bytes:
    """The compiled runtime, from the user's cache if it is there."""
    folder = resources.files("gevolve.device.sim") / "runtime"
    sources = {name: (folder / name).read_bytes() for name in _SOURCES}
    made_of = (*sources.values(), *map(str.encode, _OPTIONS), metadata.version("ziglang").encode())
    digest = sha256(b"\0".join((*made_of, platform.machine().encode()))).hexdigest()[:24]
    kept = cache_folder() / f"sim-{digest}.o"
    try:
        return kept.read_bytes()
    except OSError:
        return _build(sources, kept)


def cache_folder() -> Path:
    """Where what is slow to make is kept for other processes."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "gevolve"


def _build(sources: dict[str, bytes], kept: Path) -> bytes:
    with tempfile.TemporaryDirectory(prefix="gevolve-") as name:
        folder = Path(name)
        for source, text in sources.items():
            (folder / source).write_bytes(text)
        made = folder / "runtime.o"
        command = [sys.executable, "-m", "ziglang", *_OPTIONS, "runtime.c", "-o", made.name]
        zig = {f"ZIG_{scope}_CACHE_DIR": str(folder / "zig") for scope in ("GLOBAL", "LOCAL")}
        try:
            done = tools.run(command, seconds=DEADLINE, folder=folder, environment=zig)
        except tools.ToolTimeoutError as late:
            raise DeviceError(f"the C runtime of sim did not compile: {late}; try again") from None
        if done.status or not made.exists():
            words = " ".join(done.said.split())[:400]
            raise DeviceError(f"the C runtime of sim did not compile; reinstall ziglang: {words}")
        content = made.read_bytes()
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=kept.parent, delete=False) as fresh:
            fresh.write(content)
        Path(fresh.name).rename(kept)
    except OSError:
        pass  # nowhere to keep it: it is built again next time
    return content
