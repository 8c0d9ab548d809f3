"""Which kernels are one, and which are not."""

from dataclasses import replace
from pathlib import Path

import pytest

from gevolve.device.sim.machine import Address, Imm, Pred, Reg, assemble, fingerprint, read
from gevolve.device.sim.machine.fingerprint import module_fingerprint
from gevolve.ir.llvm.codegen import to_ptx
from gevolve.workload.locate import locate

FIXTURES = Path(__file__).parents[2] / "fixtures"
HEAD = ".version 7.8\n.target sm_80\n.address_size 64\n"


def kernel(body, registers=".reg .f32 %f<8>; .reg .b64 %a; .reg .b32 %r<4>;"):
    ptx = f"{HEAD}.visible .entry k(.param .u64 p) {{ {registers} ld.param.u64 %a, [p]; {body} ret; }}"
    return read(assemble(ptx, "sm_80")).kernels["k"]


@pytest.fixture(scope="module")
def hotspot():
    return read(assemble(to_ptx(locate("tuned/hotspot").load().text), "sm_80")).kernels["hotspot"]


def mapped(kernel, change):
    return replace(kernel, instructions=tuple(change(i) for i in kernel.instructions))


def moved(by):
    """Every register moved by so many."""

    def index(n):
        return n if n is None or n == 255 else n + by

    def operand(o):
        if isinstance(o, Reg):
            return replace(o, index=index(o.index))
        return replace(o, register=index(o.register)) if isinstance(o, Address) else o

    return lambda i: replace(i, operands=tuple(map(operand, i.operands)))


def test_names_of_registers_do_not_count(hotspot):
    assert fingerprint(mapped(hotspot, moved(16))) == fingerprint(hotspot)


def test_calls_within_the_kernel_are_renamed_with_it():
    kernel = read(assemble((FIXTURES / "approx.ptx").read_text(), "sm_80")).kernels["approx"]
    assert any(i.opcode == "CALL" for i in kernel.instructions)
    assert fingerprint(mapped(kernel, moved(16))) == fingerprint(kernel)


def test_halves_of_a_pair_are_not_torn_apart(hotspot):
    """A move by one splits pairs, so it is other code."""
    assert fingerprint(mapped(hotspot, moved(1))) != fingerprint(hotspot)


def test_names_of_predicates_do_not_count(hotspot):
    swap = {0: 1, 1: 0}

    def other(o):
        return replace(o, index=swap.get(o.index, o.index)) if isinstance(o, Pred) else o

    def change(i):
        return replace(i, guard=other(i.guard), operands=tuple(map(other, i.operands)))

    assert fingerprint(mapped(hotspot, change)) == fingerprint(hotspot)


def test_one_register_for_another_counts(hotspot):
    at = next(n for n, i in enumerate(hotspot.instructions) if i.opcode == "FFMA")
    code = list(hotspot.instructions)
    target, *rest = code[at].operands
    last = next(o for o in rest[:2] if isinstance(o, Reg) and o.index != rest[-1].index)
    code[at] = replace(code[at], operands=(target, *rest[:-1], last))
    assert fingerprint(replace(hotspot, instructions=tuple(code))) != fingerprint(hotspot)


def test_numbers_and_schedules_count(hotspot):
    code = list(hotspot.instructions)
    at = next(n for n, i in enumerate(code) if any(isinstance(o, Imm) for o in i.operands))
    operands = tuple(
        replace(o, bits=o.bits ^ 1) if isinstance(o, Imm) else o for o in code[at].operands
    )
    other = [*code[:at], replace(code[at], operands=operands), *code[at + 1 :]]
    assert fingerprint(replace(hotspot, instructions=tuple(other))) != fingerprint(hotspot)
    late = replace(code[0], control=replace(code[0].control, stall=code[0].control.stall ^ 1))
    other = [late, *code[1:]]
    assert fingerprint(replace(hotspot, instructions=tuple(other))) != fingerprint(hotspot)


def test_padding_does_not_count(hotspot):
    last = hotspot.instructions[-1]
    assert last.opcode == "NOP"
    longer = replace(hotspot, instructions=(*hotspot.instructions, last, last))
    assert fingerprint(longer) == fingerprint(hotspot)


def test_operands_that_commute():
    load = "ld.global.f32 %f1, [%a]; ld.global.f32 %f2, [%a+4]; ld.global.f32 %f4, [%a+8];"
    one = kernel(f"{load} fma.rn.f32 %f3, %f1, %f2, %f4; st.global.f32 [%a], %f3;")
    at = next(n for n, i in enumerate(one.instructions) if i.opcode == "FFMA")
    d, a, b, c = one.instructions[at].operands
    code = list(one.instructions)
    code[at] = replace(code[at], operands=(d, b, a, c))
    assert fingerprint(replace(one, instructions=tuple(code))) == fingerprint(one)
    code[at] = replace(code[at], operands=(d, a, c, b))
    assert fingerprint(replace(one, instructions=tuple(code))) != fingerprint(one)


def test_the_same_ptx_in_other_words():
    one = kernel("ld.global.f32 %f1, [%a]; add.f32 %f2, %f1, %f1; st.global.f32 [%a], %f2;")
    two = kernel("ld.global.f32 %f7, [%a]; add.f32 %f3, %f7, %f7; st.global.f32 [%a], %f3;")
    three = kernel(
        "ld.global.f32 %f7, [%a]; add.f32 %f3, %f7, 1.0; st.global.f32 [%a], %f3;".replace(
            "1.0", "0f3F800000"
        )
    )
    assert fingerprint(one) == fingerprint(two)
    assert fingerprint(one) != fingerprint(three)


def test_functions_of_a_module_count_if_something_calls_them():
    module = read(assemble(to_ptx(locate("tuned/reduction").load().text), "sm_80"))
    ((name, function),) = module.functions.items()
    other = replace(function, instructions=function.instructions[1:])
    changed = replace(module, functions={name: other})
    assert module_fingerprint(changed) == module_fingerprint(module)  # nothing calls it
    calls = {n: replace(k, calls=frozenset({name})) for n, k in module.kernels.items()}
    assert module_fingerprint(replace(changed, kernels=calls)) != module_fingerprint(
        replace(module, kernels=calls)
    )
