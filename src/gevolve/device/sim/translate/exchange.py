"""Barriers and warp-wide exchanges: operands out, results back in; the runtime does the rest."""

from gevolve.device.sim import layout
from gevolve.device.sim.ptx import Instruction, Operand, Pair
from gevolve.device.sim.translate.emit import Emitter, integer_of

KINDS = (
    *("jump", "call", "ret"),
    *("bar_sync", "bar_arrive", "bar_popc", "bar_and", "bar_or"),
    *("warp_sync", "shfl_up", "shfl_down", "shfl_bfly", "shfl_idx"),
    *("vote_all", "vote_any", "vote_uni", "vote_ballot", "match_any", "match_all"),
    *("redux_add", "redux_and", "redux_or", "redux_xor"),
    *("redux_min_u", "redux_min_s", "redux_max_u", "redux_max_s"),
    *("elect", "activemask"),
)
"""How a block ends; the order is that of the runtime's `enum kind`."""


def kind_of(e: Emitter, code: Instruction) -> str:
    """The runtime's word for an exchange."""
    mods = [m for m in code.mods if m not in {"sync", "cta", "aligned"}]
    match code.op:
        case "bar" | "barrier":
            if "cluster" in mods:
                raise e.unsupported("clusters")
            if "warp" in mods:
                return "warp_sync"
            if "red" in mods:
                return f"bar_{mods[mods.index('red') + 1]}"
            return "bar_arrive" if "arrive" in mods else "bar_sync"
        case "shfl" | "vote" | "match":
            name = f"{code.op}_{mods[0]}"
        case "redux":
            sign = f"_{mods[1][0]}" if mods[0] in {"min", "max"} else ""
            if mods[-1] not in {"u32", "s32", "b32"}:
                raise e.unsupported()
            name = f"redux_{mods[0]}{sign}"
        case _:
            name = code.op
    if name not in KINDS:
        raise e.unsupported()
    return name


def alone(code: Instruction) -> bool:
    """Whether the exchange is among whoever is here (forms from before .sync, and activemask)."""
    return "sync" not in code.mods and code.op in {"shfl", "vote", "activemask"}


def send(e: Emitter, code: Instruction) -> None:
    """Store the operands where the runtime reads them."""
    args = code.args

    def put(offset: int, operand: Operand, kind: str = "i32") -> None:
        e.do(f"store {kind} {e.read(operand, kind)}, ptr {e.lane_field(offset, kind)}")

    match kind_of(e, code).partition("_")[0]:
        case "bar":
            reduces = "red" in code.mods
            rest = args[1:] if reduces else args
            put(layout.SECOND, rest[0] if rest else 0)
            has_count = len(rest) > (2 if reduces else 1)
            put(layout.THIRD, rest[1] if has_count else 0)
            if reduces:
                _flag(e, rest[-1])
        case "warp":
            put(layout.MEMBERS, args[0])
        case "shfl":
            put(layout.VALUE, args[1], "i64")
            put(layout.SECOND, args[2])
            put(layout.THIRD, args[3])
            if len(args) > 4:
                put(layout.MEMBERS, args[4])
        case "vote":
            _flag(e, args[1])
            if len(args) > 2:
                put(layout.MEMBERS, args[2])
        case "match" | "redux":
            put(layout.VALUE, args[1], "i64")
            put(layout.MEMBERS, args[2])
        case "elect":
            put(layout.MEMBERS, args[1])
        case _:
            pass


def _flag(e: Emitter, operand: Operand) -> None:
    value = e.op(f"zext i1 {e.read(operand, 'i1')} to i64")
    e.do(f"store i64 {value}, ptr {e.lane_field(layout.VALUE, 'i64')}")


def receive(e: Emitter, code: Instruction) -> None:
    """Load the results into the registers that the exchange names."""
    target = code.args[0]
    first = target.first if isinstance(target, Pair) else target
    kind = code.mods[-1]
    whole = e.op(f"load i64, ptr {e.lane_field(layout.RESULT, 'i64')}")
    if kind == "pred" or (code.op in {"bar", "barrier"} and kind != "u32"):
        e.write(first, "i1", e.op(f"trunc i64 {whole} to i1"))
    else:
        t = integer_of(kind) if kind == "b64" and code.op != "match" else "i32"
        e.write(first, t, e.convert(whole, "i64", t))
    if isinstance(target, Pair):
        flag = e.op(f"load i32, ptr {e.lane_field(layout.FLAG)}")
        e.write(target.second, "i1", e.op(f"icmp ne i32 {flag}, 0"))
