"""How many registers a thread of PTX needs.

PTX has as many registers as it likes; the machine's compiler, ptxas, decides, and is asked where it is
installed. Elsewhere they are estimated from the values that live at once, without what ptxas makes
again at no cost: parameters, which are operands in constant memory, and constants.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from gevolve.device import ptxas
from gevolve.device.sim.flow import Block, Flow, results, sources
from gevolve.device.sim.ptx import SIZES, Instruction
from gevolve.errors import CompileError, DeviceError

_SPARE = 4
"""Registers that a thread has besides those that hold live values (an estimate)."""


_TARGET = re.compile(r"^\s*\.target\s+sm_(\d+)", re.MULTILINE)


class Registers(NamedTuple):
    """What a thread of a kernel has."""

    number: int
    spilled: int
    """Values that have no register, and wait in local memory."""


@lru_cache(maxsize=16)
def assembled(ptx: str, arch: str) -> Mapping[str, Registers]:
    """The registers of each kernel by `ptxas`, which spills what is more; empty if it cannot tell."""
    target = _TARGET.search(ptx)
    if target and int(target[1]) > int(arch.removeprefix("sm_")):
        ptx = ptxas.retargeted(ptx, arch)
    try:
        kernels = ptxas.assemble(ptx, arch).kernels.items()
    except (CompileError, DeviceError):
        return {}
    return {name: Registers(one.registers, -(-one.spill_stores // 4)) for name, one in kernels}


def pressure_of(flows: Sequence[Flow]) -> list[int]:
    """An estimate of a thread's 32-bit registers in each block, flow after flow.

    Those of functions that call one another add up.
    """
    blocks = [list(map(_most(flow), flow.blocks)) for flow in flows]
    most = [max(own, default=0) for own in blocks]
    others = _SPARE + sum(most)
    return [
        others - highest + live for own, highest in zip(blocks, most, strict=True) for live in own
    ]


class _most:  # noqa: N801  (used as a function)
    """The most registers that live at once in a block."""

    def __init__(self, flow: Flow) -> None:
        kinds = flow.function.registers
        made_again = _made_again(flow)
        self._bits = flow.bit
        self._width = {
            flow.bit[name]: (SIZES[kind] + 3) // 4
            for name, kind in kinds.items()
            if kind != "pred" and name not in made_again
        }

    def __call__(self, block: Block) -> int:
        width, bits = self._width, self._bits
        live = {bit for bit in width if block.live_out >> bit & 1}
        now = sum(width[bit] for bit in live)
        most = now
        for code in reversed(tuple(_all(block))):
            for name in results(code):
                bit = bits.get(name)
                if bit in live and not code.guard:
                    live.discard(bit)
                    now -= width[bit]
            for name in sources(code):
                bit = bits.get(name)
                if bit in width and bit not in live:
                    live.add(bit)
                    now += width[bit]
            most = max(most, now)
        return most


def _all(block: Block) -> Iterator[Instruction]:
    yield from block.code
    if block.end is not None:
        yield block.end


def _made_again(flow: Flow) -> set[str]:
    """Registers that only ever hold parameters, constants or addresses of variables."""
    registers = flow.function.registers
    found: set[str] = set()
    other: set[str] = set()
    for block in flow.blocks:
        for code in _all(block):
            cheap = code.op in {"mov", "cvta"} or (code.op == "ld" and "param" in code.mods)
            reads = [name for name in sources(code) if name in registers]
            cheap = cheap and not code.guard and all(name in found for name in reads)
            cheap = cheap and not any(name.startswith("%tid") for name in sources(code))
            (found if cheap else other).update(results(code))
    return found - other
