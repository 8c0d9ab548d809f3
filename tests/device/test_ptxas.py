"""NVIDIA's assembler on real PTX, where one is installed."""

import re
from pathlib import Path

import pytest

from gevolve.device import ptxas
from gevolve.device.ptxas import assemble, installed
from gevolve.errors import CompileError, DeviceError
from gevolve.ir.llvm.codegen import to_ptx
from gevolve.workload.locate import locate

FIXTURES = Path(__file__).parent / "fixtures"
EMPTY = ".version 7.8\n.target sm_50\n.address_size 64\n.visible .entry k() { ret; }\n"

needs_ptxas = pytest.mark.skipif(not installed(), reason="no ptxas is installed")


def knows(arch):
    return any(arch in tool.archs for tool in installed())


@needs_ptxas
@pytest.mark.parametrize("name", ["hotspot", "pathfinder", "gemm", "reduction", "histogram", "bfs"])
def test_the_suite_assembles(name):
    arch = "sm_70" if knows("sm_70") else "sm_90"
    made = assemble(to_ptx(locate(f"tuned/{name}").load().text), arch)
    assert made.cubin.startswith(b"\x7fELF")
    assert made.arch == arch
    for kernel in made.kernels.values():
        assert 0 < kernel.registers <= 255
        assert kernel.spill_stores == kernel.spill_loads == 0


@needs_ptxas
def test_what_kernels_take():
    ptx = re.sub(r"\.version .*", ".version 7.8", (FIXTURES / "spaces.ptx").read_text())
    kernels = assemble(ptx, "sm_90").kernels
    assert set(kernels) >= {"generic", "dynamic_shared", "by_value"}
    assert kernels["generic"].shared >= 512
    assert kernels["generic"].stack >= 48


@needs_ptxas
def test_spills_are_told():
    sums = "\n".join(f"ld.volatile.global.f32 %f{n}, [%r1+{4 * n}];" for n in range(200))
    stores = "\n".join(f"st.volatile.global.f32 [%r1+{4 * n}], %f{n};" for n in range(200))
    ptx = (
        ".version 7.8\n.target sm_50\n.address_size 64\n"
        ".visible .entry k(.param .u64 p) .maxntid 1024, 1, 1 .minnctapersm 2\n"
        "{ .reg .f32 %f<200>; .reg .u64 %r<2>;\nld.param.u64 %r1, [p];\n"
        f"{sums}\n{stores}\nret; }}\n"
    )
    kernel = assemble(ptx, "sm_90").kernels["k"]
    assert kernel.registers <= 32
    assert kernel.spill_stores > 0
    assert kernel.spill_loads > 0


@needs_ptxas
@pytest.mark.parametrize(
    ("ptx", "complaint"),
    [
        ("", "Missing .version directive"),
        ("nonsense", "Missing .version directive"),
        (EMPTY.replace("ret", "frobnicate"), "line 4: .*'frobnicate'"),
        (EMPTY.replace("7.8", "99.0"), r"line 1: Unsupported \.version 99\.0"),
        (EMPTY.replace("sm_50", "sm_100a"), "sm_100a"),
    ],
)
def test_what_ptxas_rejects_is_said_in_one_line(ptx, complaint):
    with pytest.raises(CompileError, match=rf"ptxas [\d.]+ rejects the PTX for sm_90: .*{complaint}") as error:  # fmt: skip
        assemble(ptx, "sm_90")
    assert "\n" not in str(error.value)
    assert "/" not in str(error.value)


@needs_ptxas
def test_an_architecture_that_no_ptxas_knows():
    with pytest.raises(DeviceError, match=r"knows sm_13; choose one of .*sm_90.*pip install"):
        assemble(EMPTY, "sm_13")


@pytest.mark.parametrize("arch", ["", "80", "sm_", "sm_80x", "--help", "sm_80 -o x"])
def test_what_is_no_architecture(arch):
    with pytest.raises(DeviceError, match="is no architecture of a GPU; give one such as sm_80"):
        assemble(EMPTY, arch)


@needs_ptxas
def test_a_deadline():
    with pytest.raises(CompileError, match="not done with the PTX for sm_90"):
        assemble(EMPTY, "sm_90", seconds=0.0001)


def script(path, lines):
    path.write_text("#!/bin/sh\n" + lines)
    path.chmod(0o755)


def test_the_newest_that_knows_the_architecture(tmp_path, monkeypatch):
    monkeypatch.setattr(ptxas.nvidia, "files", lambda pattern: [])
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(ptxas, "_USUAL", str(tmp_path / "none"))
    with pytest.raises(DeviceError, match="no ptxas is installed; `pip install"):
        ptxas.find("sm_80")
    script(tmp_path / "ptxas", "exit 1\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DeviceError, match="no ptxas is installed"):
        ptxas.find("sm_80")
    usual = tmp_path / "usual"
    script(usual, "echo \"release 13.1 'sm_75','sm_80'\"\n")
    monkeypatch.setattr(ptxas, "_USUAL", str(usual))
    other = tmp_path / "other"
    other.mkdir()
    script(other / "ptxas", "echo \"release 12.9 'sm_60','sm_80'\"\n")
    monkeypatch.setenv("PATH", str(other))
    assert ptxas.find("sm_80").version == "13.1"
    assert ptxas.find("sm_60").version == "12.9"
    with pytest.raises(DeviceError, match=r"\(13.1, 12.9\) knows sm_90; choose one of sm_60"):
        ptxas.find("sm_90")
