"""Source lines of machine code: the line table that ``-lineinfo`` leaves in a cubin."""

from collections.abc import Mapping

from gevolve.device.sim.machine.elf import Elf

Line = tuple[str, int]


def read(file: Elf) -> dict[str, dict[int, Line]]:
    """For each section of code, the lines that begin at its addresses."""
    del file
    return {}


def spread(starts: Mapping[int, Line], count: int) -> list[Line | None]:
    """The line of each of `count` instructions."""
    found: list[Line | None] = []
    line: Line | None = None
    for n in range(count):
        line = starts.get(16 * n, line)
        found.append(line)
    return found
