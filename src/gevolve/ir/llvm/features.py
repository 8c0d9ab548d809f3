"""Counts what an optimized module does (barriers, loads, branches …), by source line."""

from collections import Counter, defaultdict

from gevolve.ir.llvm.codegen import optimise
from gevolve.ir.llvm.dominance import Dominance
from gevolve.ir.llvm.locations import Locations
from gevolve.ir.llvm.model import Instr
from gevolve.ir.llvm.parse import parse

_SPACES = {
    "ptr addrspace(1)": " global",
    "ptr addrspace(3)": " shared",
    "ptr addrspace(5)": " local",
}
_CALLS = (
    ("@llvm.nvvm.barrier", "barrier"),
    ("@llvm.nvvm.bar.", "barrier"),
    ("@llvm.nvvm.atomic", "atomic"),
    ("@llvm.nvvm.shfl", "warp exchange"),
    ("@llvm.nvvm.vote", "warp exchange"),
    ("@llvm.nvvm.match", "warp exchange"),
    ("@llvm.nvvm.redux", "warp exchange"),
    *((f"@llvm.{name}", "function") for name in ("sqrt", "exp", "log", "sin", "cos", "pow")),
    *((f"@llvm.nvvm.{name}", "function") for name in ("sqrt", "rsqrt", "rcp", "ex2", "lg2", "sin")),
    *((f"@llvm.nvvm.{name}", "function") for name in ("cos", "tanh", "div")),
    ("@llvm.", "operation"),
)
"""What a call is, by how the name of its callee begins; the first that fits."""
_DIVISIONS = frozenset({"fdiv", "frem", "sdiv", "udiv", "srem", "urem"})
_FREE = frozenset({"phi", "getelementptr", "bitcast", "addrspacecast", "ret", "unreachable"})
"""Instructions that cost next to nothing."""


def feature_of(instr: Instr) -> str | None:
    """The feature that an instruction is, such as ``barrier``; None if it costs next to nothing."""
    if instr.opcode == "call":
        head = instr.parts[0]
        return next((word for name, word in _CALLS if name in head), "function")
    if instr.opcode in {"atomicrmw", "cmpxchg"}:
        return "atomic"
    if instr.opcode in {"br", "switch"}:
        return "branch" if len(instr.blocks) > 1 else None
    if instr.opcode in {"store", "load"}:
        return instr.opcode
    if instr.opcode in _DIVISIONS:
        return "division"
    return None if instr.opcode in _FREE else "operation"


def memory_space(instr: Instr) -> str:
    """The memory that a load or store works on, if its type tells."""
    kinds = (operand.type for operand in instr.operands)
    return next((_SPACES[kind] for kind in kinds if kind in _SPACES), "")


class FeatureCount:
    """How often each feature occurs in a module once LLVM has optimized it."""

    def __init__(self, text: str) -> None:
        module = parse(optimise(text))
        locations = Locations(module)
        self.count: Counter[str] = Counter()
        self.lines: defaultdict[str, Counter[str]] = defaultdict(Counter)
        """For each feature, how often it comes from each source line."""
        self.spaces: Counter[tuple[str, str]] = Counter()
        """Loads and stores by the memory they work on."""
        self.types: Counter[str] = Counter()
        """Operations, by the type of their result."""
        self.order: list[tuple[str, str, str]] = []
        """All that is done, in order: feature, opcode and line."""
        self.loops: Counter[str] = Counter()
        """Loops, by the line that decides whether to go round again."""
        for function in module.functions:
            dominance = Dominance(function)
            for block in function.blocks:
                for instr in block.body:
                    self._add(instr, str(locations.of(instr) or ""))
                last = block.body[-1]
                if any(dominance.dominates(target, block.id) for target in last.blocks):
                    self.loops[str(locations.of(last) or "")] += 1

    def _add(self, instr: Instr, line: str) -> None:
        word = feature_of(instr)
        self.order.append((word or "address", instr.opcode, line))
        if word is None:
            return
        self.count[word] += 1
        self.lines[word][line] += 1
        if word in {"operation", "division"}:
            self.types[instr.type] += 1
        if word in {"load", "store"}:
            self.spaces[word, memory_space(instr)] += 1
