"""PTX to host LLVM-IR: one table entry an instruction, one host function a kernel."""

# each of these enters its instructions into the table
from gevo.device.sim.translate import bits, compare, convert, floating, integer, memory
from gevo.device.sim.translate.kernel import BlockInfo, Kernel, translate

__all__ = [
    *("BlockInfo", "Kernel", "translate"),
    *("bits", "compare", "convert", "floating", "integer", "memory"),
]
