"""Addresses put where the assembler left them open: calls, variables and tables of function pointers."""

from gevolve.device.sim.machine.elf import Relocation
from gevolve.errors import UnsupportedError

_WORD = 16
_DATA = {1: 4, 2: 8, 3: 4, 4: 8}
"""Kinds that fill whole bytes, and how many; 3 and 4 want the address in the generic space."""
_LOW, _HIGH = 0x38, 0x39
"""Half of an address as the immediate of a move."""
_CALL, _FAR_CALL = 0x3A, 0x4B
"""The target of a call, before sm_90 and from it on."""


def relocate(data: bytearray, relocation: Relocation, address: int) -> None:
    """Fills the place that one relocation names with an address, which includes the addend."""
    at, kind = relocation.offset, relocation.type
    if kind in _DATA:
        size = _DATA[kind]
        data[at : at + size] = (address & (1 << 8 * size) - 1).to_bytes(size, "little")
        return
    if kind == _LOW:
        fields = ((32, 32, address),)
    elif kind == _HIGH:
        fields = ((32, 32, address >> 32),)
    elif kind == _CALL:
        fields = ((34, 47, address >> 2),)
    elif kind == _FAR_CALL:
        fields = ((16, 8, address >> 2), (34, 47, address >> 10))
    else:
        raise UnsupportedError(
            f"the cubin has a relocation of kind {kind:#x} ({relocation.symbol.name} in "
            f"{relocation.section}), which is not known"
        )
    word = int.from_bytes(data[at : at + _WORD], "little")
    for low, width, value in fields:
        mask = (1 << width) - 1
        word = word & ~(mask << low) | (value & mask) << low
    data[at : at + _WORD] = word.to_bytes(_WORD, "little")
