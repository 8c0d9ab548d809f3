"""What machine code must not do, and where its lanes meet: as PTX is held to it, so is what it becomes."""

from contextlib import closing

import numpy as np
import pytest

from gevolve.device.base import Limits, Stopped
from gevolve.device.sim import Sim
from gevolve.device.sim.machine.program import load_ptx
from gevolve.errors import UnsupportedError
from tests.device.sim.sound import KERNELS, broken, head, run, sound

F = np.float32
HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"
ORDERS = ("together", "forward", "backward", "shuffled")
DEVICE = Sim(arch="sm_80")


def ptx(code: str, shared: int = 256) -> bytes:
    """A kernel in which ``%t`` is the thread and ``%o`` its place in the output, which gets ``%d``."""
    return f"""{HEADER}
.const .align 4 .u32 table[4] = {{1, 2, 3, 4}};
.visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n)
{{
.shared .align 16 .b8 s[{shared}];
.local .align 16 .b8 depot[64];
.reg .b32 %t, %d, %n, %x<8>; .reg .b64 %a, %b, %o, %w<8>; .reg .pred %p<4>;
mov.u32 %t, %tid.x; ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u32 %n, [n];
mul.wide.u32 %w7, %t, 4; add.u64 %o, %b, %w7; mul.wide.s32 %w0, %n, 1;
{code}
DONE: st.global.u32 [%o], %d; ret;
}}""".encode()


def launch(code: str, n: int = 0, threads: int = 32, **options):
    with closing(DEVICE.open(ptx(code), options.pop("limits", Limits()), **options)) as gpu:
        a, b = gpu.array(np.arange(100, dtype=np.int32)), gpu.zeros(threads, np.int32)
        gpu.launch("k", 1, threads, a, b, n)
        return b.get(), gpu.usage()


@pytest.mark.parametrize(
    ("code", "n", "words"),
    [
        ("add.u64 %w0, %a, %w0; ld.global.u32 %d, [%w0];", 400, "load of 4 bytes 0 bytes after"),
        ("add.u64 %w0, %a, %w0; ld.u32 %d, [%w0];", -4, "load of 4 bytes 4 bytes before"),
        ("add.u64 %w0, %a, %w0; ld.global.u32 %d, [%w0];", 2, "not a multiple of 4"),
        ("add.u64 %w0, %a, %w0; ld.global.u32 %d, [%w0];", 1 << 30, "in no buffer"),
        ("add.u64 %w0, %a, %w0; st.global.u32 [%w0], 7;", 404, "store of 4 bytes 4 bytes after"),
        ("add.u64 %w0, %a, %w0; red.global.add.u32 [%w0], %t;", 400, "atomic of 4 bytes"),
        ("mov.u64 %w1, s; add.u64 %w0, %w1, %w0; st.shared.u32 [%w0], 7;", 256, "shared memory"),
        ("mov.u64 %w1, s; add.u64 %w0, %w1, %w0; ld.shared.u32 %d, [%w0];", 2, "shared memory"),
        (
            "mov.u64 %w1, s; cvta.shared.u64 %w1, %w1; add.u64 %w0, %w1, %w0; ld.u32 %d, [%w0];",
            256,
            "load of 4 bytes",
        ),
        ("mov.u64 %w1, depot; add.u64 %w0, %w1, %w0; ld.local.u32 %d, [%w0];", -4096, "load of 4"),
        (
            "mov.u64 %w1, table; add.u64 %w0, %w1, %w0; ld.const.u32 %d, [%w0];",
            1 << 20,
            "load of 4",
        ),
    ],
)
def test_every_access_is_held_to_its_memory(code, n, words):
    with pytest.raises(Stopped, match=words) as stopped:
        launch(f"mov.u32 %d, 0; {code}", n)
    assert stopped.value.verdict == "crash"


def test_within_bounds_nothing_stops():
    code = "mov.u64 %w1, s; add.u64 %w0, %w1, %w0; st.shared.u32 [%w0], 7; ld.shared.u32 %d, [%w0];"
    assert set(launch(code, 252)[0].tolist()) == {7}


def test_loops_burn_fuel():
    code = "mov.u32 %d, 0; L: mul.lo.u32 %d, %d, %n; add.u32 %d, %d, 3; setp.ne.u32 %p0, %d, 1; @%p0 bra L;"
    with pytest.raises(Stopped) as stopped:
        launch(code, 6, limits=Limits(fuel=1000))
    assert stopped.value.verdict == "fuel"


@pytest.mark.parametrize("order", ORDERS)
def test_lanes_part_and_meet_again(order):
    """Each lane goes round its own number of times; a shuffle of all must then see all."""
    code = """mov.u32 %d, 0; mov.u32 %x0, %t;
    L: add.u32 %d, %d, %x0; sub.u32 %x0, %x0, 1; setp.gt.s32 %p0, %x0, 0; @%p0 bra L;
    shfl.sync.bfly.b32 %x1, %d, 1, 31, -1; mul.lo.u32 %d, %x1, 1000; add.u32 %d, %d, %t;"""
    got, _ = launch(code, order=order)
    sums = [max(sum(range(1, t + 1)), 0) for t in range(32)]
    assert got.tolist() == [1000 * sums[t ^ 1] + t for t in range(32)]


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90"])
def test_how_much_shared_memory_a_launch_asks_for_is_known(arch):
    with closing(
        Sim(arch=arch).open(ptx("mov.u32 %d, %dynamic_smem_size;").replace(b"sm_80", b"sm_75"))
    ) as gpu:
        b = gpu.zeros(32, np.int32)
        gpu.launch("k", 1, 32, gpu.zeros(1), b, 0, shared=96)
        assert set(b.get().tolist()) == {96}


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90"])
def test_constants_have_generic_addresses(arch):
    code = """and.b32 %x0, %t, 3; mul.wide.u32 %w1, %x0, 4; mov.u64 %w2, table; cvta.const.u64 %w2, %w2;
    add.u64 %w2, %w2, %w1; ld.u32 %d, [%w2];"""
    with closing(Sim(arch=arch).open(ptx(code).replace(b"sm_80", b"sm_75"))) as gpu:
        b = gpu.zeros(32, np.int32)
        gpu.launch("k", 1, 32, gpu.zeros(1), b, 0)
        assert b.get().tolist() == [1, 2, 3, 4] * 8


@pytest.mark.parametrize("order", ORDERS)
def test_barriers_and_named_barriers(order):
    code = """mov.u64 %w1, s; add.u64 %w2, %w1, %w7; st.shared.u32 [%w2], %t; bar.sync 0;
    xor.b32 %x0, %t, 32; mul.wide.u32 %w3, %x0, 4; add.u64 %w3, %w1, %w3; ld.shared.u32 %d, [%w3];
    setp.lt.u32 %p0, %t, 32; @%p0 bra LOW; bar.sync 1, 64; bra DONE; LOW: bar.arrive 1, 64;"""
    got, _ = launch(code, threads=64, order=order)
    assert got.tolist() == [t ^ 32 for t in range(64)]


def test_threads_that_wait_for_each_other_are_a_deadlock():
    code = "mov.u32 %d, 0; setp.lt.u32 %p0, %t, 32; @%p0 bra LOW; bar.sync 1; bra DONE; LOW: bar.sync 2;"
    with pytest.raises(Stopped, match="deadlock") as stopped:
        launch(code, threads=64)
    assert stopped.value.verdict == "divergent-barrier"


def test_an_unknown_instruction_is_named():
    code = """.reg .b32 %q<8>; mov.u32 %q0, %t; mov.u32 %q1, %t; mov.u32 %q2, %t; mov.u32 %q3, %t;
    .reg .f32 %f<8>; mov.f32 %f0, 0f00000000; mov.f32 %f1, 0f00000000; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
    mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%q0,%q1}, {%q2}, {%f0,%f1,%f2,%f3};
    mov.b32 %d, %f0;"""
    with pytest.raises(
        UnsupportedError, match=r"^SASS instruction HMMA\.\S+ \(sm_80.*\) is not known$"
    ):
        load_ptx(ptx(code), "sm_80")


BETWEEN = ("in_a_branch", "next_tile", "between_blocks", "off_by_one", "halo_unset", "early_return")
"""Kernels whose broken forms race between warps or blocks, read what nobody wrote, or miss barriers."""


@pytest.mark.parametrize("name", [n for n in BETWEEN if n in KERNELS])
def test_hazards_are_found(name, tmp_path):
    verdict = head(name)["verdict"]
    check = "values" if verdict == "uninitialised" else "hazards"
    _, known = run(name, sound(name), check, DEVICE)
    _, found = run(name, broken(name, tmp_path), check, DEVICE)
    assert verdict in {hazard.kind for hazard in set(found) - set(known)}


@pytest.mark.parametrize(
    "name", ["volatile_warp", "warp_halves", "tiles_of_eight", "warp_exchange"]
)
def test_lanes_in_step_are_no_hazard(name):
    assert not run(name, sound(name), "hazards", DEVICE)[1]


def test_the_trace_has_machine_blocks():
    program = load_ptx(ptx("add.u64 %w0, %a, %w7; ld.global.u32 %d, [%w0]; bar.sync 0;"), "sm_80")
    kernel = program.kernels["k"]
    code = program.code("k")
    assert [len(block.instructions) for block in kernel.flow] == [s[1] for s in code.spans.tolist()]
    assert [site.code.opcode for site in kernel.sites] == ["LDG", "STG"]
    assert "BAR.SYNC.DEFER_BLOCKING" in code.names


@pytest.mark.parametrize("mask", ["0xffffffff", "groups"])
def test_votes_of_a_mask_that_only_the_run_knows(mask):
    """The assembler asks whether all lanes have the same mask, and calls a function if not."""
    chosen = {
        "0xffffffff": "not.b32 %x0, %n;",
        "groups": "mov.u32 %x0, 65535; setp.gt.u32 %p1, %t, 15; @%p1 shl.b32 %x0, %x0, 16;",
    }[mask]
    code = (
        f"{chosen} and.b32 %x1, %t, 1; setp.eq.u32 %p0, %x1, 0; vote.sync.ballot.b32 %d, %p0, %x0;"
    )
    got, _ = launch(code)
    want = np.full(32, 0x55555555, np.uint32)
    if mask == "groups":
        want &= np.where(np.arange(32) < 16, 0xFFFF, 0xFFFF0000).astype(np.uint32)
    assert got.view(np.uint32).tolist() == want.tolist()
