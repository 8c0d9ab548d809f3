"""The objects that a program has handles of: contexts, streams, events, modules, kernels, graphs, pools."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gevolve.device.virtual.codes import Code
from gevolve.device.virtual.wire import HostCall

if TYPE_CHECKING:
    from gevolve.device.sim.buffer import Memory
    from gevolve.device.sim.gpu import SimGpu
    from gevolve.device.sim.machine.program import MachineKernel, MachineProgram

Action = Callable[[], HostCall | None]
"""Work on a stream; it may leave a function of the program to be called."""


@dataclass(slots=True, eq=False)
class Thing:
    """Anything with a handle."""

    handle: int = 0


@dataclass(slots=True, eq=False)
class Context(Thing):
    flags: int = 0
    primary: bool = False
    active: bool = True
    """The primary context of a device is there for ever, and comes and goes."""
    broken: Code | None = None
    """What a kernel did that ended the context: every later call says so."""
    limits: dict[int, int] = field(default_factory=dict[int, int])


@dataclass(slots=True, eq=False)
class Node(Thing):
    """One piece of work in a graph."""

    kind: int = 0
    """The number of `CUgraphNodeType`."""
    action: Action | None = None
    after: "list[Node]" = field(default_factory=list["Node"])
    graph: "Graph | None" = None
    about: Any = None
    """What it works on: an event, a graph."""
    origin: "Node | None" = None
    """What it is a copy of, in a graph that is made ready to launch."""


@dataclass(slots=True, eq=False)
class Graph(Thing):
    nodes: list[Node] = field(default_factory=list[Node])


@dataclass(slots=True, eq=False)
class GraphExec(Thing):
    """A graph made ready to launch: its work in order."""

    nodes: list[Node] = field(default_factory=list[Node])


@dataclass(slots=True, eq=False)
class Capture:
    """What streams record into a graph instead of doing it."""

    graph: Graph
    origin: "Stream"
    number: int
    broken: bool = False


@dataclass(slots=True, eq=False)
class Stream(Thing):
    context: Context | None = None
    flags: int = 0
    priority: int = 0
    capture: Capture | None = None
    last: list[Node] = field(default_factory=list[Node])
    """What the next work comes after, while it is captured."""


@dataclass(slots=True, eq=False)
class Event(Thing):
    flags: int = 0
    position: int | None = None
    """How many launches came before it; None if it was never recorded."""
    captured: tuple[Capture, list[Node]] | None = None


@dataclass(slots=True, eq=False)
class Module(Thing):
    program: "MachineProgram | None" = None
    memory: "Memory | None" = None
    gpu: "SimGpu | None" = None
    place: int = 0
    functions: "dict[str, Function]" = field(default_factory=dict[str, "Function"])


@dataclass(slots=True, eq=False)
class Function(Thing):
    """A kernel of a loaded module."""

    module: Module = field(default_factory=Module)
    name: str = ""
    most_dynamic: int = 0
    """Bytes of shared memory that a launch may ask for."""
    carveout: int = -1

    @property
    def kernel(self) -> "MachineKernel":
        assert self.module.program is not None
        return self.module.program.kernels[self.name]


@dataclass(slots=True, eq=False)
class Pool(Thing):
    attributes: dict[int, int] = field(default_factory=dict[int, int])


@dataclass(frozen=True, slots=True)
class Options:
    """What a program asks of the compiler."""

    log: int = 0
    """Where errors are written."""
    room: int = 0
    """How many bytes are there for them."""
    registers: int = 0
    """The most that a thread may have; 0 for no limit."""


@dataclass(slots=True, eq=False)
class Linker(Thing):
    """Pieces of code that become one cubin."""

    pieces: list[tuple[int, bytes]] = field(default_factory=list[tuple[int, bytes]])
    options: Options = field(default_factory=Options)
    made: int = 0
    """Where the program finds the cubin."""


KINDS: dict[str, type[Thing]] = {
    "c": Context,
    "s": Stream,
    "e": Event,
    "m": Module,
    "f": Function,
    "g": Graph,
    "v": Node,
    "x": GraphExec,
    "o": Pool,
    "l": Linker,
}
"""The objects by their kind in the table of calls."""
