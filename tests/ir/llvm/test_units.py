"""Units of a module: what belongs together, and that compiling them alone changes no machine code."""

import numpy as np
import pytest

from gevolve.device.sim.machine import cubin
from gevolve.device.sim.machine.assemble import assemble
from gevolve.device.sim.machine.program import load_ptx
from gevolve.ir.llvm import codegen
from gevolve.ir.llvm.units import items, join, split
from gevolve.patch import Patch
from gevolve.workload.locate import locate

ARCH = "sm_75"
KERNEL = """define ptx_kernel void @{name}(ptr addrspace(1) %p) {{
  {body}
  store i32 %v, ptr addrspace(1) %p
  ret void
}}
"""
HELPER = """define internal i32 @helper(i32 %x) noinline {
  %y = mul i32 %x, %x
  ret i32 %y
}
"""


def module(*kernels, head="", tail=""):
    texts = [KERNEL.format(name=f"k{n}", body=body) for n, body in enumerate(kernels)]
    return f'target triple = "nvptx64-nvidia-cuda"\n{head}{"".join(texts)}{tail}'


def plain(n):
    return f"%v = add i32 0, {n}"


CALL = "%v = call i32 @helper(i32 3)"
SHOWN = "%v = load i32, ptr addrspace(1) @shown"
HIDDEN = "%v = load i32, ptr addrspace(1) @hidden"
VARIABLES = (
    "@shown = addrspace(1) global i32 5\n"
    "@hidden = internal addrspace(1) global i32 5\n"
    "@table = addrspace(1) global [1 x ptr] [ptr @k1]\n"
)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (module(plain(1)), 1),
        (module(plain(1), plain(2), plain(3)), 3),
        (module(CALL, plain(2), tail=HELPER), 2),
        (module(CALL, plain(2), CALL, tail=HELPER), 2),
        (module(SHOWN, SHOWN, head=VARIABLES.split("@hidden", maxsplit=1)[0]), 2),
        (module(HIDDEN, HIDDEN, head=VARIABLES.split("@table", maxsplit=1)[0]), 1),
        (module(plain(1), plain(2), head=VARIABLES), 1),
        (module(plain(1), plain(2), head='module asm ""\n'), 1),
    ],
)
def test_what_can_see_each_other_stays_together(text, count):
    units = split(text)
    assert len(units) == count
    for unit in units:
        codegen.to_ptx(unit)
    assert sum(unit.count("define ptx_kernel") for unit in units) == text.count("ptx_kernel")


def test_declarations_are_joined_once_and_files_are_numbered_anew():
    one, two = (
        f".version 7.8\n.address_size 64\n\n.visible .const .b8 c[4];\n"
        f'.visible .entry k{n}()\n{{\n\t.loc\t1 {n} 0\n\tret;\n}}\n\t.file\t1 "{n}.cu"\n'
        for n in (1, 2)
    )
    joined = join([one, two])
    assert joined.count(".const") == 1
    assert joined.count(".address_size") == 1
    assert "\t.loc\t1 1 0" in joined
    assert "\t.loc\t2 2 0" in joined
    assert joined.endswith('\t.file\t1 "1.cu"\n\t.file\t2 "2.cu"\n')


def code(kernel):
    """The instructions of a kernel, wherever in the module it begins."""
    read = (
        (i.address - kernel.start, i.guard, i.opcode, i.modifiers, i.control, i.line)
        for i in kernel.instructions
    )
    return kernel.registers, kernel.shared, kernel.constants.keys(), list(read)


def drawn(program, count):
    """Variants of two random edits each, and the unedited program."""
    rng = np.random.default_rng(5)
    yield program.text
    for _ in range(count):
        kinds = (str(rng.choice(program.kinds)) for _ in range(2))
        edits = (program.propose(kind, rng, None) for kind in kinds)
        yield program.apply(Patch(tuple(filter(None, edits)))).text


@pytest.mark.parametrize("name", ["papers/cfd", "papers/lung", "papers/particlefilter"])
def test_kernels_that_are_compiled_alone_are_the_same_machine_code(name):
    program = locate(name).load()
    assert len(split(program.text)) > 1
    compared = 0
    for text in drawn(program, 3):
        if program.verify(text):
            continue
        whole = codegen.unit_to_ptx(text, codegen.target(text), codegen.ptx_version(text))
        want = cubin.read(assemble(whole, ARCH)).kernels
        loaded = load_ptx(codegen.to_ptx(text).encode(), ARCH)
        assert len(loaded.parts) == len(want)
        got = {name: kernel.source for name, kernel in loaded.kernels.items()}
        assert {n: code(k) for n, k in got.items()} == {n: code(k) for n, k in want.items()}
        compared += 1
    assert compared > 1


def test_what_an_edit_leaves_alone_is_not_compiled_again():
    first = module(plain(1), plain(2))
    codegen.to_ptx(first)
    before = codegen.unit_to_ptx.cache_info()
    codegen.to_ptx(first.replace(plain(2), plain(3)))
    after = codegen.unit_to_ptx.cache_info()
    assert (after.hits - before.hits, after.misses - before.misses) == (1, 1)


def test_a_unit_that_was_rejected_is_rejected_again():
    program = locate("papers/cfd").load()
    broken = program.text.replace("ret void", "ret i32 0", 1)
    assert program.verify(broken)
    assert program.verify(broken)
    assert program.verify(program.text) is None


def test_braces_of_assembly_in_a_kernel_do_not_end_it():
    """As the functions of ``cuda_fp16.h`` have them."""
    kernels = [
        f""".visible .entry k{n}(
\t.param .u64 p
)
{{
\t// begin inline asm {{
\t{{mul.f16 %rs1,%rs2,%rs3;
}}
\tst.global.v2.u32 [%rd1], {{%r1, %r2}};
\tret;
}}
"""
        for n in range(2)
    ]
    variable = ".global .align 4 .b8 x[2] = {1, 2};\n"
    assert items("\n".join([variable, *kernels])) == (variable, *kernels)
