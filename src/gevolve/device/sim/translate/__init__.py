"""PTX to host LLVM-IR: one table entry an instruction, one host function a kernel."""

from gevolve.device.sim.translate.kernel import BlockInfo, Kernel, translate

__all__ = ["BlockInfo", "Kernel", "translate"]
