"""Numbers that the host code offers are part of patches, and reach the host code again."""

from gevolve.device.parameters import chosen
from gevolve.device.sim import Sim
from gevolve.evaluate.pool import Pool
from gevolve.ir.llvm.codegen import to_ptx
from gevolve.patch import Patch
from gevolve.run.claim import launches_otherwise
from gevolve.workload.locate import locate

WORKLOAD = """
import numpy as np

import gevolve


class Scale(gevolve.KernelWorkload):
    source = "scale.cu"

    def case(self, rng, size):
        n = {"search": 3000, "held-out": 2500, "large": 9000}[size]
        return gevolve.Case(x=rng.random(n, np.float32))

    def run(self, gpu, case):
        block = gpu.parameter("block", 512, 32, 128)
        x = gpu.array(case.x)
        gpu.launch("scale", -(-case.x.size // block), block, x, case.x.size)
        return x.get()
"""
SOURCE = """
extern "C" __global__ void scale(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = 3.0f * x[i] + sqrtf(x[i]);
}
"""


def test_a_search_finds_them_and_a_run_has_them(tmp_path):
    (tmp_path / "scale.py").write_text(WORKLOAD)
    (tmp_path / "scale.cu").write_text(SOURCE)
    workload = locate(f"{tmp_path / 'scale.py'}:Scale")
    program = workload.load()
    assert not program.sweep(["parameter"], None)
    with Pool(workload, workers=1, device="sim:t4") as pool:
        base = pool.prepare()
        assert base.profile["line scale.cu:6"] > base.profile["line scale.cu:4"] > 0
        patches = program.sweep(["parameter"], base.profile)
        assert [str(patch) for patch in patches] == [
            "parameter block 32 #1",
            "parameter block 128 #1",
        ]
        several = [*patches, Patch.parse("parameter block 64 #1"), Patch()]
        for number, patch in enumerate(several):
            pool.submit(number, patch)
        found = dict(pool.results())
    small, middle, foreign, unedited = (found[number] for number in range(4))
    assert small.ok
    assert middle.ok
    assert len({small.time, middle.time, unedited.time}) > 1
    assert len({small.fingerprint, middle.fingerprint, unedited.fingerprint}) == 3
    assert foreign.verdict == "crash"
    assert "block is 64, which is none of 512, 32, 128" in foreign.detail


def test_other_blocks_need_not_do_less_to_gain():
    assert launches_otherwise(Patch.parse("noalias a0 #1; parameter block 64 #1"))
    assert not launches_otherwise(Patch.parse("noalias a0 #1"))


def test_the_choice_is_the_only_difference_of_the_artefact():
    program = locate("papers/nn").load()
    plain = to_ptx(program.text)
    variant = program.apply(Patch.parse("parameter block 64 #1; parameter a 3 #1"))
    assert program.verify(variant.text) is None
    ptx = to_ptx(variant.text)
    assert ptx == f"// gevolve.parameter a=3\n// gevolve.parameter block=64\n{plain}"
    assert chosen(ptx.encode()) == {"a": 3, "block": 64}
    assert chosen(plain.encode()) == {}
    device = Sim("t4")
    one, other = (device.fingerprint(text.encode()) for text in (plain, ptx))
    assert other == f"{one} a=3 block=64"
