"""Registers of PTX are those that ptxas gives it, where it is installed."""

import numpy as np
import pytest

from gevolve.device import ptxas
from gevolve.device.base import Limits
from gevolve.device.sim.program import load
from gevolve.device.sim.timing import registers
from gevolve.errors import DeviceError
from tests.device.sim.timing.timed import device, kernel, timed

CHAIN = "".join(f"add.f32 %f{i}, %f{i}, %f0;" for i in range(1, 15))
MANY = "".join(f"ld.global.f32 %f{i}, [%a+{4 * i}];" for i in range(16)) + CHAIN * 2
KEPT = MANY + "".join(f"st.global.f32 [%b+{4 * i}], %f{i};" for i in range(16))


@pytest.fixture(autouse=True)
def _forget():
    registers.assembled.cache_clear()
    yield
    registers.assembled.cache_clear()


@pytest.mark.parametrize(
    ("gpu", "arch"), [("p100", "sm_60"), ("titanx", "sm_61"), ("v100", "sm_70")]
)
def test_registers_are_those_of_the_assembler(gpu, arch):
    try:
        ptxas.find(arch)
    except DeviceError:
        pytest.skip("no ptxas for it is installed")
    few, many = timed(CHAIN, gpu=gpu), timed(KEPT, gpu=gpu)
    assert few.registers < 16  # nothing comes of it, so ptxas leaves it out
    assert 18 <= many.registers <= 32


def test_registers_are_estimated_where_there_is_no_assembler(monkeypatch):
    def missing(*_):
        raise DeviceError("no ptxas is installed")

    monkeypatch.setattr(ptxas, "assemble", missing)
    assert timed(KEPT, gpu="p100").registers >= 16


def _kernel_of(values: int) -> bytes:
    """A kernel in whose loop so many values live at once."""
    names = range(values)
    body = "".join(f"ld.global.f32 %v{i}, [%a+{4 * i}];" for i in names)
    body += "mov.u32 %x0, 0;\nagain:\n"
    body += "".join(f"add.f32 %v{i}, %v{i}, %v{(i + 1) % values};" for i in names)
    body += "add.u32 %x0, %x0, 1; setp.lt.u32 %p0, %x0, 8;\n@%p0 bra again;\n"
    body += "".join(f"st.global.f32 [%b+{4 * i}], %v{i};" for i in names)
    return kernel(body).replace(b".reg .f64", f".reg .f32 %v<{values}>;\n.reg .f64".encode())


def _cycles(values: int, gpu: str = "p100") -> float:
    opened = device(gpu).open(_kernel_of(values), Limits())
    try:
        opened.launch("k", 8, 64, opened.zeros(4096), opened.zeros(4096), np.int32(0))
        return opened.timings[0].cycles
    finally:
        opened.close()


def test_values_beyond_the_registers_of_a_thread_are_priced_as_spills(monkeypatch):
    def missing(*_):
        raise DeviceError("no ptxas is installed")

    monkeypatch.setattr(ptxas, "assemble", missing)
    few, fit, spilled = (_cycles(values) for values in (120, 240, 400))
    assert (spilled - fit) / 160 > 1.5 * (fit - few) / 120


def test_what_is_spilled_is_moved_in_the_blocks_where_most_lives():
    code = load(_kernel_of(300)).code("k")
    spilling = code.spilling(50)
    assert code.need >= 300
    assert len(spilling.ops) - len(code.ops) == spilling.classes.count("spill") > 0
    more = spilling.spans["count"].astype(int) - code.spans["count"]
    assert (more[code.pressure <= code.need - 50] == 0).all()
    assert more.max() == 2 * 50
    for before, after in zip(code.spans, spilling.spans, strict=True):
        kept = slice(int(after["first"]), int(after["first"] + before["count"]))
        own = slice(int(before["first"]), int(before["first"] + before["count"]))
        assert spilling.names[kept] == code.names[own]
    assert code.spilling(0) is code
