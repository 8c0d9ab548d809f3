"""PTX to a cubin, and what the cubin says of its kernels."""

from pathlib import Path

import pytest

from gevolve.device.sim.machine import Imm, Instruction, Label, Reg, assemble, read
from gevolve.errors import CompileError, DeviceError, UnsupportedError

FIXTURES = Path(__file__).parents[2] / "fixtures"


def module(name, arch="sm_80"):
    return read(assemble((FIXTURES / f"{name}.ptx").read_text(), arch))


def test_what_a_kernel_takes():
    kernel = module("spaces").kernels["generic"]
    assert 16 <= kernel.registers <= 64
    assert kernel.shared == 512
    assert kernel.local == 48
    assert [(p.offset, p.size) for p in kernel.parameters] == [(0, 8), (8, 8), (16, 4)]
    assert (kernel.parameter_base, kernel.parameter_size) == (0x160, 20)
    assert len(kernel.constants[0]) == 0x160 + 20
    assert kernel.barriers == 1


def test_parameters_lie_elsewhere_on_hopper():
    assert module("spaces", "sm_90").kernels["generic"].parameter_base == 0x210


def test_variables_and_where_they_are_put():
    text = (FIXTURES / "spaces.ptx").read_text()
    data = assemble(text, "sm_80")
    far = read(data, {".nv.global.init": 0x7_0000_1000})
    table = far.variables["table"]
    assert (table.section, table.size) == (".nv.global.init", 16)
    numbers = {
        o.bits
        for i in far.kernels["generic"].instructions
        for o in i.operands
        if isinstance(o, Imm)
    }
    assert {0x1000 + table.offset, 7} <= numbers
    assert len(far.data[".nv.global.init"]) == 20


def test_functions_are_in_the_kernel_that_calls_them():
    kernel = module("calls").kernels["gcds"]
    (call,) = (i for i in kernel.instructions if i.opcode == "CALL")
    (back,) = (i for i in kernel.instructions if i.opcode == "RET")
    assert {"REL", "NOINC"} <= set(call.modifiers)
    (target,) = call.operands
    assert isinstance(target, Label)
    assert call.address < target.address < back.address
    # It returns to a register counted from the start of the kernel.
    register, origin = back.operands
    assert origin == Label(kernel.start)
    assert isinstance(register, Reg)
    assert any(i.operands[1:] == (Imm(call.address + 16),) for i in kernel.instructions)


def test_functions_that_are_called_by_pointer_have_a_place():
    ptx = Path(__file__).parents[1] / "ptx/programs.ptx"
    cubin = read(assemble(ptx.read_text(), "sm_80"))
    starts = [k.start for k in cubin.kernels.values()]
    add = cubin.functions["_Z5f_addff"]
    assert min(starts) == 0
    assert add.start > max(starts)
    pointer = add.start.to_bytes(8, "little")
    assert any(pointer in data for name, data in cubin.data.items() if name == ".nv.global.init")
    assert {"vprintf", "__assertfail"} <= cubin.externals.keys()
    assert min(cubin.externals.values()) > max(f.start for f in cubin.functions.values())
    printer = cubin.kernels["_Z6printsPi"]
    targets = [i.operands for i in printer.instructions if i.opcode == "CALL"]
    assert (Label(cubin.externals["vprintf"]),) in targets
    assert "vprintf" in printer.calls


def test_one_instruction():
    first = module("calls").kernels["gcds"].instructions[0]
    assert isinstance(first, Instruction)
    assert first.opcode == "MOV"
    assert first.operands[0] == Reg(1)
    assert first.control.stall > 0


def test_ptx_that_is_wrong_is_refused_in_one_line():
    bad = ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k() { bogus; }\n"
    with pytest.raises(CompileError, match="line 4") as failure:
        assemble(bad, "sm_80")
    assert "\n" not in str(failure.value)


@pytest.mark.parametrize("arch", ["sm_13", "sm_999", "gpu"])
def test_an_architecture_that_nobody_knows(arch):
    with pytest.raises(DeviceError):
        assemble((FIXTURES / "calls.ptx").read_text(), arch)


@pytest.mark.parametrize("data", [b"", b"PK\3\4", b"\x7fELF\x02\x01\x01" + bytes(80)])
def test_what_is_no_cubin(data):
    with pytest.raises(UnsupportedError):
        read(data)
