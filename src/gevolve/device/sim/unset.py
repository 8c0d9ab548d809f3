"""Registers of a PTX module that may be read before anything has written them.

LLVM leaves a register unset where the program has a value that is undefined. On which way through the
kernel it is read, if at all, only a run can tell.
"""

from functools import lru_cache

from gevolve.device.sim.flow import flow_of
from gevolve.device.sim.machine.parts import parts_of
from gevolve.device.sim.parse import parse
from gevolve.device.sim.translate.callgraph import CallGraph


@lru_cache(maxsize=8)
def has_unset_registers(ptx: bytes) -> bool:
    """Whether some way through a function reads a register that it has not written."""
    return any(map(_in_part, parts_of(ptx.decode())))


@lru_cache(maxsize=128)
def _in_part(ptx: str) -> bool:
    """As `has_unset_registers`, of one kernel and what it calls: most variants share most kernels."""
    module = parse(ptx)
    bodies = [one for one in module.functions.values() if one.body is not None]
    return any(
        flow_of(CallGraph(module, one).prepared(one.name)).blocks[0].live_in for one in bodies
    )
