"""When two kernels are the same machine code: a digest that forgets the names of registers.

Kernels have one digest if they differ in nothing but the names of registers, predicates, scoreboards and
convergence barriers, the order of operands that may be swapped, what follows the last instruction, and
source lines. Names are given anew in the order of first appearance.

The digest never joins kernels that do different things. Registers that an instruction takes together (a
pair for 64 bits) are renamed together, each keeping its place; instructions that are not known to be
narrow count as taking four. Nothing is renamed where registers have a meaning elsewhere: in a kernel
that calls functions outside of it, or whose instructions take more than four; nor predicates that are read
as a whole.

It does not join kernels whose instructions stand in another order or are scheduled otherwise, whose
groups of registers are put together in another way, or whose swapped operands are both new.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from gevolve.device.sim.machine.cubin import Cubin, Kernel
from gevolve.device.sim.machine.instruction import (
    PT,
    RZ,
    URZ,
    Address,
    Barrier,
    Const,
    Control,
    Imm,
    Instruction,
    Label,
    Operand,
    Pred,
    Reg,
    Scoreboard,
    Special,
    UPred,
    UReg,
)

_NARROW = frozenset(
    {
        *("IADD3", "LOP3", "SHF", "MOV", "SEL", "LEA", "PRMT", "ISETP", "IMNMX", "IABS", "POPC"),
        *("FADD", "FMUL", "FFMA", "FSETP", "FSEL", "FMNMX", "FSET", "FCHK", "SGXT", "BMSK", "FLO"),
        *("BREV", "S2R", "S2UR", "R2UR", "PLOP3", "VOTE", "VOTEU", "EXIT", "BRA", "NOP", "BSSY"),
        *("BSYNC", "BAR", "HADD2", "HMUL2", "HFMA2", "HSETP2", "IMAD", "MUFU", "SHFL", "VOTE"),
        *(
            "LDG",
            "STG",
            "LDS",
            "STS",
            "LDL",
            "STL",
            "LD",
            "ST",
            "LDC",
            "I2F",
            "F2I",
            "I2FP",
            "VIADD",
        ),
        *("UIADD3", "ULOP3", "USHF", "UMOV", "USEL", "ULEA", "UPRMT", "UISETP", "UIMAD", "ULDC"),
    }
)
"""Instructions whose registers are of 32 bits, unless a modifier says otherwise."""
_WIDER = {"64": 2, "WIDE": 2, "HI": 2, "F64": 2, "S64": 2, "U64": 2, "RCP64H": 2, "RSQ64H": 2}
_WHOLE = frozenset({"HGMMA", "IGMMA", "QGMMA", "BGMMA", "WARPGROUP", "UTCHMMA"})
"""Instructions that take more than four registers."""
_ALL = frozenset({"PR", "UPR"})
"""All predicates at once."""
_SWAPPED = {
    **dict.fromkeys(("FADD", "FMUL", "FFMA", "DADD", "DMUL", "DFMA", "IMAD", "HADD2", "HMUL2"), 2),
    "IADD3": 3,
}
"""How many sources, the first ones, may change places."""


def module_fingerprint(module: Cubin) -> str:
    """A digest of all that a module's kernels run and read.

    Functions with a place of their own are in it, register by register, if any kernel can get there:
    the assembler leaves some in a module that nothing calls.
    """
    digest = hashlib.sha256(module.arch.encode())
    for name, kernel in sorted(module.kernels.items()):
        digest.update(f"{name} {fingerprint(kernel)}\n".encode())
    if any(
        kernel.calls or any(map(_leaves, kernel.instructions)) for kernel in module.kernels.values()
    ):
        for name, function in sorted(module.functions.items()):
            names = _Names((), fixed=True)
            digest.update(
                f"{name} {function.start} {function.registers} {function.stack}\n".encode()
            )
            for instruction in _without_padding(function.instructions):
                digest.update(names.text(instruction, function.start).encode())
    for name, data in sorted(module.data.items()):
        digest.update(name.encode() + b"\0" + data)
    return digest.hexdigest()


def fingerprint(kernel: Kernel) -> str:
    """A digest of a kernel's machine code that does not depend on names; see the module."""
    code = _without_padding(kernel.instructions)
    names = _Names(code, fixed=bool(kernel.calls))
    digest = hashlib.sha256()
    about = (
        kernel.registers,
        kernel.shared,
        kernel.local,
        kernel.parameters,
        kernel.parameter_base,
        kernel.barriers,
        kernel.max_threads,
        [(bank, held) for bank, held in sorted(kernel.constants.items()) if bank],
        sorted(kernel.calls),
    )
    digest.update(repr(about).encode())
    for instruction in code:
        digest.update(names.text(instruction, kernel.start).encode())
    return digest.hexdigest()


def _without_padding(code: tuple[Instruction, ...]) -> tuple[Instruction, ...]:
    """Without the fill at the end: NOPs after a jump to itself, which is never reached."""
    end = len(code)
    while end and code[end - 1].opcode == "NOP":
        end -= 1
    if end and code[end - 1].opcode == "BRA" and code[end - 1].guard is None:
        last = code[end - 1]
        if last.operands == (Label(last.address),):
            end -= 1
    return code[:end]


@lru_cache(maxsize=1 << 12)
def _width(opcode: str, modifiers: tuple[str, ...]) -> int:
    """How many registers an instruction may take where it names one, other than in an address."""
    if opcode.startswith("D"):
        return 2
    if opcode not in _NARROW or "128" in modifiers:
        return 4
    return max((_WIDER.get(modifier, 1) for modifier in modifiers), default=1)


class _Names:
    """New names for all that has one.

    Instructions share their operands and schedules, so what was made of one is kept under its identity, as long
    as the code lives that it is part of.
    """

    def __init__(self, code: Sequence[Instruction], *, fixed: bool) -> None:
        self._code = code
        operands = {id(o): o for i in code for o in i.operands}
        self._fixed = fixed or any(i.opcode in _WHOLE or _leaves(i) for i in code)
        whole = any(isinstance(o, Special) and o.name in _ALL for o in operands.values())
        self._fixed_predicates = self._fixed or whole
        self._groups: dict[tuple[str, int], tuple[str, int]] = {}
        self._given: dict[tuple[str, int], int] = {}
        self._counts: dict[str, int] = {}
        self._texts: dict[int, str] = {}
        self._schedules: dict[int, tuple[int, bool, list[int | None], list[int]]] = {}
        registers = {key: tuple(_registers(o)) for key, o in operands.items()}
        taken = {
            (*register, 2 if isinstance(o, Address) else _width(i.opcode, i.modifiers))
            for i in code
            for o in i.operands
            for register in registers[id(o)]
        }
        for kind, index, width in sorted(taken):
            self._join(kind, index, width)

    def _leader(self, register: tuple[str, int]) -> tuple[str, int]:
        while (up := self._groups.get(register, register)) != register:
            register = up
        return register

    def _join(self, kind: str, index: int, width: int) -> None:
        """Registers that may be taken together, which are aligned, get one leader: the lowest."""
        first = index // width * width
        for other in range(first, first + width):
            one, two = sorted((self._leader((kind, first)), self._leader((kind, other))))
            self._groups[two] = one

    def register(self, kind: str, index: int) -> str:
        """The new name of a register: its group's, and its place in the group."""
        if self._fixed:
            return f"{kind}{index}"
        leader = self._leader((kind, index))
        return f"{kind}{self._number(*leader)}:{index - leader[1]}"

    def predicate(self, kind: str, index: int) -> str:
        if index == PT or self._fixed_predicates:
            return f"{kind}={index}"
        return f"{kind}{self._number(kind, index)}"

    def _number(self, kind: str, index: int) -> int:
        key = kind, index
        if key not in self._given:
            self._given[key] = self._counts.get(kind, 0)
            self._counts[kind] = self._given[key] + 1
        return self._given[key]

    def known(self, operand: Operand) -> tuple[str, str]:
        """By what operands that may be swapped are sorted; those without a name yet keep their order."""
        found = self._texts.get(id(operand))
        if found is not None:
            return ("", found)
        parts = _registers(operand)
        if not self._fixed and any(self._leader(p) not in self._given for p in parts):
            return ("~", "")
        return ("", self._operand(operand, 0))

    def operand(self, operand: Operand, start: int) -> str:
        """An operand in new names."""
        found = self._texts.get(id(operand))
        if found is None:
            found = self._texts[id(operand)] = self._operand(operand, start)
        return found

    def _operand(self, operand: Operand, start: int) -> str:
        match operand:
            case Reg() | UReg():
                kind = type(operand).__name__
                zero = URZ if isinstance(operand, UReg) else RZ
                name = "Z" if operand.index == zero else self.register(kind, operand.index)
                signs = (operand.negate, operand.absolute, operand.invert, operand.part)
                return f"{name}{signs}"
            case Pred() | UPred():
                return f"{self.predicate(type(operand).__name__, operand.index)}{operand.negate}"
            case Barrier():
                return f"B{self._number('Barrier', operand.index)}"
            case Scoreboard():
                return f"SB{self._number('Scoreboard', operand.index)}"
            case Label():
                return f"L{operand.address - start}"
            case Const(register=held) if held is not None:
                return f"{_rest(operand)}{self.operand(held, start)}"
            case Address():
                held = [
                    None if index is None or index == zero else self.register(kind, index)
                    for kind, zero, index in (
                        ("Reg", RZ, operand.register),
                        ("UReg", URZ, operand.uniform),
                    )
                ]
                return f"{_rest(operand)}{held}"
            case _:
                return _rest(operand)

    def text(self, instruction: Instruction, start: int) -> str:
        """An instruction in new names."""
        operands = list(instruction.operands)
        if count := _SWAPPED.get(instruction.opcode, 0):
            first = next(
                (n for n, o in enumerate(operands[1:], 1) if not isinstance(o, Pred | UPred)), 0
            )
            sources = operands[first : first + count]
            if first and len(sources) == count and _swappable(instruction):
                operands[first : first + count] = sorted(sources, key=self.known)
        guard = instruction.guard
        schedule = self._schedule(instruction.control)
        parts = (
            self.operand(guard, start) if guard else "",
            instruction.opcode,
            instruction.modifiers,
            [self.operand(operand, start) for operand in operands],
            schedule,
        )
        return f"{parts}\n"

    def _schedule(self, control: Control) -> tuple[int, bool, list[int | None], list[int]]:
        found = self._schedules.get(id(control))
        if found is None:
            boards = [
                None if board is None else self._number("Scoreboard", board)
                for board in (control.write, control.read)
            ]
            waits = sorted(self._number("Scoreboard", n) for n in range(6) if control.wait >> n & 1)
            found = control.stall, control.yields, boards, waits
            self._schedules[id(control)] = found
        return found


def _leaves(instruction: Instruction) -> bool:
    """Whether it calls what a pointer names, which is not in the kernel."""
    return instruction.opcode == "CALL" and any(
        isinstance(o, Reg | UReg) for o in instruction.operands
    )


@lru_cache(maxsize=1 << 14)
def _rest(operand: Operand) -> str:
    """The text of an operand without the registers in it."""
    match operand:
        case Const():
            return repr(replace(operand, register=None))
        case Address():
            return repr(replace(operand, register=None, uniform=None, descriptor=None))
        case _:
            return repr(operand)


def _swappable(instruction: Instruction) -> bool:
    """Whether sources may change places: not with halves of a pair, nor where one is an immediate pair."""
    halves = any(isinstance(o, Imm) and o.kind == "f16" for o in instruction.operands)
    return not halves and not {"X", "HI"} & set(instruction.modifiers)


def _registers(operand: Operand) -> Iterator[tuple[str, int]]:
    """Registers that an operand names, by kind and number; zero registers are none.

    Descriptors are left out: they name no address, and the code that loads them stands for them.
    """
    match operand:
        case Reg(index=index) if index != RZ:
            yield "Reg", index
        case UReg(index=index) if index != URZ:
            yield "UReg", index
        case Const(register=held) if held is not None:
            yield from _registers(held)
        case Address(register=register, uniform=uniform):
            if register is not None and register != RZ:
                yield "Reg", register
            if uniform is not None and uniform != URZ:
                yield "UReg", uniform
        case _:
            pass
