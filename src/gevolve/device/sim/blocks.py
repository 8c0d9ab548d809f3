"""Host code of machine code, a function for each block, which all kernels that have the block share."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from gevolve.device.base import Array
from gevolve.device.sim.host import compile_functions, runtime_function

_MOST = 1024
"""Blocks that are remembered."""
_TABLE = "@targets"
"""What only a kernel with its table of targets shares with others."""
_compiled: dict[bytes, tuple[Any, int]] = {}
"""The engine and the address of each function, by a digest of its text; the last used is the last."""
NO_BLOCKS = np.zeros(1, np.uint64)


@dataclass(frozen=True, slots=True)
class HostCode:
    """Functions of this process that run a kernel."""

    run: int
    """The address of the function that steps a warp through blocks."""
    blocks: Array
    """The addresses of the functions that it calls, by block, if there is one for each."""
    engines: tuple[Any, ...]
    """What owns the code."""


def compile_blocks(bodies: Sequence[str], common: str) -> HostCode:
    """Functions of these texts, which refer to what is `common`; those that are known are not compiled again."""
    keys = [_key(body, common) for body in bodies]
    fresh = {key: body for key, body in zip(keys, bodies, strict=True) if key not in _compiled}
    if fresh:
        named = {f"b{n}": body for n, body in enumerate(fresh.values())}
        functions = (f"define void @{name}(ptr %w) {{\n{body}\n}}" for name, body in named.items())
        engine, addresses = compile_functions("\n".join((common, *functions)), list(named))
        _compiled.update(zip(fresh, ((engine, address) for address in addresses), strict=True))
    for key in keys:
        _compiled[key] = _compiled.pop(key)
    found = [_compiled[key] for key in keys]
    while len(_compiled) > _MOST:
        del _compiled[next(iter(_compiled))]
    return HostCode(
        runtime_function("gevolve_run_blocks"),
        np.array([address for _, address in found], np.uint64),
        tuple({id(engine): engine for engine, _ in found}.values()),
    )


def _key(body: str, common: str) -> bytes:
    return sha256(f"{body}{common if _TABLE in body else ''}".encode()).digest()
