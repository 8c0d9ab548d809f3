"""Exchanges among the lanes that run together: operands out, results back in; the runtime does the rest."""

from gevolve.device.sim import layout
from gevolve.device.sim.machine.instruction import Instruction, Operand, Pred, Reg, UPred, UReg
from gevolve.device.sim.machine.translate.emit import Emitter
from gevolve.device.sim.machine.translate.integer import target
from gevolve.device.sim.translate.exchange import KINDS as SHARED_KINDS

KINDS = (*SHARED_KINDS, "converge")
"""How a block may end, and what lanes may exchange; the order is that of the runtime's `enum kind`."""
_EXCHANGES = frozenset({"SHFL", "VOTE", "VOTEU", "MATCH", "REDUX", "ELECT"})
_SHUFFLES = {"UP": "shfl_up", "DOWN": "shfl_down", "BFLY": "shfl_bfly", "IDX": "shfl_idx"}
_VOTES = {"ALL": "vote_all", "ANY": "vote_any", "EQ": "vote_uni"}


def is_exchange(code: Instruction) -> bool:
    """Whether lanes must meet for it; R2UR with a predicate says whether all have the same value."""
    if code.opcode == "R2UR":
        return isinstance(code.operands[0], Pred)
    return code.opcode in _EXCHANGES


def kind_of(e: Emitter, code: Instruction) -> str:
    """The runtime's word for an exchange."""
    mods = code.modifiers
    name = mods[0] if mods else ""
    match code.opcode:
        case "SHFL":
            found = _SHUFFLES.get(name)
        case "VOTE" | "VOTEU":
            registers, predicates = _targets(code)
            found = _VOTES.get(name)
            if registers and (name != "ANY" or predicates):
                found = None  # both at once
            elif registers:
                found = "vote_ballot"
        case "R2UR":
            found = "match_all"
        case "MATCH":
            found = {"ANY": "match_any", "ALL": "match_all"}.get(name)
        case "REDUX":
            sign = "_s" if "S32" in mods else "_u"
            found = {"": "and", "OR": "or", "XOR": "xor", "SUM": "add", "AND": "and"}.get(name)
            if name in {"MIN", "MAX"}:
                found = f"{name.lower()}{sign}"
            elif name == "S32":
                found = "and"
            found = found and f"redux_{found}"
        case "ELECT":
            found = "elect"
        case _:
            found = None
    if found is None:
        raise e.unsupported()
    return found


def _targets(code: Instruction) -> tuple[list[Operand], list[Operand]]:
    """Registers and predicates that get a result; sources come behind them."""
    results = code.operands[: -3 if code.opcode == "SHFL" else -1]
    registers: list[Operand] = [x for x in results if isinstance(x, (Reg, UReg)) and _real(x)]
    predicates: list[Operand] = [
        x for x in results if isinstance(x, (Pred, UPred)) and x.index != 7
    ]
    return registers, predicates


def _real(operand: Reg | UReg) -> bool:
    return operand.index != (63 if isinstance(operand, UReg) else 255)


def send(e: Emitter, code: Instruction) -> str:
    """Store the operands where the runtime reads them; the call that makes the exchange."""
    kind = kind_of(e, code)
    if e.guard is not None:
        e.put(layout.TAKING, e.op(f"zext i1 {e.guard} to i32"))
    match code.opcode:
        case "SHFL":
            _, _, value, where, rest = code.operands
            e.put(layout.VALUE, e.op(f"zext i32 {e.integer(value)} to i64"), "i64")
            e.put(layout.SECOND, e.integer(where))
            e.put(layout.THIRD, e.integer(rest))
        case "VOTE" | "VOTEU":
            truth = e.truth(code.operands[-1])
            e.put(layout.VALUE, e.op(f"zext i1 {truth} to i64"), "i64")
        case "ELECT":
            pass
        case _:
            source = code.operands[-1]
            if "U64" in code.modifiers:
                e.put(layout.VALUE, e.whole(source), "i64")
            else:
                e.put(layout.VALUE, e.op(f"zext i32 {e.integer(source)} to i64"), "i64")
    e.declared["gevolve_exchange"] = "declare void @gevolve_exchange(ptr, i32, i32)"
    number, guarded = KINDS.index(kind), int(e.guard is not None)
    return f"call void @gevolve_exchange(ptr %w, i32 {number}, i32 {guarded})"


def receive(e: Emitter, code: Instruction) -> None:
    """Load the results into the registers and predicates that the exchange names."""
    registers, predicates = _targets(code)
    whole = e.get(layout.RESULT, "i64")
    value = e.op(f"trunc i64 {whole} to i32")
    if code.opcode in {"VOTE", "VOTEU"}:
        truth = e.op(f"icmp ne i64 {whole}, 0")
    else:
        truth = e.op(f"icmp ne i32 {e.get(layout.FLAG)}, 0")
    if code.opcode == "R2UR":
        value = e.integer(code.operands[-1])
    for register in registers:
        e.write(target(e, register), value)
    for predicate in predicates:
        e.set(predicate, truth)
