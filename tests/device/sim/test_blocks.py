"""Blocks of machine code are compiled once, whichever kernel they are in."""

import numpy as np
import pytest

from gevolve.device.base import Limits
from gevolve.device.registry import open_device
from gevolve.device.sim import blocks

KERNEL = """.version 7.8
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a) {{
.reg .b64 %o; .reg .b32 %x, %n; .reg .pred %p;
ld.param.u64 %o, [a]; ld.global.u32 %n, [%o]; mov.u32 %x, {begin};
again: add.u32 %x, %x, 3; sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra again;
st.global.u32 [%o], %x; ret;
}}
"""
BODY = "br label %b0\nb0:\nstore i32 {value}, ptr %w\n{more}ret void"


def text(begin):
    return KERNEL.format(begin=begin).encode()


def result(artefact):
    gpu = open_device("sim:t4").open(artefact, Limits())
    try:
        out = gpu.array(np.array([5], np.uint32))
        gpu.launch("k", 1, 1, out)
        return int(out.get()[0])
    finally:
        gpu.close()


@pytest.fixture
def compiled(monkeypatch):
    """How many functions are compiled at a time, with nothing known at first."""
    counts = list[int]()
    real = blocks.compile_functions

    def count(source, names):
        counts.append(len(names))
        return real(source, names)

    monkeypatch.setattr(blocks, "_compiled", {})
    monkeypatch.setattr(blocks, "compile_functions", count)
    return counts


def test_a_variant_has_only_its_own_blocks_compiled(compiled):
    assert result(text(1001)) == 1016
    assert result(text(1002)) == 1017
    first, second = compiled
    assert 0 < second < first


def test_what_was_forgotten_is_compiled_again(compiled, monkeypatch):
    monkeypatch.setattr(blocks, "_MOST", 1)
    for begin in (1003, 1004, 1005):
        assert result(text(begin)) == begin + 15
    assert len(blocks._compiled) == 1
    assert len(compiled) == 3


def test_a_table_of_targets_is_a_part_of_what_reads_it(compiled):
    reads = "%x = load i32, ptr @targets\n"
    tables = [f"@targets = internal constant [1 x i32] [i32 {n}]" for n in (1, 2)]
    with_table = [blocks.compile_blocks([BODY.format(value=7, more=reads)], t) for t in tables]
    without = [blocks.compile_blocks([BODY.format(value=8, more="")], t) for t in tables]
    assert with_table[0].blocks[0] != with_table[1].blocks[0]
    assert without[0].blocks[0] == without[1].blocks[0]
    assert compiled == [1, 1, 1]
