"""Where a thread goes next: branches, calls, returns, barriers of lanes and of blocks."""

from collections.abc import Mapping

from gevolve.device.sim import layout
from gevolve.device.sim.machine.instruction import (
    Barrier,
    Imm,
    Instruction,
    Label,
    Operand,
    Pred,
    Reg,
    UPred,
    UReg,
)
from gevolve.device.sim.machine.translate.emit import UNIFORM, Emitter
from gevolve.device.sim.machine.translate.move import barrier

BRANCHES = frozenset(
    {"BRA", "BRX", "BRXU", "JMP", "JMX", "JMXU", "EXIT", "RET", "CALL", "KILL", "BPT"}
)
WAITS = frozenset({"BAR", "BSYNC", "WARPSYNC"})
CALLS = frozenset({"CALL"})
_DIVERGENCE = frozenset({"DIV", "CONV"})
"""A branch that is taken if lanes are missing, or if none is."""
_INDIRECT = frozenset({"BRX", "BRXU", "JMX", "JMXU", "RET"})


def ends_block(code: Instruction) -> bool:
    """Whether an instruction needs the scheduler."""
    return code.opcode in BRANCHES or code.opcode in WAITS


def is_indirect(code: Instruction) -> bool:
    """Whether an instruction goes where a register says."""
    if code.opcode in _INDIRECT:
        return True
    return code.opcode == "CALL" and any(isinstance(x, (Reg, UReg)) for x in code.operands)


def label_of(code: Instruction) -> int | None:
    """The address that a branch or call names, if that is where it goes."""
    if code.opcode not in {"BRA", "CALL", "JMP"} or is_indirect(code):
        return None
    last = code.operands[-1] if code.operands else None
    return last.address if isinstance(last, Label) else None


def falls_through(code: Instruction) -> bool:
    """Whether the next instruction may follow; after a call it does, once that returns."""
    if code.opcode in WAITS or code.opcode == "CALL" or code.guard is not None:
        return True
    if code.opcode == "BRA":
        return len(code.operands) > 1 or bool(_DIVERGENCE & set(code.modifiers))
    return code.opcode not in BRANCHES


class Ends:
    """Translates the ends of blocks; `numbers` are blocks by the address of their first instruction."""

    def __init__(self, numbers: Mapping[int, int], base: int) -> None:
        self.numbers = numbers
        self.base = base
        self.indirect = False

    def go(self, e: Emitter, to: int | str) -> None:
        e.put(layout.PC, str(to))

    def end(self, e: Emitter, code: Instruction, after: int) -> tuple[str, bool]:
        """Say where the thread goes; the runtime's word for how the block ends, and whether a guard decides."""
        if code.opcode in WAITS:
            return self._wait(e, code, after)
        to = self._target(e, code)
        guard = self._condition(e, code)
        if guard is not None:
            to = e.op(f"select i1 {guard}, i32 {to}, i32 {after}")
        self.go(e, to)
        return "jump", False

    def _condition(self, e: Emitter, code: Instruction) -> str | None:
        """When a branch is taken; None if always."""
        terms = [e.guard] if e.guard is not None else []
        if code.opcode in {"BRA", "EXIT", "BRX"}:
            terms += [e.truth(x) for x in code.operands if isinstance(x, (Pred, UPred))]
        if code.opcode == "BRA" and _DIVERGENCE & set(code.modifiers):
            apart = self._diverged(e, code)
            # A guard of .DIV says that lanes have unlike masks, which is as good as being apart.
            if terms and "DIV" in code.modifiers:
                terms = [e.op(f"or i1 {terms[0]}, {apart}"), *terms[1:]]
            else:
                terms.append(apart)
        elif code.opcode == "BRA" and any(isinstance(x, (Reg, UReg)) for x in code.operands):
            raise e.unsupported()
        condition = None
        for term in terms:
            condition = term if condition is None else e.op(f"and i1 {condition}, {term}")
        return condition

    def _diverged(self, e: Emitter, code: Instruction) -> str:
        """Whether lanes of a mask that have not left are missing here (.DIV), or none is (.CONV)."""
        named = code.operands[:-1]  # sm_75 names no mask where all lanes are meant
        mask = e.integer(named[-1]) if named else "-1"
        live = e.once(f"load i32, ptr {e.once(f'getelementptr i8, ptr %w, i64 {layout.LIVE}')}")
        here = e.once(f"load i32, ptr {e.once(f'getelementptr i8, ptr %w, i64 {layout.MASK}')}")
        away = e.once(f"and i32 {live}, {e.once(f'xor i32 {here}, -1')}")
        missing = e.op(f"and i32 {mask}, {away}")
        return e.op(f"icmp {'ne' if 'DIV' in code.modifiers else 'eq'} i32 {missing}, 0")

    def _target(self, e: Emitter, code: Instruction) -> str:
        match code.opcode:
            case "EXIT" | "KILL":
                return str(layout.EXIT)
            case "BPT":
                return str(layout.TRAP)
            case _:
                pass
        if is_indirect(code):
            return self._indirect(e, code)
        address = label_of(code)
        if address is None or address not in self.numbers:
            raise e.unsupported()
        return str(self.numbers[address])

    def _indirect(self, e: Emitter, code: Instruction) -> str:
        register = next((x for x in code.operands if isinstance(x, (Reg, UReg))), None)
        if register is None:
            raise e.unsupported()
        index = register.index + (UNIFORM if isinstance(register, UReg) else 0)
        value = e.read_wide(index)
        label = next((x for x in code.operands if isinstance(x, Label)), None)
        if label is not None and label.address:
            value = e.op(f"add i64 {value}, {label.address}")
        return self.block_at(e, value)

    def block_at(self, e: Emitter, address: str) -> str:
        """The block that begins at a computed address; a trap if none does."""
        self.indirect = True
        place = e.op(f"lshr i64 {e.op(f'sub i64 {address}, {self.base}')}, 4")
        known = e.op(f"icmp ult i64 {place}, {self.size}")
        safe = e.op(f"select i1 {known}, i64 {place}, i64 {self.size}")
        return e.op(f"load i32, ptr {e.op(f'getelementptr i32, ptr @targets, i64 {safe}')}")

    @property
    def size(self) -> int:
        """Instructions from the first address to the last block."""
        return (max(self.numbers) - self.base) // 16 + 1

    def table(self) -> str:
        """The blocks by address, for what goes where a register says."""
        rows = [layout.TRAP] * (self.size + 1)
        for address, number in self.numbers.items():
            rows[(address - self.base) // 16] = number
        words = ", ".join(f"i32 {row}" for row in rows)
        return f"@targets = internal constant [{len(rows)} x i32] [{words}]"

    def _wait(self, e: Emitter, code: Instruction, after: int) -> tuple[str, bool]:
        guarded = e.guard is not None
        if guarded:
            e.put(layout.TAKING, e.op(f"zext i1 {e.guard} to i32"))
        self.go(e, after)
        match code.opcode:
            case "BSYNC":
                where = code.operands[-1]
                assert isinstance(where, Barrier)
                e.put(layout.MEMBERS, e.op(f"load i32, ptr {barrier(e, where)}"))
                e.put(layout.SECOND, str(where.index))
                return "converge", guarded
            case "WARPSYNC":
                return self._warp(e, code), guarded
            case _:
                return self._block(e, code), guarded

    def _warp(self, e: Emitter, code: Instruction) -> str:
        """Lanes of a mask wait for each other; .COLLECTIVE names a place to go to, which is the next."""
        mods = set(code.modifiers)
        if "ALL" in mods:
            e.put(layout.MEMBERS, "-1")
        elif mods - {"COLLECTIVE", "EXCLUSIVE"}:
            raise e.unsupported()
        else:
            e.put(layout.MEMBERS, e.integer(code.operands[0]))
        return "warp_sync"

    def _block(self, e: Emitter, code: Instruction) -> str:
        mods = [m for m in code.modifiers if m not in {"DEFER_BLOCKING", "CTA"}]
        numbers = [x for x in code.operands if isinstance(x, (Imm, Reg, UReg))]
        predicates = [x for x in code.operands if isinstance(x, (Pred, UPred))]
        self._number(e, layout.SECOND, numbers[0] if numbers else Imm(0))
        self._number(e, layout.THIRD, numbers[1] if len(numbers) > 1 else Imm(0))
        if mods in (["SYNC"], ["SYNCALL"]):
            return "bar_sync"
        if mods == ["ARV"]:
            return "bar_arrive"
        kind = {"POPC": "bar_popc", "AND": "bar_and", "OR": "bar_or"}.get(mods[-1])
        if mods[0] != "RED" or kind is None or not predicates:
            raise e.unsupported()
        truth = e.truth(predicates[-1])
        e.put(layout.VALUE, e.op(f"zext i1 {truth} to i64"), "i64")
        return kind

    def _number(self, e: Emitter, offset: int, operand: Operand) -> None:
        e.put(offset, e.integer(operand))
