"""The math header, compiled for the host and called from NumPy."""

import ctypes
import importlib.util
import subprocess
from functools import cache
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np

import gevolve.ir.llvm

INCLUDE = Path(gevolve.ir.llvm.__file__).parent / "include" / "gevolve"
UNARY = [
    "exp",
    "exp2",
    "exp10",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "sinpi",
    "cospi",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "erf",
    "erfc",
    "normcdf",
    "tgamma",
    "lgamma",
    "cbrt",
    "rcbrt",
    "rsqrt",
    "sqrt",
    "fabs",
    "floor",
    "ceil",
    "trunc",
    "round",
    "rint",
    "logb",
]
BINARY = [
    "pow",
    "atan2",
    "hypot",
    "fmod",
    "remainder",
    "fdim",
    "nextafter",
    "copysign",
    "fmin",
    "fmax",
]
HEADERS = [
    "core",
    "basic",
    "exponential",
    "power",
    "trigonometric",
    "inverse",
    "hyperbolic",
    "special",
    "gamma",
]


def _source() -> str:
    lines = ["#define GEVOLVE_MATH_ON_HOST", "#define GEVOLVE_CONTRACT off"]
    lines += [f'#include "{INCLUDE / "math" / name}.h"' for name in HEADERS]
    for kind, letter in (("float", "f"), ("double", "d")):
        for names, operands, call in (
            (UNARY, "const T *x", "x[i]"),
            (BINARY, "const T *x, const T *y", "x[i], y[i]"),
        ):
            for name in names:
                lines.append(
                    f'extern "C" void {name}_{letter}({operands.replace("T", kind)}, {kind} *out, long n) '
                    f"{{ for (long i = 0; i < n; ++i) out[i] = gevolve_math::{name}({call}); }}"
                )
    return "\n".join(lines)


@cache
def _engine():
    home = Path(importlib.util.find_spec("ziglang").origin).parent
    command = [home / "zig", "clang", "-x", "c++", "-nostdinc", "-S", "-emit-llvm", "-O2", "-fPIC",
               "-ffp-contract=off", "-fno-math-errno", "-fno-vectorize", "-fno-slp-vectorize", "-", "-o", "-"]  # fmt: skip
    done = subprocess.run(command, input=_source(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(done.stdout), machine)
    engine.finalize_object()
    return engine


def call(name: str, *operands: np.ndarray) -> np.ndarray:
    """Apply a function of the header to arrays of float32 or float64."""
    operands = tuple(np.ascontiguousarray(operand) for operand in operands)
    out = np.empty_like(operands[0])
    letter = {"float32": "f", "float64": "d"}[out.dtype.name]
    address = _engine().get_function_address(f"{name}_{letter}")
    pointers = [ctypes.c_void_p] * (len(operands) + 1)
    function = ctypes.CFUNCTYPE(None, *pointers, ctypes.c_long)(address)
    function(*(array.ctypes.data for array in (*operands, out)), out.size)
    return out
