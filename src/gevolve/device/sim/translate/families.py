"""All families of instructions: importing them fills the table."""

from gevolve.device.sim.translate import bits, compare, convert, floating, integer, memory
from gevolve.device.sim.translate.table import EFFECTS, PURE

__all__ = ["EFFECTS", "FAMILIES", "PURE"]

FAMILIES = (integer, bits, floating, compare, convert, memory)
