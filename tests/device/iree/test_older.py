"""Numbers of a newer LLVM are read by llvmlite's as the same numbers."""

import struct

import pytest

from gevolve.device.iree.older import older
from gevolve.ir.llvm.verifier import verify


def test_numbers_are_those_of_their_types():
    text = "  %1 = fmul float %0, 3.000000e-01"
    assert older(text) == "  %1 = fmul float %0, 0x3FD3333340000000"
    assert older("  %1 = fma(float %0, float f0x3FB8AA3B)").endswith("float 0x3FF7154760000000)")
    assert older("  %1 = fadd double %0, 1.000000e-01").endswith("0x3FB999999999999A")
    assert older("  %1 = fadd half %0, 1.000000e-01").endswith("0xH2E66")
    assert older("  %1 = fadd bfloat %0, f0x3DCC").endswith("0xR3DCC")


@pytest.mark.parametrize(
    ("word", "value"),
    [("+inf", 0x7F800000), ("-inf", 0xFF800000), ("+qnan", 0x7FC00000), ("-nan(0x7)", 0xFF800007)],
)
def test_what_is_no_number_keeps_its_bits(word, value):
    wide = older(f"  store float {word}, ptr %x").split(" ")[4].rstrip(",")
    mantissa = int(wide, 16) >> 29 & 0x7FFFFF
    assert mantissa == value & 0x7FFFFF
    assert int(wide, 16) >> 63 == value >> 31


def test_the_smallest_number_is_kept():
    (least,) = struct.unpack("<f", (1).to_bytes(4, "little"))
    wide = older("  store float f0x00000001, ptr %x").split(" ")[4].rstrip(",")
    assert struct.unpack(">d", int(wide, 16).to_bytes(8, "big")) == (least,)


def test_names_strings_and_comments_stay():
    for line in (
        "; 1.000000e-01",
        'source_filename = "0.1e-1"',
        '  call void asm "mov 0.5", ""()',
        "!0 = !{float 1.000000e-01}",
        "  %x1.5 = add i32 %a, 1",
    ):
        assert older(line) == line


def test_llvmlite_takes_it():
    text = "define float @f(float %0) {\n  %2 = fadd float %0, 3.000000e-01\n  ret float %2\n}\n"
    assert verify(text)
    assert verify(older(text)) is None
