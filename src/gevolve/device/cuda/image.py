"""What the driver is given to load.

It is machine code of NVIDIA's assembler where one that knows the GPU is installed: then what runs is
what `sim` judges, and the registers are those that are told. Elsewhere it is PTX, which the driver
compiles itself.
"""

from functools import lru_cache

from gevolve.device.sim import machine
from gevolve.errors import CompileError, DeviceError


@lru_cache(maxsize=8)
def machine_code(ptx: bytes, arch: str) -> bytes | None:
    """The cubin of PTX; None if there is no assembler for it, or if the assembler refuses the PTX.

    Then the driver's compiler gets its turn, and the words for what is wrong are its own.
    """
    try:
        return machine.assemble(ptx.decode(), arch)
    except (CompileError, DeviceError):
        return None
