"""Addresses of variables in code, moved to a constant bank of ours.

Machine code may hold the address of a variable in the numbers of its moves. Where variables lie is known
only when a device is open, so such a move reads the address from a bank that is filled in then.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from gevolve.device.sim.machine.cubin import Cubin, Function
from gevolve.device.sim.machine.instruction import Const, Imm, Instruction
from gevolve.errors import UnsupportedError

ADDRESSES = 7
"""The number of the bank; NVIDIA's compilers do not use it."""
F = TypeVar("F", bound=Function)
_HALVES = {0x38: 0, 0x39: 4}
"""Relocations of moves: the lower and the upper half of an address."""


def indirect_addresses(module: Cubin, starts: Mapping[str, int]) -> tuple[Cubin, list[int]]:
    """A module whose code holds no address in a section of `starts`, and the content of the bank."""
    wanted = [
        r
        for r in module.relocations
        if r.symbol.section in starts and r.section.startswith(".text.")
    ]
    if not wanted:
        return module, []
    bank: dict[int, int] = {}
    places: dict[int, Const] = {}
    begin = {
        f".text.{function.name}": function.start
        for function in (*module.kernels.values(), *module.functions.values())
    }
    for relocation in wanted:
        half = _HALVES.get(relocation.type)
        if half is None:
            name = relocation.symbol.name
            raise UnsupportedError(f"sim cannot run machine code with the address of {name} in it")
        address = starts[relocation.symbol.section] + relocation.symbol.value + relocation.addend
        row = bank.setdefault(address, len(bank))
        places[begin[relocation.section] + relocation.offset] = Const(ADDRESSES, 8 * row + half)
    kernels = {name: _moved(kernel, places) for name, kernel in module.kernels.items()}
    functions = {name: _moved(function, places) for name, function in module.functions.items()}
    return replace(module, kernels=kernels, functions=functions), list(bank)


def _moved(function: F, places: Mapping[int, Const]) -> F:
    def one(code: Instruction) -> Instruction:
        place = places.get(code.address)
        if place is None:
            return code
        return replace(
            code, operands=tuple(place if isinstance(x, Imm) else x for x in code.operands)
        )

    return replace(function, instructions=tuple(one(code) for code in function.instructions))
