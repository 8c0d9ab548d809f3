"""Functions that machine code calls and that nobody has linked in: printing, assertions."""

from dataclasses import dataclass

from gevolve.device.sim import layout
from gevolve.device.sim.machine.translate.control import Ends
from gevolve.device.sim.machine.translate.emit import Emitter

_RESULT, _RETURN = 4, 20
"""The registers that hold a function's result and where it returns to."""
_ANSWERS = {"vprintf": 0}
_ENDS = {"__assertfail": layout.ASSERT}


@dataclass(frozen=True, slots=True)
class External:
    """A function by its name; one that nobody knows is a trap for who calls it."""

    name: str

    def run(self, e: Emitter, ends: Ends) -> None:
        """Answer, and return."""
        if self.name not in _ANSWERS:
            ends.go(e, _ENDS.get(self.name, layout.TRAP))
            return
        to = ends.block_at(e, e.read_wide(_RETURN))
        e.write(_RESULT, str(_ANSWERS[self.name]))
        ends.go(e, to)
