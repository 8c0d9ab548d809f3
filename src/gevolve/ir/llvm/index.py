"""What edits need to look up in a module, computed once when it is loaded."""

import re
from collections import Counter

from gevolve.ir.llvm.dominance import Dominance
from gevolve.ir.llvm.model import Instr, LlvmFunction, LlvmModule

CONSTANTS = 24
"""How many of a function's constants of one type repair can choose from: the most used ones."""
FLOATS = frozenset({"half", "bfloat", "float", "double"})


class LlvmIndex:
    """Ids to instructions, blocks, functions, users and constants of the unedited module."""

    def __init__(self, module: LlvmModule) -> None:
        self.functions = module.functions
        self.instr: dict[str, Instr] = {}
        self.block_of: dict[str, str] = {}
        """The block of each instruction."""
        self.body: dict[str, tuple[str, ...]] = {}
        """The instructions of each block."""
        self.text: dict[str, str] = {}
        """The printed body of each block."""
        self.function_of: dict[str, int] = {}
        """The number of the function of each block and argument."""
        self.users: dict[str, tuple[str, ...]] = {}
        """The instructions that use each value."""
        self.arg_type: dict[str, str] = {}
        self.values_by_type: dict[str, dict[str, tuple[str, ...]]] = {}
        """The values that each block defines, by type, in order."""
        self.dominance: list[Dominance] = []
        """The dominator tree of each function."""
        self.args: list[dict[str, list[str]]] = []
        """The arguments of each function, by type."""
        self._constants: list[dict[str, tuple[str, ...]]] = []
        users: dict[str, dict[str, None]] = {}
        for number, function in enumerate(self.functions):
            self._add(number, function, users)
        self.users = {value: tuple(found) for value, found in users.items()}
        self.reachable = _reachable(self.functions)
        """Of each function, those that it may call, directly or not, and itself."""
        plain = "\n".join(chunk for chunk in module.chunks if isinstance(chunk, str))
        self.plain = plain
        """The text outside of functions: globals, declarations, metadata."""
        self.declared = frozenset(re.findall(r"^declare .*?@([-\w$.]+)\(", plain, re.MULTILINE))
        """The functions that the module declares without defining them."""
        numbers = re.findall(r"^!(\d+) = ", plain, re.MULTILINE)
        self.next_metadata = 1 + max(map(int, numbers), default=-1)
        """The first number that no metadata node has."""

    def _add(self, number: int, function: LlvmFunction, users: dict[str, dict[str, None]]) -> None:
        by_type: dict[str, list[str]] = {}
        for arg, kind in function.args:
            by_type.setdefault(kind, []).append(arg)
            self.arg_type[arg] = kind
            self.function_of[arg] = number
        self.args.append(by_type)
        self.dominance.append(Dominance(function))
        constants: dict[str, Counter[str]] = {}
        for block in function.blocks:
            self.function_of[block.id] = number
            self.body[block.id] = tuple(instr.id for instr in block.body)
            self.text[block.id] = "\n".join(instr.text for instr in block.body)
            typed: dict[str, list[str]] = {}
            for instr in block.body:
                self.instr[instr.id] = instr
                self.block_of[instr.id] = block.id
                if instr.type != "void":
                    typed.setdefault(instr.type, []).append(instr.id)
                for operand in instr.operands:
                    if operand.local is not None:
                        users.setdefault(operand.local, {})[instr.id] = None
                    elif not operand.fixed and operand.value not in {"undef", "poison"}:
                        constants.setdefault(operand.type, Counter())[operand.value] += 1
            self.values_by_type[block.id] = {kind: tuple(ids) for kind, ids in typed.items()}
        self._constants.append({kind: _pool(kind, found) for kind, found in constants.items()})

    def constants_of(self, function: int, kind: str) -> tuple[str, ...]:
        """Constants of a type: the plainest ones, and those that the function uses most."""
        pool = self._constants[function]
        if kind not in pool:
            pool[kind] = _pool(kind, Counter())
        return pool[kind]


def _pool(kind: str, used: Counter[str]) -> tuple[str, ...]:
    """Zero and one of a type, then the constants that are used most."""
    if kind in FLOATS:
        plain = ("0.000000e+00", "1.000000e+00")
    elif kind == "i1":
        plain = ("false", "true")
    elif kind.startswith("i"):
        plain = ("0", "1")
    elif kind.startswith("ptr"):
        plain = ()
    else:
        plain = ("zeroinitializer",)
    return tuple(dict.fromkeys((*plain, *(text for text, _ in used.most_common(CONSTANTS)))))


def _reachable(functions: tuple[LlvmFunction, ...]) -> list[frozenset[int]]:
    """Which functions each function may reach through calls by name, itself included."""
    numbers = {f"@{function.name}(": number for number, function in enumerate(functions)}
    direct: list[set[int]] = []
    for function in functions:
        found: set[int] = set()
        for block in function.blocks:
            for instr in block.body:
                if instr.opcode == "call":
                    found.update(n for name, n in numbers.items() if name in instr.parts[0])
        direct.append(found)
    reach: list[frozenset[int]] = []
    for number in range(len(functions)):
        seen, stack = {number}, [number]
        while stack:
            for callee in direct[stack.pop()] - seen:
                seen.add(callee)
                stack.append(callee)
        reach.append(frozenset(seen))
    return reach
