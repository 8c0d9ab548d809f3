"""IREE's compiler as a library: one `Compilation` takes a module through some phases of its pipeline.

It is loaded by the process that serves IREE (`serve.py`) and by no other: it brings an LLVM of its own.
"""

import ctypes
import importlib.util
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from gevolve.errors import MissingPackageError, SourceError

_ERROR = 2
"""The severity of what makes a module be rejected."""
_STANDARD = 0
"""The pipeline from a program to a module."""
_GLOBAL = (b"gevolve", b"--iree-hal-link-executables=false", b"--mlir-disable-threading")
"""Options of the whole process: each kernel stays a module of its own, so that it can be taken out; and there is a process
for each worker, so threads would only get in each other's way.
"""
_PLACE = re.compile(r"^\S+:\d+:\d+: ")
"""Where in a text that nobody sees."""
_DIAGNOSTIC = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)  # fmt: skip


def installed() -> bool:
    """Whether compiler and runtime are there; imports nothing of them."""
    if importlib.util.find_spec("iree") is None:
        return False
    return all(importlib.util.find_spec(f"iree.{part}") for part in ("compiler", "runtime"))


def package_folder() -> Path:
    """Where the compiler is installed."""
    found = importlib.util.find_spec("iree.compiler") if installed() else None
    if found is None or not found.submodule_search_locations:
        raise MissingPackageError("models on iree need IREE", "iree")
    return Path(found.submodule_search_locations[0])


@cache
def _library() -> Any:
    library: Any = ctypes.CDLL(str(package_folder() / "_mlir_libs" / "libIREECompiler.so"))
    for name in ("SessionCreate", "InvocationCreate", "SessionSetFlags", "SourceWrapBuffer"):
        getattr(library, f"ireeCompiler{name}").restype = ctypes.c_void_p
    for name in ("OutputOpenMembuffer", "OutputMapMemory", "InvocationOutputIR"):
        getattr(library, f"ireeCompiler{name}").restype = ctypes.c_void_p
    library.ireeCompilerInvocationOutputVMBytecode.restype = ctypes.c_void_p
    library.ireeCompilerErrorGetMessage.restype = ctypes.c_char_p
    for name in ("InvocationParseSource", "InvocationPipeline"):
        getattr(library, f"ireeCompiler{name}").restype = ctypes.c_bool
    library.ireeCompilerGlobalInitialize()
    words = (ctypes.c_char_p * len(_GLOBAL))(*_GLOBAL)
    library.ireeCompilerSetupGlobalCL(len(_GLOBAL), words, b"gevolve", ctypes.c_bool(False))
    return library


class Compilation:
    """One module on its way through the compiler; a context manager that frees it."""

    def __init__(self, flags: Sequence[str]) -> None:
        self._library = _library()
        self._session = ctypes.c_void_p(self._library.ireeCompilerSessionCreate())
        words = (ctypes.c_char_p * len(flags))(*(flag.encode() for flag in flags))
        self._check(self._library.ireeCompilerSessionSetFlags(self._session, len(flags), words))
        self._made = ctypes.c_void_p(self._library.ireeCompilerInvocationCreate(self._session))
        self._source = ctypes.c_void_p()
        self._errors: list[str] = []
        self._listener = _DIAGNOSTIC(self._hear)
        self._library.ireeCompilerInvocationEnableCallbackDiagnostics(
            self._made, 0, self._listener, None
        )
        # Its own passes are trusted; what comes from outside is verified when it is parsed.
        self._library.ireeCompilerInvocationSetVerifyIR(self._made, ctypes.c_bool(False))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:  # fmt: skip
        self._library.ireeCompilerInvocationDestroy(self._made)
        self._library.ireeCompilerSourceDestroy(self._source)
        self._library.ireeCompilerSessionDestroy(self._session)

    def parse(self, text: bytes) -> None:
        """Read a module."""
        self._text = text  # which the compiler goes on reading
        error = self._library.ireeCompilerSourceWrapBuffer(
            *(self._session, b"program", text, ctypes.c_size_t(len(text))),
            *(ctypes.c_bool(False), ctypes.byref(self._source)),
        )
        self._check(error)
        if not self._library.ireeCompilerInvocationParseSource(self._made, self._source):
            raise self._rejection()

    def run(self, first: str, last: str) -> None:
        """Compile from after one phase to the end of another."""
        self._library.ireeCompilerInvocationSetCompileFromPhase(self._made, first.encode())
        self._library.ireeCompilerInvocationSetCompileToPhase(self._made, last.encode())
        if not self._library.ireeCompilerInvocationPipeline(self._made, _STANDARD):
            raise self._rejection()

    def text(self) -> str:
        """The module as it is now."""
        return self._output(self._library.ireeCompilerInvocationOutputIR).decode()

    def module(self) -> bytes:
        """What IREE's runtime loads, at the end of all phases."""
        return self._output(self._library.ireeCompilerInvocationOutputVMBytecode)

    def _output(self, write: Any) -> bytes:
        library, output = self._library, ctypes.c_void_p()
        self._check(library.ireeCompilerOutputOpenMembuffer(ctypes.byref(output)))
        try:
            self._check(write(self._made, output))
            place, size = ctypes.c_void_p(), ctypes.c_uint64()
            self._check(
                library.ireeCompilerOutputMapMemory(output, ctypes.byref(place), ctypes.byref(size))
            )
            return ctypes.string_at(place.value or 0, size.value)
        finally:
            library.ireeCompilerOutputDestroy(output)

    def _hear(self, severity: int, message: int, size: int, _: int) -> None:
        if severity == _ERROR:
            self._errors.append(ctypes.string_at(message, size).decode(errors="replace"))

    def _rejection(self) -> SourceError:
        """The first error that the compiler has named, in one line."""
        return _rejected(next(iter(self._errors), "it does not say why"))

    def _check(self, error: int | None) -> None:
        if error is None:
            return
        given = ctypes.c_void_p(error)
        words = self._library.ireeCompilerErrorGetMessage(given).decode(errors="replace")
        self._library.ireeCompilerErrorDestroy(given)
        raise _rejected(words)


def _rejected(words: str) -> SourceError:
    words = _PLACE.sub("", words.rpartition("error: ")[2])
    return SourceError(f"IREE does not compile it: {' '.join(words.split())[:300]}")
