"""What a worker compiles once is not compiled again by the children that it forks."""

import pytest

from gevolve.device.base import Limits
from gevolve.device.registry import open_device
from tests.device.sim.kernels import HEADER

TEXT = f"""{HEADER}
.visible .entry _Z4copyPf(.param .u64 a) {{
.reg .b64 %o; .reg .b32 %x; ld.param.u64 %o, [a]; mov.u32 %x, 7; st.global.u32 [%o], %x; ret;
}}
""".encode()


@pytest.mark.parametrize("name", ["sim", "sim:h100"])
def test_a_warm_artefact_is_compiled_for_plain_runs_and_checks(name, monkeypatch):
    device = open_device(name)
    device.warm(TEXT, ["_Z4copyPf"], ["values"])

    def refuse(*_):
        raise AssertionError("it is compiled again")

    monkeypatch.setattr("gevolve.device.sim.program.compile_function", refuse)
    monkeypatch.setattr("gevolve.device.sim.blocks.compile_functions", refuse)
    monkeypatch.setattr("gevolve.device.sim.machine.program.assemble", refuse)
    for check in (None, *device.checks):
        gpu = device.open(TEXT, Limits(), check=check)
        out = gpu.zeros(1, "u4")
        gpu.launch("copy", 1, 1, out)
        assert out.get() == 7
        gpu.close()
