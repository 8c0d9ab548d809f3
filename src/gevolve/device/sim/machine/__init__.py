"""Machine code of NVIDIA GPUs, as data: assembled from PTX, decoded to instructions.

cubin = read(assemble(ptx, "sm_80"))
for instruction in cubin.kernels["saxpy"].instructions: ...
"""

from gevolve.device.sim.machine.assemble import assemble
from gevolve.device.sim.machine.cubin import Cubin, Function, Kernel, Parameter, Variable, read
from gevolve.device.sim.machine.fingerprint import fingerprint
from gevolve.device.sim.machine.instruction import (
    PT,
    RZ,
    URZ,
    Address,
    Barrier,
    Const,
    Control,
    Imm,
    Instruction,
    Label,
    Numbers,
    Operand,
    Pred,
    Reg,
    Scoreboard,
    Special,
    UPred,
    UReg,
)

__all__ = [
    "PT",
    "RZ",
    "URZ",
    "Address",
    "Barrier",
    "Const",
    "Control",
    "Cubin",
    "Function",
    "Imm",
    "Instruction",
    "Kernel",
    "Label",
    "Numbers",
    "Operand",
    "Parameter",
    "Pred",
    "Reg",
    "Scoreboard",
    "Special",
    "UPred",
    "UReg",
    "Variable",
    "assemble",
    "fingerprint",
    "read",
]
