"""LLVM-IR to PTX: what comes out, for which GPU, and what is refused."""

import faulthandler
import os
import re
from pathlib import Path

import pytest

from gevolve.device.sim.machine import assemble, cubin
from gevolve.errors import CompileError
from gevolve.ir.llvm.codegen import ARCHS, to_ptx
from gevolve.ir.llvm.source import read

HEAD = 'target triple = "nvptx64-nvidia-cuda"\n'
KERNEL = """
define ptx_kernel void @k(ptr addrspace(1) %p, i32 %n) {attributes} {{
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = mul i32 %i, 4
  {body}
  %q = getelementptr i32, ptr addrspace(1) %p, i32 %i
  store i32 %v, ptr addrspace(1) %q{debug}
  ret void{debug}
}}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
"""


def module(body="%v = add i32 %w, %n", attributes="", debug="", tail=""):
    return HEAD + KERNEL.format(body=body, attributes=attributes, debug=debug) + tail


def test_a_kernel_becomes_an_entry():
    ptx = to_ptx(module())
    assert re.search(r"\.visible \.entry k\(", ptx)
    assert ".target sm_70" in ptx
    assert "shl.b32" in ptx or "mad.lo" in ptx


def test_dead_code_is_gone():
    assert "div" not in to_ptx(module("%dead = sdiv i32 %w, %n\n  %v = add i32 %n, 0"))


def test_a_switch_becomes_branches_and_not_a_table(tmp_path):
    """Threads that jump through a table run apart to the end of it; a table of values is fine."""
    path = tmp_path / "k.cu"
    cases = "".join(f"case {n}: sum += in[{n}] * {3 * n + 1};\n" for n in range(12, 0, -1))
    path.write_text(
        'extern "C" __global__ void k(const int *in, int *out, int n) {\nint sum = 0;\n'
        f"switch (n & 15) {{\n{cases}}}\nout[threadIdx.x] = sum;\n}}\n"
    )
    text = read(path)
    assert "\n  switch " in text
    ptx = to_ptx(text)
    assert "brx.idx" not in ptx
    assert ptx.count("setp") >= 4


def test_it_is_built_for_the_gpu_it_was_compiled_for():
    attributes = '"target-cpu"="sm_80" "target-features"="+ptx82,+sm_80"'
    body = "%v = call i32 @llvm.nvvm.redux.sync.add(i32 %w, i32 -1)"
    ptx = to_ptx(module(body, attributes, tail="declare i32 @llvm.nvvm.redux.sync.add(i32, i32)"))
    assert ".target sm_80" in ptx
    assert "redux.sync.add" in ptx
    assert ".target sm_60" in to_ptx(module(attributes='"target-cpu"="sm_60"'))
    assert ".target sm_90" in to_ptx(module(), arch="sm_90")


@pytest.mark.parametrize("arch", ARCHS)
def test_every_gpu_that_is_listed(arch):
    ptx = to_ptx(module(), arch=arch)
    assert re.search(rf"^\.target {arch}$", ptx, re.MULTILINE)
    assert re.search(r"^\.visible \.entry k", ptx, re.MULTILINE)


@pytest.mark.parametrize("arch", ["sm_71", "sm_", "80", "compute_80"])
def test_no_such_gpu(arch):
    with pytest.raises(CompileError, match=f"no PTX for {arch}; choose one of sm_50"):
        to_ptx(module(), arch=arch)


def test_a_module_for_no_such_gpu():
    with pytest.raises(CompileError, match="no PTX for sm_71"):
        to_ptx(module(attributes='"target-cpu"="sm_71"'))


@pytest.mark.parametrize("kind", ["FullDebug", "LineTablesOnly", "DebugDirectivesOnly"])
def test_lines_are_kept_without_debug_sections(kind):
    tail = f"""
!llvm.dbg.cu = !{{!0}}
!llvm.module.flags = !{{!3}}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: {kind})
!1 = !DIFile(filename: "a.cu", directory: "")
!2 = distinct !DISubprogram(name: "k", file: !1, line: 3, type: !4, unit: !0, spFlags: DISPFlagDefinition)
!3 = !{{i32 2, !"Debug Info Version", i32 3}}
!4 = !DISubroutineType(types: !{{null}})
!5 = !DILocation(line: 7, scope: !2)
"""
    ptx = to_ptx(module(attributes="!dbg !2", debug=", !dbg !5", tail=tail))
    assert re.search(r"\.loc\s+1 7 0", ptx)
    assert not re.search(r"\.section\s+\.debug_(info|line|str|abbrev)", ptx)


def test_what_llvm_refuses_is_one_line():
    for text in ("not IR", module("%v = add i32 %w, %missing")):
        with pytest.raises(CompileError, match="LLVM cannot make PTX") as error:
            to_ptx(text)
        assert "\n" not in str(error.value)


def test_what_it_cannot_select_ends_only_the_child():
    """LLVM aborts the process; callers run it in one that they can lose."""
    body = "%v = call i32 @llvm.nvvm.redux.sync.add(i32 %w, i32 -1)"
    text = module(body, tail="declare i32 @llvm.nvvm.redux.sync.add(i32, i32)")
    child = os.fork()
    if not child:
        faulthandler.disable()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        to_ptx(text)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status)


def test_calls_do_not_remember_earlier_modules():
    text = module("%v = call i32 @f(i32 %w)", tail="declare i32 @f(i32)\n")
    first = to_ptx(text)
    assert "call.uni" in first
    assert to_ptx(text) == first


def test_sums_are_not_sunk_into_the_stores_that_use_them():
    made = assemble(to_ptx(read(Path(__file__).parent / "guarded.cu"), arch="sm_80"), "sm_80")
    kernel = cubin.read(made).kernels["guarded"]
    assert kernel.registers <= 32  # as of nvcc's build; 62 if they are
    assert kernel.local == 0
