"""What it costs to apply a patch of 20 edits, print, parse and verify, by size of the module."""

import time

import llvmlite.binding as llvm
import numpy as np

from gevolve.ir.llvm.program import LlvmProgram
from gevolve.patch import Patch

SIZES = (40, 160, 640, 2500, 5000, 15000)
REPEATS = 25

HEADER = """target triple = "nvptx64-nvidia-cuda"

@tile = internal addrspace(3) global [1024 x float] undef, align 4

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

define ptx_kernel void @k(ptr %out, ptr %in, i32 %n, float %scale) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %b0

"""
BLOCK = """b{b}:
  %i{b} = add nsw i32 {previous}, {b}
  %c{b} = icmp slt i32 %i{b}, %n
  br i1 %c{b}, label %t{b}, label %j{b}

t{b}:
  %p{b} = getelementptr inbounds float, ptr %in, i32 %i{b}
  %x{b} = load float, ptr %p{b}, align 4
  %y{b} = fmul contract float %x{b}, %scale
  %z{b} = fadd contract float %y{b}, {b}.0
  %s{b} = getelementptr inbounds float, ptr addrspace(3) @tile, i32 %tid
  store float %z{b}, ptr addrspace(3) %s{b}, align 4
  br label %j{b}

j{b}:
  %v{b} = phi float [ 0.0, %b{b} ], [ %z{b}, %t{b} ]
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %q{b} = getelementptr inbounds float, ptr %out, i32 %i{b}
  store float %v{b}, ptr %q{b}, align 4
  br label %b{after}

"""


def module(size: int) -> str:
    """A kernel of about this many instructions, with branches, phis, memory and barriers."""
    blocks = max(1, size // 15)
    body = "".join(
        BLOCK.format(b=b, after=b + 1, previous=f"%i{b - 1}" if b else "%tid")
        for b in range(blocks)
    )
    return f"{HEADER}{body}b{blocks}:\n  ret void\n}}\n"


def main() -> None:
    print(
        f"{'instructions':>12} {'apply ms':>9} {'parse+verify ms':>16} {'total ms':>9} {'us/instr':>9}"
    )
    for size in SIZES:
        program = LlvmProgram(str(llvm.parse_assembly(module(size))))
        rng = np.random.default_rng(1)
        apply: list[float] = []
        verify: list[float] = []
        for _ in range(REPEATS):
            edits = (
                program.propose(program.kinds[int(rng.integers(6))], rng, None) for _ in range(20)
            )
            patch = Patch(tuple(edit for edit in edits if edit is not None))
            start = time.perf_counter()
            variant = program.apply(patch)
            middle = time.perf_counter()
            assert program.verify(variant.text) is None
            verify.append(time.perf_counter() - middle)
            apply.append(middle - start)
        one, two = (1e3 * float(np.median(part)) for part in (apply, verify))
        print(
            f"{program.size:>12} {one:>9.2f} {two:>16.2f} {one + two:>9.2f} "
            f"{1e3 * (one + two) / program.size:>9.2f}"
        )
