"""All families of instructions: importing them fills the table."""

from gevolve.device.sim.machine.translate import (
    atomic,
    bits,
    convert,
    floating,
    half,
    integer,
    memory,
    move,
)
from gevolve.device.sim.machine.translate.table import TABLE

__all__ = ["FAMILIES", "TABLE"]

FAMILIES = (integer, bits, move, floating, half, convert, memory, atomic)
