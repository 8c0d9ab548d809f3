"""Patches of two levels: edits of a model's graph, and of the kernels that a compiler makes of it.

An edit of a kernel is one of LLVM-IR whose kind begins with ``kernel-`` and whose first field is the name of
the kernel, which is a digest of what it computes. Every other edit is of the graph:

    delete o3 #1; kernel-fast-math matmul_8x4_f32_3fa90c1d2e4b i3 contract #1

What a graph makes of an edit of a kernel is known when it is compiled: a graph without that kernel does without
the edit. So a variant's text keeps these edits as comments below the graph, for the device that compiles it.
"""

from collections.abc import Mapping
from dataclasses import replace

from gevolve.errors import PatchError
from gevolve.patch import Edit, Patch

PREFIX = "kernel-"
RECOMPILE = "recompile"
"""An edit of a kernel that changes nothing in it: LLVM optimizes it once more, after the compiler that made it."""
_SIGN = "//kernel "


def of_kernel(edit: Edit) -> bool:
    """Whether an edit is of a kernel, not of the graph."""
    return edit.kind.startswith(PREFIX)


def in_kernel(kernel: str, edit: Edit) -> Edit:
    """An edit of LLVM-IR as one of a model, in a kernel of this name."""
    return Edit(PREFIX + edit.kind, (kernel, *edit.args), edit.seed)


def in_llvm(edit: Edit) -> tuple[str, Edit]:
    """The kernel that an edit is of, and the edit of its LLVM-IR; raises `PatchError` if it names none."""
    if not edit.args:
        raise PatchError(f"'{edit}': {edit.kind} has no fields; the first is the name of a kernel")
    return edit.args[0], replace(edit, kind=edit.kind.removeprefix(PREFIX), args=edit.args[1:])


def by_kernel(patch: Patch) -> dict[str, Patch]:
    """The edits of kernels in a patch, as patches of LLVM-IR by the kernel's name."""
    found: dict[str, list[Edit]] = {}
    for kernel, edit in map(in_llvm, filter(of_kernel, patch)):
        found.setdefault(kernel, []).append(edit)
    return {kernel: Patch(tuple(edits)) for kernel, edits in found.items()}


def to_comments(kernels: Mapping[str, Patch]) -> str:
    """Edits of kernels as comments below a graph, the same whatever the order of the kernels is."""
    return "".join(f"{_SIGN}{kernel}: {patch}\n" for kernel, patch in sorted(kernels.items()))


def from_comments(text: str) -> dict[str, Patch]:
    """The edits of kernels in the text of a variant."""
    found: dict[str, Patch] = {}
    for line in text.splitlines() if _SIGN in text else ():
        if line.startswith(_SIGN):
            kernel, _, edits = line.removeprefix(_SIGN).partition(": ")
            found[kernel] = Patch.parse(edits)
    return found
