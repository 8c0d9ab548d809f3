"""Sources of kernels: ``.cu``, ``.ll`` and ``.bc`` files, read into one canonical LLVM-IR text."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding  # pyright: ignore[reportMissingTypeStubs]

from gevolve.errors import SourceError, UnsupportedError
from gevolve.ir.llvm import names
from gevolve.ir.llvm.arguments import with_names
from gevolve.ir.llvm.clang import compile_cuda
from gevolve.ir.llvm.limits import with_limits

llvm: Any = llvmlite.binding  # llvmlite has no types

_LAYOUT = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
_NAME = r'@("(?:[^"\\]|\\.)*"|[\w.$-]+)'
_DEFINE = re.compile(rf"^define\b(.*?){_NAME}\(", re.MULTILINE)
_DECLARE = re.compile(rf"^declare\b.*?{_NAME}\(", re.MULTILINE)
_CALLED = re.compile(rf"\b(?:call|invoke)\b[^@\n]*?{_NAME}\(")
_HEADING = re.compile(r"\A(; ModuleID = .*\n)?(source_filename = .*\n)?")
_ASM = re.compile(r'\bcall\b.*\basm\b[^"]*"((?:[^"\\]|\\.)*)"')

# What is declared and not defined, and yet fine: the back end or the device answers it.
_ANSWERED = {"vprintf", "__assertfail", "__nvvm_reflect"}
_UNSUPPORTED = (
    (re.compile(r"llvm\.nvvm\.(tex|tld4|txq|suq|suld|sust|texsurf|istypep)\."), "a texture or surface"),
    (re.compile(r"llvm\.nvvm\.(wmma|mma|ldmatrix|stmatrix|wgmma|tcgen05)\."), "tensor cores"),
    (re.compile(r"llvm\.nvvm\.(cp\.async\.bulk|fence\.proxy|cluster|mapa)"), "clusters or bulk copies"),
    (re.compile(r"cudaLaunchDevice|cudaGetParameterBuffer|cudaDeviceSynchronize"), "dynamic parallelism"),
    (re.compile(r"(malloc|free|_Znwm|_Znam|_ZdlPv.*|_ZdaPv.*)$"), "memory allocated by device code"),
)  # fmt: skip
_UNSUPPORTED_ASM = re.compile(
    r"\b(tex|tld4|suld|sust|wmma|mma|ldmatrix|wgmma|tcgen05|cp\.async\.bulk)\."
)


def read(path: Path, clang_options: Sequence[str] = ()) -> str:
    """The canonical LLVM-IR text of a source: what LLVM prints after reading and verifying it."""
    data = _content(path)
    match path.suffix:
        case ".cu":
            compiled = compile_cuda(path.absolute(), clang_options)
            text = _canonical(path, with_names(_canonical(path, with_limits(compiled))))
        case ".ll":
            text = _canonical(path, _decode(path, data))
        case ".bc":
            # Bitcode keeps an order of uses that text does not, and comments show it.
            text = _canonical(path, _canonical(path, data))
        case _:
            raise SourceError(f"{path}: not a source; gevolve reads .cu, .ll and .bc files")
    if not kernels(text):
        raise SourceError(
            f"{path}: no kernel in it; mark one __global__, and instantiate a template "
            "(template __global__ void k<16>(float *);)"
        )
    problem = unsupported(text)
    if problem:
        raise UnsupportedError(f"{path}: {problem}")
    return text


def kernels(text: str) -> list[str]:
    """The names of all kernels that a module defines, as the IR has them."""
    return [_bare(name) for head, name in _DEFINE.findall(text) if " ptx_kernel " in head]


def instances(text: str) -> list[str]:
    """Those of a module's kernels that a template was made into, as a source names them (``gemm<16>``)."""
    readable = [names.demangle(kernel) for kernel in kernels(text)]
    return [name for name in readable if name.endswith(">") and "(anonymous" not in name]


def resolve(text: str | Sequence[str], name: str) -> str:
    """The kernel that a person calls `name`, in IR text or in a list of kernels."""
    return names.resolve(kernels(text) if isinstance(text, str) else text, name)


def unsupported(text: str) -> str | None:
    """One line that names something in the module that gevolve cannot run; None if all can."""
    undefined = {_bare(name) for name in _DECLARE.findall(text)} - _ANSWERED
    for function, line in _calls(text):
        called = _CALLED.search(line)
        name = _bare(called[1]) if called else ""
        for pattern, what in _UNSUPPORTED:
            if name in undefined and pattern.match(name):
                return f"{function} uses {what} ({name}), which gevolve cannot run"
        if name in undefined and not name.startswith("llvm."):
            remedy = (
                "compile without -nocudalib"
                if name.startswith("__nv_")
                else "link the module that has it (llvm-link)"
            )
            return f"{function} calls {names.demangle(name)}, which is declared only; {remedy}"
        asm = _ASM.search(line)
        special = _UNSUPPORTED_ASM.search(asm[1]) if asm else None
        if special:
            return f"{function} uses {special[1]} in inline assembly, which gevolve cannot run"
    return None


def _calls(text: str) -> Iterator[tuple[str, str]]:
    """Every line with a call, and the readable name of the function that it is in."""
    function = ""
    for line in text.splitlines():
        if line.startswith("define"):
            head = _DEFINE.match(line)
            function = names.demangle(_bare(head[2])) if head else ""
        elif "call" in line:
            yield function, line


def _content(path: Path) -> bytes:
    if path.is_dir():
        raise SourceError(f"{path}: a folder; name the .cu, .ll or .bc file in it")
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise SourceError(f"{path}: no such file; check `source` and the folder") from None
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({error.strerror}); check the file") from None
    if not data.strip():
        raise SourceError(f"{path}: the file is empty; it should hold a kernel")
    return data


def _decode(path: Path, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        hint = "; it looks like bitcode: rename it to .bc" if data[:2] == b"BC" else ""
        raise SourceError(f"{path}: not LLVM-IR text{hint}") from None


def _canonical(path: Path, source: str | bytes) -> str:
    """What LLVM prints after reading and verifying a module for NVPTX."""
    _start()
    parse = llvm.parse_bitcode if isinstance(source, bytes) else llvm.parse_assembly
    try:
        # Closed before an error can leave: a module must not outlive its context.
        with parse(source, llvm.create_context()) as module:
            module.verify()
            triple = str(module.triple)
            # Older compilers wrote layouts that differ only in what NVPTX has gained since.
            module.data_layout = _LAYOUT
            text = str(module)
    except RuntimeError as error:
        version = ".".join(map(str, llvm.llvm_version_info))
        why = " ".join(str(error).replace("<string>:", "line ").split())
        raise SourceError(
            f"{path}: not LLVM-IR that LLVM {version} can read: {why[:300]}"
        ) from None
    if not triple.startswith("nvptx64"):
        raise SourceError(
            f"{path}: made for {triple or 'no target'}, not for nvptx64-nvidia-cuda; compile the "
            "device side (clang++ --cuda-device-only -S -emit-llvm)"
        )
    # Neither the file's name nor its folder is part of the program.
    return _HEADING.sub("", text)


def _bare(name: str) -> str:
    return name.strip('"')


@cache
def _start() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
