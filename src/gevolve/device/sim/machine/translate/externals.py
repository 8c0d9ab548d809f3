"""Functions that machine code calls and that nobody has linked in: printing, assertions."""

from dataclasses import dataclass

from gevolve.device.sim import layout
from gevolve.device.sim.machine.translate.control import Ends
from gevolve.device.sim.machine.translate.emit import Emitter

_RESULT, _RETURN = 4, 20
"""The registers that hold a function's result and where it returns to."""
_FORMAT, _VALUES = 4, 6
"""Those that hold what is printed: a format, and where the values are."""
_MESSAGE, _FILE, _LINE, _FUNCTION = 4, 6, 8, 10
"""Those that hold what an assertion is about."""


@dataclass(frozen=True, slots=True)
class External:
    """A function by its name; one that nobody knows is a trap for who calls it."""

    name: str

    def run(self, e: Emitter, ends: Ends) -> None:
        """Answer, and return."""
        if self.name == "vprintf":
            to = ends.block_at(e, e.read_wide(_RETURN))
            _tell(e, "gevolve_print", e.read_wide(_FORMAT), e.read_wide(_VALUES))
            e.write(_RESULT, "0")
            ends.go(e, to)
        elif self.name == "__assertfail":
            places = (e.read_wide(register) for register in (_MESSAGE, _FILE, _FUNCTION))
            line = e.op(f"zext i32 {e.read(_LINE)} to i64")
            _tell(e, "gevolve_assert", *places, line)
            ends.go(e, layout.ASSERT)
        else:
            ends.go(e, layout.TRAP)


def _tell(e: Emitter, function: str, *values: str) -> None:
    """Have the runtime write something down."""
    e.declared[function] = f"declare void @{function}(ptr, i64{', i64' * len(values)})"
    given = "".join(f", i64 {value}" for value in values)
    e.do(f"call void @{function}(ptr %w, i64 {e.lane}{given})")
