"""Which memory an address belongs to, and which accesses go to the same address, as far as the text shows."""

from collections.abc import Callable

from gevolve.ir.llvm.index import LlvmIndex
from gevolve.ir.llvm.model import Instr

DEEP = 6
"""How many address computations are looked through to see that two addresses are one."""


def is_load(instr: Instr) -> bool:
    return instr.opcode == "load" and not instr.parts[0].startswith(
        ("load volatile", "load atomic")
    )


def is_store(instr: Instr) -> bool:
    plain = not instr.parts[0].startswith(("store volatile", "store atomic"))
    return instr.opcode == "store" and plain


def is_access(instr: Instr) -> bool:
    return is_load(instr) or is_store(instr)


def value_type(access: Instr) -> str:
    """The type of what a load or a store moves."""
    return access.type if access.opcode == "load" else access.operands[0].type


def roots(get: Callable[[str], Instr | None], address: str) -> set[str]:
    """What an address is computed from: arguments, globals, allocations, results of loads and calls."""
    found: set[str] = set()
    seen: set[str] = set()
    front = [address]
    while front:
        value = front.pop()
        if value in seen:
            continue
        seen.add(value)
        instr = get(value[1:]) if value.startswith("%") else None
        if instr is None:
            found.add(value)
        elif instr.opcode in ("getelementptr", "addrspacecast", "bitcast", "freeze"):
            front.append(instr.operands[0].value)
        elif instr.opcode in ("phi", "select"):
            front += [operand.value for operand in instr.operands if operand.type == instr.type]
        else:
            found.add(value)
    return found


def is_global(get: Callable[[str], Instr | None], access: Instr) -> bool:
    """Whether a load or a store may work on global memory: not on an array that is shared or local."""
    for root in roots(get, access.operands[-1].value):
        origin = get(root[1:]) if root.startswith("%") else None
        if "addrspace(3)" in root or (origin is not None and origin.opcode == "alloca"):
            return False
    return access.operands[-1].type in ("ptr", "ptr addrspace(1)")


def address_text(get: Callable[[str], Instr | None], value: str, deep: int = DEEP) -> str:
    """An address in a form in which equal computations have equal texts."""
    instr = get(value[1:]) if value.startswith("%") else None
    if instr is None or deep == 0 or instr.opcode not in PURE:
        return value
    words: list[str] = []
    for part, operand in zip(instr.parts, instr.operands, strict=False):
        words.append(part.replace("inbounds ", "").replace("nuw ", "").replace("nsw ", ""))
        words.append(address_text(get, operand.value, deep - 1))
    return "(" + instr.opcode + "".join(words) + ")"


def is_shared(get: Callable[[str], Instr | None], access: Instr) -> bool:
    """Whether a load or a store works on a shared array."""
    return any("addrspace(3)" in root for root in roots(get, access.operands[-1].value))


class Addresses:
    """Which accesses of the unedited program go to the same address, as far as the text shows."""

    def __init__(self, index: LlvmIndex) -> None:
        self._index = index
        self._by_address: dict[tuple[str, str], list[str]] = {}
        for instr in index.instr.values():
            if is_access(instr):
                key = (value_type(instr), address_text(index.instr.get, instr.operands[-1].value))
                self._by_address.setdefault(key, []).append(instr.id)

    def nearest_access(self, load: Instr) -> str | None:
        """The last access of this address that every path to the load has passed."""
        index, home = self._index, self._index.block_of[load.id]
        dominance = index.dominance[index.function_of[home]]
        key = (load.type, address_text(index.instr.get, load.operands[0].value))
        best: str | None = None
        for other in self._by_address[key]:
            block = index.block_of[other]
            same = block == home and index.body[home].index(other) < index.body[home].index(load.id)
            before = same or (block != home and dominance.dominates(block, home))
            if before and (best is None or self._later(other, best)):
                best = other
        return best

    def _later(self, one: str, other: str) -> bool:
        index = self._index
        block, other_block = index.block_of[one], index.block_of[other]
        if block == other_block:
            return index.body[block].index(one) > index.body[block].index(other)
        return index.dominance[index.function_of[block]].dominates(other_block, block)


PURE = frozenset(
    {
        "getelementptr",
        "add",
        "sub",
        "mul",
        "shl",
        "sext",
        "zext",
        "trunc",
        "addrspacecast",
        "or",
        "and",
    }
)
"""Address computations: they only depend on their operands, and cannot fail."""
