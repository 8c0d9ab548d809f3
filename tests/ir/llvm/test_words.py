"""What instructions are called: by what the source says, with no word of LLVM-IR."""

import re

import pytest

from gevolve.ir.llvm import load
from gevolve.patch import Edit

SOURCE = """
__device__ float table[64];
__global__ void k(const float *input, float *out, int n) {
  __shared__ float tile[64];
  int t = threadIdx.x;
  tile[t] = input[t];
  __syncthreads();
  float sum = table[t];
  for (int i = 0; i < n; i++)
    sum += tile[(t + i) % 64] / sqrtf(input[i]);
  if (sum > 3)
    atomicAdd(out, sum);
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("words") / "k.cu"
    path.write_text(SOURCE)
    return load(path)


def words(program):
    return {
        program.show(id_)[0] for id_ in re.findall(r"^  %(i\d+) =", program.text, re.MULTILINE)
    } | {
        program.describe(edit).sentence
        for patch in program.sweep(program.kinds, None)
        for edit in patch
    }


@pytest.mark.parametrize(
    "said",
    [
        "the load of `input` (k.cu:6)",
        "the load of `tile` (k.cu:10)",
        "the load of `table` (k.cu:8)",
        "the `threadIdx.x` (k.cu:5)",
        "the division (k.cu:10)",
        "the atomic operation (k.cu:12)",
        "__syncwarp() instead of the barrier (k.cu:7)",
        "#pragma unroll 4 at the loop (k.cu:9)",
        "take the condition of the branch (k.cu:11) as always true",
        "delete the store to `tile` (k.cu:6)",
        "declare `out` of k (k.cu:3) as __restrict__",
    ],
)
def test_what_is_said(program, said):
    assert said in words(program)


def test_no_id_and_no_ir_in_what_is_said(program):
    for one in words(program):
        assert not re.search(r"%|\b[ib]\d+\b", one), one


def test_without_source_lines_the_ir_is_shown(tmp_path, program):
    bare = re.sub(r", !dbg !\d+|(?<=\)) !dbg !\d+", "", program.text)
    path = tmp_path / "k.ll"
    path.write_text(re.sub(r"\s#dbg_\w+\(.*\)", "", bare))
    found = load(path).describe(Edit("delete", ("i0",), 1)).sentence
    assert re.match(r"delete i0 `%i0 = ", found)


def test_what_the_compiler_has_merged_is_told_by_the_lines_it_comes_from(tmp_path):
    path = tmp_path / "m.cu"
    path.write_text(
        """__global__ void m(float *out, int n) {
  int t = threadIdx.x;
  if (t < n)
    out[t] = 2 * out[t];
  else
    out[t] = 3 + out[t];
}
"""
    )
    program = load(path)
    (store,) = re.findall(r"^  store .*", program.text, re.MULTILINE)
    assert "!dbg" in store  # of line 0, for it stands for both
    assert any("the store to `out` (from m.cu:" in one for one in words(program))
