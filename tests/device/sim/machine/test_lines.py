"""Source lines of instructions, against what NVIDIA's disassembler prints."""

import re
import subprocess
from pathlib import Path

import pytest

from gevolve.device import nvidia
from gevolve.device.sim.machine import assemble, read
from gevolve.ir.llvm.codegen import to_ptx
from gevolve.workload.locate import locate

FIXTURES = Path(__file__).parents[2] / "fixtures"
SECTION = re.compile(r"\s*\.section\s+\.text\.([^,\s]+),")
PLACE = re.compile(r'\s*//## File "([^"]*)", line (\d+)')
CODE = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+\S")


def printed(data, folder):
    """The line of each address of each function, by nvdisasm."""
    file = folder / "k.cubin"
    file.write_bytes(data)
    (tool,) = nvidia.files("bin/nvdisasm")[-1:]
    text = subprocess.run(
        [tool, "-c", "-g", file], capture_output=True, text=True, check=True
    ).stdout
    found, name, line = {}, "", None
    for row in text.splitlines():
        if section := SECTION.match(row):
            name, line = section[1], None
        elif place := PLACE.match(row):
            line = (place[1], int(place[2]))
        elif code := CODE.match(row):
            found[name, int(code[1], 16)] = line
    return found


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("name", ["spaces", "templates"])
def test_lines_of_fixtures(name, arch, tmp_path):
    data = assemble((FIXTURES / f"{name}.ptx").read_text(), arch)
    told = printed(data, tmp_path)
    cubin = read(data)
    code = [*cubin.kernels.values(), *cubin.functions.values()]
    got = {(f.name, i.address - f.start): i.line for f in code for i in f.instructions}
    assert got == told
    assert any(got.values())


def test_lines_of_a_workload():
    kernel = read(assemble(to_ptx(locate("tuned/hotspot").load().text), "sm_80")).kernels["hotspot"]
    lines = {i.line for i in kernel.instructions if i.line}
    assert {file for file, _ in lines} == {"hotspot.cu"}
    assert len(lines) > 5


def test_ptx_without_lines():
    ptx = ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"
    assert {i.line for i in read(assemble(ptx, "sm_80")).kernels["k"].instructions} == {None}
