"""Registers of PTX are those that ptxas gives it, where it is installed."""

import pytest

from gevolve.device import ptxas
from gevolve.device.sim.timing import registers
from gevolve.errors import DeviceError
from tests.device.sim.timing.timed import timed

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
