"""What a program did on the virtual GPU: plain data that one process sends another, and people read."""

import msgspec

from gevolve.device.cost import KernelCost


class Finding(msgspec.Struct, frozen=True):
    """Something that a kernel did and should not do."""

    kind: str
    """Such as ``race``, ``out of bounds`` or ``uninitialised``."""
    kernel: str
    detail: str


class Session(msgspec.Struct, kw_only=True):
    """All that one program did."""

    gpu: str = ""
    clock: float = 1.0
    """MHz."""
    launches: int = 0
    kernels: dict[str, KernelCost] = {}
    """By name, in the order of their first launches."""
    findings: list[Finding] = []
    missing: list[str] = []
    """Functions of the driver that were called and are not there."""

    def microseconds(self, cycles: float) -> float:
        return cycles / self.clock
