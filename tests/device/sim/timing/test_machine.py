"""The replay obeys the control bits of machine code: stall counts, scoreboards, units, code caches."""

import ctypes
from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs

from gevolve.device.sim.machine.instruction import Control, Instruction
from gevolve.device.sim.timing import load_gpu
from gevolve.device.sim.timing.gpu import Gpu, machine_of
from gevolve.device.sim.timing.machine import classify, machine_code
from gevolve.device.sim.timing.occupancy import Occupancy
from gevolve.device.sim.timing.portion import portion
from gevolve.device.sim.timing.replay import Replay, Timing
from gevolve.device.sim.timing.trace import Record, Trace, l2_of

FREE = Control(stall=1, yields=False, write=None, read=None, wait=0, reuse=0)
SHARED, GLOBAL = 1, 0


def op(name: str, **bits: object) -> Instruction:
    opcode, *modifiers = name.split(".")
    return Instruction(0, None, opcode, tuple(modifiers), (), replace(FREE, **bits), ("k.cu", 7))


class Made(Trace):
    """A trace that is written by hand: the words of each warp."""

    def __init__(self, warps: list[list[int]], issued: int, lines: int = 0) -> None:
        super().__init__(1, 1, 1)
        self._words = np.array([word for warp in warps for word in warp], np.uint32)
        self._starts = np.cumsum([0, *map(len, warps)], dtype=np.uint64)
        self._lines = np.arange(lines, dtype=np.uint64) * 97
        self.record = Record(
            n_warps=len(warps),
            blocks=len(warps),
            instructions=issued,
            n_lines=lines,
            starts=self._starts.ctypes.data,
            lines=self._lines.ctypes.data,
        )
        self.record.all.words = self._words.ctypes.data
        self.record.all.n = len(self._words)


def played(code: list[Instruction], sites: list[list[int]] | None = None, *, warps: int = 1,
           gpu: Gpu | None = None, times: int = 1, lines: int = 0) -> Timing:  # fmt: skip
    """Replay warps (each a block of its own) that run this code, so many times."""
    traced = [one for one in code if one.opcode[:2] in {"LD", "ST"} and one.opcode != "LDC"]
    head = (32 - 1) << 27
    stream = [head, *(word for site in sites or [] for word in site)] * times
    table = np.zeros(1, [(n, "<i4") for n in ("kind", "issued", "sites", "first_site", "flags")])
    table["issued"], table["sites"] = len(code), len(traced)
    gpu = gpu or structs.replace(load_gpu("a100"), sms=1)
    trace = Made([stream] * warps, len(code) * warps * times, lines)
    return Replay(
        gpu,
        machine_code([code], traced, 32),
        table,
        trace,
        Occupancy(warps, warps, 1.0, "threads"),
        warps_per_block=1,
        l2=l2_of(gpu),
        kernel="k",
    ).timing()


def more(code: list[Instruction], **options: object) -> float:
    """What a warp takes for each further time that it runs this code, which is fetched by then."""
    branch = machine_of(load_gpu("a100")).branch
    few, many = (played(code, times=n, **options).cycles for n in (20, 40))
    return (many - few) / 20 - branch


def test_a_stall_count_is_the_cycles_until_the_next_instruction():
    for stall in (2, 4, 13):
        assert more([op("IADD3", stall=stall)] * 8) == 8 * stall


def test_a_yield_leaves_the_next_cycle_to_others():
    assert more([op("IADD3", yields=True)] * 4) == 8
    assert more([op("NOP", yields=True, stall=5)] * 4) == 20


def test_a_scoreboard_is_waited_for_by_those_that_name_it():
    special = machine_of(load_gpu("a100")).classes["special"]
    waits = [op("MUFU.RCP", write=2), op("FADD", wait=1 << 2)]
    assert more(waits) == special.latency + 1
    others = [op("MUFU.RCP", write=2), op("FADD", wait=1 << 3)]
    assert more(others) < special.latency


@pytest.mark.parametrize(
    ("name", "interval"), [("FFMA", 2), ("IADD3", 2), ("MUFU.EX2", 8), ("DFMA", 4)]
)
def test_units_take_as_long_as_the_table_says(name, interval):
    cycles = more([op(name)] * 10, warps=32)
    assert cycles == pytest.approx(10 * interval * 8, rel=0.1)  # eight warps on each scheduler


def test_units_work_side_by_side():
    alone = more([op("FFMA")] * 10, warps=32)
    both = more([op("FFMA"), op("IADD3")] * 10, warps=32)
    assert both == pytest.approx(alone, rel=0.1)


def test_doubles_are_priced_as_the_card_has_them():
    half, sixtyfourth = load_gpu("a100"), load_gpu("rtx3090")
    cycles = {
        gpu.title: played(
            [op(name)] * 10, warps=32, times=20, gpu=structs.replace(gpu, sms=1)
        ).cycles
        for gpu in (half, sixtyfourth)
        for name in ("DSETP",)
    }
    assert 12 < cycles[sixtyfourth.title] / cycles[half.title] < 20


def test_a_load_holds_its_scoreboard_until_the_data_is_there():
    gpu = load_gpu("a100")
    code = [op("LDS", write=0), op("FADD", wait=1)]
    cycles = more(code, sites=[[SHARED << 16 | 1]])
    assert gpu.access.shared_latency <= cycles <= gpu.access.shared_latency + 6
    conflict = more(code, sites=[[SHARED << 16 | 8]])
    assert conflict == cycles + 7


def test_a_store_holds_its_read_scoreboard_until_its_operands_are_read():
    read = machine_of(load_gpu("a100")).read
    code = [op("STS", read=1), op("IADD3", wait=2)]
    assert read <= more(code, sites=[[SHARED << 16 | 1]]) <= read + 6


def test_shared_memory_of_turing_takes_two_cycles_where_ampere_takes_one():
    code = [op("LDS")] * 8
    sites = [[SHARED << 16 | 1]] * 8
    ampere, turing = (
        played(code, sites, warps=32, times=20, gpu=structs.replace(load_gpu(name), sms=1)).cycles
        for name in ("a100", "rtx2080ti")
    )
    assert turing == pytest.approx(2 * ampere, rel=0.15)


def test_code_that_does_not_fit_its_cache_is_fetched_again():
    fetch = machine_of(load_gpu("a100")).fetch
    small, large = ([op("IADD3")] * n for n in (fetch.near // 2, fetch.near * 2))
    assert played(small, times=10).kinds["fetch"] < 0.2 * played(small, times=10).cycles
    found = played(large, times=10)
    assert found.kinds["fetch"] > 0.05 * found.cycles  # of four schedulers one is at work
    # warps that run together share what is fetched
    together = played(large, times=10, warps=4)
    assert together.cycles < 1.2 * found.cycles


def test_waits_have_names_and_lines():
    found = played([op("LDS", write=0), op("FADD", wait=1)] * 20, [[SHARED << 16 | 1]] * 20)
    busy = {kind: cycles for kind, cycles in found.kinds.items() if kind != "idle"}
    assert max(busy, key=lambda kind: busy[kind]) == "shared"
    assert set(found.lines) == {"k.cu:7"}
    assert sum(found.kinds.values()) == pytest.approx(found.cycles)


def test_the_same_code_takes_the_same_time():
    code = [op("LDS", write=0), op("FFMA", wait=1, stall=4), op("MUFU.RCP", write=3)] * 30
    sites = [[SHARED << 16 | 1]] * 30
    assert played(code, sites, warps=7).cycles == played(list(code), sites, warps=7).cycles


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("FFMA", "float"), ("IMAD.WIDE", "multiply"), ("LOP3.LUT", "logic"), ("DSETP.GT", "double"),
        ("F2F.F64.F32", "convert64"), ("I2F", "convert"), ("ULEA", "uniform"), ("BSSY", "branch"),
        ("LDG.E", "memory"), ("HFMA2.MMA", "half"), ("BAR.SYNC", "barrier"), ("SHFL.IDX", "shuffle"),
    ],
)  # fmt: skip
def test_classes_are_units(name, kind):
    opcode, *modifiers = name.split(".")
    assert classify(opcode, modifiers) == kind


def test_a_part_of_a_gpu_has_its_share_of_what_all_share():
    for name in ("a100", "rtx2080ti", "l4", "h100"):
        whole = load_gpu(name)
        part = portion(whole)
        share = part.sms / whole.sms
        assert part.sms < whole.sms
        assert part.bytes_per_cycle == pytest.approx(share * whole.bytes_per_cycle)
        rate = part.l2.slices / part.l2.interval
        assert rate == pytest.approx(share * whole.l2.slices / whole.l2.interval)


def test_scoreboards_are_the_size_of_the_runtime():
    assert ctypes.sizeof(Record) > 0
    assert machine_code([[op("EXIT")]], [], 16).ops.dtype.itemsize == 24
