"""The layers of `layers.cc` for JAX, with their gradients."""

import ctypes
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np


def _build() -> None:
    """Compile the layers with the compiler that comes with gevolve, and make them known to XLA."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "layers.so"
        options = ["-O3", "-mcpu=native", "-ffast-math", "-fno-finite-math-only", "-std=c++17"]
        source = Path(__file__).with_name("layers.cc")
        command = [sys.executable, "-m", "ziglang", "c++", *options, "-shared", "-fPIC"]
        subprocess.run(
            [*command, f"-I{jax.ffi.include_dir()}", str(source), "-o", str(library)], check=True
        )
        loaded = ctypes.CDLL(str(library))
    for name in ("Depthwise", "DepthwiseGradient", "Norm", "NormGradient"):
        jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(getattr(loaded, name)), platform="cpu")


_build()


def _like(*arrays: Any) -> tuple[Any, ...]:
    return tuple(jax.ShapeDtypeStruct(array.shape, array.dtype) for array in arrays)


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def depthwise(x: Any, w: Any, stride: int) -> Any:
    """Convolve each channel of [n, h, w, c] with its own 3x3 filter."""
    n, height, width, c = x.shape
    shape = jax.ShapeDtypeStruct((n, height // stride, width // stride, c), x.dtype)
    return jax.ffi.ffi_call("Depthwise", shape)(x, w, stride=np.int64(stride))


def _depthwise_forward(x: Any, w: Any, stride: int) -> Any:
    return depthwise(x, w, stride), (x, w)


def _depthwise_backward(stride: int, kept: Any, slope: Any) -> Any:
    call = jax.ffi.ffi_call("DepthwiseGradient", _like(*kept))
    return tuple(call(*kept, slope, stride=np.int64(stride)))


depthwise.defvjp(_depthwise_forward, _depthwise_backward)


@partial(jax.custom_vjp, nondiff_argnums=(3,))
def norm(x: Any, scale: Any, bias: Any, relu: bool) -> Any:
    """Batch normalisation, then ReLU if wanted; with the mean and 1 / deviation that it found."""
    call = jax.ffi.ffi_call("Norm", _like(x, scale, bias))
    return tuple(call(x, scale, bias, relu=np.int64(relu)))


def _norm_forward(x: Any, scale: Any, bias: Any, relu: bool) -> Any:
    y, mean, inverse = norm(x, scale, bias, relu)
    return (y, mean, inverse), (x, scale, bias, mean, inverse)


def _norm_backward(relu: bool, kept: Any, slopes: Any) -> Any:
    x, *rest = kept
    call = jax.ffi.ffi_call("NormGradient", _like(x, rest[0], rest[1]))
    return tuple(call(x, slopes[0], *rest, relu=np.int64(relu)))


norm.defvjp(_norm_forward, _norm_backward)
