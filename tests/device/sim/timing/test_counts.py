"""What is counted of a launch, on kernels small enough to count by hand."""

import pytest

from tests.device.sim.timing.timed import PROLOGUE, at, timed

LOAD = "ld.global.u32 %x0, [%w0];"


def test_coalesced_access_is_one_line_of_four_sectors():
    traffic = timed(at("%t") + LOAD).traffic
    assert (traffic["lines"], traffic["sectors"]) == (1, 4)


def test_strided_access_is_a_sector_per_lane():
    traffic = timed("mul.lo.u32 %x1, %t, 32;" + at("%x1") + LOAD).traffic
    assert (traffic["lines"], traffic["sectors"]) == (32, 32)


def test_stride_of_two_words_is_eight_sectors_in_two_lines():
    traffic = timed("mul.lo.u32 %x1, %t, 2;" + at("%x1") + LOAD).traffic
    assert (traffic["lines"], traffic["sectors"]) == (2, 8)


def test_broadcast_is_one_sector():
    traffic = timed("mov.u32 %x1, 5;" + at("%x1") + LOAD).traffic
    assert (traffic["lines"], traffic["sectors"]) == (1, 1)


def test_misaligned_warp_touches_one_sector_more():
    traffic = timed("add.u32 %x1, %t, 1;" + at("%x1") + LOAD).traffic
    assert (traffic["lines"], traffic["sectors"]) == (2, 5)


def test_vector_access_counts_all_its_bytes():
    traffic = timed(at("%t", 16) + "ld.global.v4.u32 {%x0,%x1,%x2,%x3}, [%w0];").traffic
    assert (traffic["lines"], traffic["sectors"]) == (4, 16)


def test_guarded_lanes_touch_nothing():
    body = "setp.lt.u32 %p0, %t, 8;" + at("%t") + "@%p0 ld.global.u32 %x0, [%w0];"
    assert timed(body).traffic["sectors"] == 1
    never = "setp.gt.u32 %p0, %t, 99;" + at("%t") + "@%p0 ld.global.u32 %x0, [%w0];"
    assert timed(never).traffic["sectors"] == 0


SHARED = "mov.u64 %w1, dynamic; mul.wide.u32 %w0, {index}, 4; add.s64 %w0, %w0, %w1;"


@pytest.mark.parametrize(
    ("index", "degree"),
    [("%t", 1), ("mul 2", 2), ("mul 4", 4), ("mul 32", 32), ("mul 33", 1), ("zero", 1)],
)
def test_bank_conflicts(index, degree):
    lines = {
        "%t": "mov.u32 %x1, %t;",
        "zero": "mov.u32 %x1, 0;",
    }.get(index, f"mul.lo.u32 %x1, %t, {index[4:]};")
    body = lines + SHARED.format(index="%x1") + "st.shared.u32 [%w0], %t;"
    assert timed(body, shared=8192).traffic["degree"] == degree


def test_eight_bytes_a_lane_take_two_cycles_of_the_banks():
    body = "mov.u64 %w1, dynamic; mul.wide.u32 %w0, %t, 8; add.s64 %w0, %w0, %w1; st.shared.u64 [%w0], %w0;"
    assert timed(body, shared=8192).traffic["degree"] == 2


def test_generic_access_to_shared_memory_is_shared():
    body = SHARED.format(index="%t") + "cvta.shared.u64 %w0, %w0; st.u32 [%w0], %t;"
    traffic = timed(body, shared=8192).traffic
    assert (traffic["degree"], traffic["sectors"]) == (1, 0)


def test_atomics_on_one_address_go_one_by_one():
    body = "red.global.add.u32 [%a], 1;"
    assert timed(body).traffic["atomics"] == 32
    apart = at("%t") + "red.global.add.u32 [%w0], 1;"
    assert timed(apart).traffic["atomics"] == 4
    pairs = "shr.u32 %x1, %t, 1;" + at("%x1") + "red.global.add.u32 [%w0], 1;"
    assert timed(pairs).traffic["atomics"] == 4  # 16 words in two sectors, each twice


def test_a_branch_taken_by_half_a_warp_issues_both_sides():
    body = """
    setp.lt.u32 %p0, %t, 16; @%p0 bra LOW;
    add.u32 %x0, %t, 1; add.u32 %x0, %x0, 1; add.u32 %x0, %x0, 1; bra DONE;
    LOW: sub.u32 %x0, %t, 1; sub.u32 %x0, %x0, 1;
    DONE: st.global.u32 [%a], %x0;
    """
    assert timed(body).instructions == PROLOGUE + 2 + 4 + 2 + 1
    assert timed(body.replace("%t, 16", "%t, 64")).instructions == PROLOGUE + 2 + 2 + 1


def test_a_loop_runs_as_often_as_its_longest_lane():
    body = """
    mov.u32 %x0, 0;
    LOOP: add.u32 %x0, %x0, 1; setp.lt.u32 %p0, %x0, %t; @%p0 bra LOOP;
    st.global.u32 [%a], %x0;
    """
    assert timed(body).instructions == PROLOGUE + 1 + 3 * 31 + 1


def test_local_memory_is_one_line_for_all_lanes():
    body = """
    { .local .align 4 .b8 own[64]; mov.b64 %w3, own; cvta.local.u64 %w3, %w3;
      st.u32 [%w3+8], %t; ld.u32 %x0, [%w3+8]; st.global.u32 [%a], %x0; }
    """
    traffic = timed(body).traffic
    assert (traffic["lines"], traffic["sectors"]) == (3, 9)


def test_all_warps_and_blocks_are_counted():
    timing = timed(at("%g") + LOAD, grid=5, block=96)
    assert timing.instructions == 15 * (PROLOGUE + 3)
    assert timing.traffic["sectors"] == 15 * 4
    assert timing.share == 1
