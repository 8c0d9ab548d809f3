"""Special registers: who a thread is and where it runs."""

from collections.abc import Callable

from gevolve.device.sim import layout
from gevolve.device.sim.translate.emit import Emitter

_AXES = {"x": 0, "y": 1, "z": 2}
SMS = 8
"""The multiprocessors that a kernel is told of. Which one a block is on, the number of its warp and the clock
are other ones in a run with another poison: nothing may depend on them."""


def _launch(offset: int, kind: str = "i32") -> Callable[[Emitter], str]:
    return lambda e: e.convert(e.load_launch(offset, kind), kind, "i64")


def _lane(e: Emitter) -> str:
    return e.lane


def _lanemask(e: Emitter, name: str) -> str:
    bit = e.op(f"shl i64 1, {e.lane}")
    below = e.op(f"sub i64 {bit}, 1")
    upto = e.op(f"or i64 {below}, {bit}")
    value = {"eq": bit, "lt": below, "le": upto}.get(name)
    if value is None:
        value = e.op(f"xor i64 {upto if name == 'gt' else below}, 4294967295")
    return value


def _sm_id(e: Emitter) -> str:
    block = e.convert(e.load_launch(layout.CTAID, "i32"), "i32", "i64")
    turned = e.op(f"add i64 {block}, {e.load_launch(layout.TURN, 'i64')}")
    return e.op(f"urem i64 {turned}, {SMS}")


def _warp_id(e: Emitter) -> str:
    own = e.convert(e.op(f"load i32, ptr {e.at('%w', layout.WARP_ID)}"), "i32", "i64")
    turned = e.op(f"add i64 {own}, {e.load_launch(layout.TURN, 'i64')}")
    return e.op(f"urem i64 {turned}, {_warps(e)}")


def _warps(e: Emitter) -> str:
    sizes = [e.load_launch(layout.NTID + 4 * axis, "i32") for axis in range(3)]
    threads = e.op(f"mul i32 {e.op(f'mul i32 {sizes[0]}, {sizes[1]}')}, {sizes[2]}")
    return e.convert(e.op(f"lshr i32 {e.op(f'add i32 {threads}, 31')}, 5"), "i32", "i64")


_FIXED: dict[str, Callable[[Emitter], str]] = {
    "%laneid": _lane,
    "%warpid": _warp_id,
    "%nwarpid": _warps,
    "%smid": _sm_id,
    "%nsmid": lambda _: str(SMS),
    "%gridid": _launch(layout.GRID_ID, "i64"),
    "%clock": _launch(layout.CLOCK, "i64"),
    "%clock_hi": lambda e: e.op(f"lshr i64 {e.load_launch(layout.CLOCK, 'i64')}, 32"),
    "%clock64": _launch(layout.CLOCK, "i64"),
    "%globaltimer": _launch(layout.CLOCK, "i64"),
    "%globaltimer_lo": _launch(layout.CLOCK, "i64"),
    "%globaltimer_hi": lambda e: e.op(f"lshr i64 {e.load_launch(layout.CLOCK, 'i64')}, 32"),
    "%dynamic_smem_size": _launch(layout.DYNAMIC),
    "%total_smem_size": _launch(layout.SHARED_SIZE, "i64"),
    "%aggr_smem_size": _launch(layout.SHARED_SIZE, "i64"),
    "%is_explicit_cluster": lambda _: "0",
    "WARP_SZ": lambda _: "32",
}
_TRIPLES = {"%ntid": layout.NTID, "%ctaid": layout.CTAID, "%nctaid": layout.NCTAID}
_CLUSTER = {  # every block is a cluster of its own
    "%clusterid": layout.CTAID,
    "%nclusterid": layout.NCTAID,
}


def special(e: Emitter, name: str) -> str | None:
    """The value of a special register as i64, or None if the name is not one."""
    fixed = _FIXED.get(name)
    if fixed is not None:
        return fixed(e)
    base, _, axis = name.partition(".")
    if axis in _AXES:
        index = _AXES[axis]
        if base == "%tid":
            pointer = e.lane_field(layout.TID + index * layout.LANES * 4)
            return e.convert(e.op(f"load i32, ptr {pointer}"), "i32", "i64")
        offset = _TRIPLES.get(base) or _CLUSTER.get(base)
        if offset is not None:
            return e.convert(e.load_launch(offset + 4 * index, "i32"), "i32", "i64")
        if base == "%cluster_ctaid":
            return "0"
        if base == "%cluster_nctaid":
            return "1"
    if name.startswith("%lanemask_"):
        return _lanemask(e, name[-2:])
    if name in {"%cluster_ctarank", "%cluster_nctarank"}:
        return "0" if name.endswith("ctarank") and "nctarank" not in name else "1"
    if name.startswith(("%envreg", "%pm", "%reserved_smem")):
        return "0"
    return None
