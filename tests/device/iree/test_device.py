"""Models as GPU kernels: what IREE makes of a program runs on the virtual GPU, and its time repeats."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from gevolve.device.iree.library import installed
from tests import ROOT
from tests.device.virtual.test_driver import on_gpu

pytestmark = pytest.mark.skipif(
    not installed() or importlib.util.find_spec("jax") is None,
    reason="IREE is not installed; pip install 'gevolve[iree,ml]'",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("iree")


@pytest.fixture(scope="module")
def found(folder):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.device.iree.script", folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_outputs_are_those_of_the_program(found):
    assert found["error"] < 1e-4
    assert found["own"] < 1e-4
    assert "iree:a100 computes the same" in found["agree"]


def test_time_is_that_of_the_launches_and_repeats(found):
    assert found["time"] == found["repeated"] > 1000
    (_, *others) = found["kernels"].values()
    assert found["cycles"] + 1800 * len(others) == pytest.approx(found["time"])


def test_sums_in_bfloat16_are_computed(found):
    assert found["bfloat16"] < 1e-2


def test_a_search_runs_a_program_once_where_nothing_can_differ_the_second_time(found):
    assert found["sees_empty"] == [False, True]


def test_of_a_variant_only_what_nobody_had_before_is_compiled_and_timed(found):
    (first, compiled, timed), *others = found["work"]
    assert compiled == first
    assert timed <= compiled  # kernels may have the same machine code
    for count, new, fresh in others[:-1]:
        assert 0 <= new < count
        assert fresh < count  # one that is known is timed again where its tensors lie otherwise
    assert others[0][1] == 1  # the block that was edited, and none of those that were not
    assert others[-1] == [first, 0, 0]


@pytest.mark.parametrize("name", ["unedited", "edited", "skipped", "kernel", "one", "until"])
def test_in_a_search_a_program_takes_the_time_of_its_pieces(found, name):
    pieces, whole = found["in_pieces"][name]
    # Where tensors lie in memory may differ a little.
    assert pieces == pytest.approx(whole, rel=5e-3)


def test_pieces_are_given_to_iree_once_each(found):
    # All blocks of the unedited program are one piece; an edit makes another of one, and a loop is one by itself.
    assert found["in_pieces"]["pieces"] == [1, 1, 2, 2, 1, 2]
    assert found["in_pieces"]["new"] == 2


def test_where_pieces_do_not_take_the_time_of_the_whole_programs_are_timed_whole(found):
    time, divisible = found["in_pieces"]["indivisible"]
    assert divisible is False
    assert time == found["in_pieces"]["unedited"][1]


def test_a_kernel_is_known_by_the_operations_that_it_is_launched_for(found):
    assert list(found["layers"]) == found["layer_kernels"]
    products = [line.split()[0].strip("%") for line in found["program"].splitlines() if "dot_general" in line]  # fmt: skip
    (shares,) = (one for name, one in found["layers"].items() if "matmul" in name)
    assert [label.split()[0] for label in shares] == products
    assert list(shares.values()) == pytest.approx([1 / 3] * 3)


def test_a_loop_is_launched_as_often_as_it_goes_round(found):
    (three, few), (nine, many) = found["loops"]
    assert few < many
    assert three < nine


def test_a_loop_that_depends_on_data_is_computed(found):
    assert found["until"] == 128
    assert found["until_time"] > 0


def test_the_largest_of_each_row_are_found_in_order(found):
    assert found["largest"] == [[[3, 3, 3, 2], [9, 9, 5, 5]], [[0, 2, 5, 3], [3, 5, 0, 1]]]


def test_what_is_computed_once_is_computed(found):
    assert found["constant"] == [1, 1, 1, 1]


def test_programs_of_a_device_that_has_failed_can_be_forgotten(found):
    assert found["more"] == [1] * 7


def test_what_iree_rejects_is_said_in_one_line(found):
    assert found["refused"].startswith("IREE does not compile it: ")
    assert "\n" not in found["refused"]


def test_iree_shares_no_process_with_others_that_bring_an_llvm(found):
    assert found["there"]
    assert (found["beside"], found["here"]) == ([], [])


def test_a_process_that_is_gone_is_told_of_and_started_again(found):
    assert found["lost"].startswith("IREE's process has ended")
    assert found["again"] < 1e-4


def run_module(folder, name, *, clean=True):
    """What IREE's own tool prints, and what it did on the virtual GPU."""
    libraries = importlib.util.find_spec("iree._runtime_libs").submodule_search_locations[0]
    given = ("--device=cuda", "--function=main", f"--module={folder / name}")
    inputs = ("--input=8x16xf32=1", "--input=16x4xf32=0.5")
    done, (session,) = on_gpu(folder, Path(libraries, "iree-run-module"), *given, *inputs)
    assert not clean or (session.findings, session.missing) == ([], []), done.stderr
    return done.stdout, session


def test_iree_s_own_tool_runs_on_the_virtual_gpu(found, folder):
    printed, session = run_module(folder, "layer.vmfb")
    assert "8x4xf32=[8 8 8 8]" in printed
    assert "f32=256" in printed
    assert set(session.kernels) == set(found["kernels"])


def test_an_edited_kernel_takes_the_place_of_iree_s_own(found, folder):
    assert found["edited"] == 1
    printed, session = run_module(folder, "evolved.vmfb")
    assert "8x4xf32=[0 0 0 0]" in printed  # the smaller of 8 and 0, where the larger was taken
    assert set(session.kernels) == set(found["kernels"])


def test_kernels_of_a_program_have_their_code_and_cycles(found):
    levels = found["levels"]
    assert set(levels["kernels"]) == set(found["kernels"])
    assert all(cycles > 0 for cycles in levels["kernels"].values())


def test_outputs_of_an_edited_kernel_are_its_own(found):
    levels = found["levels"]
    unedited, (kernel,) = levels["recompile"]
    assert kernel == levels["name"]
    assert float(unedited) == pytest.approx(6.9766, abs=1e-3)
    assert levels["store"] == [
        "nan",
        [kernel],
    ]  # what it does not write is no number, whatever was there


def test_an_edit_of_a_kernel_that_changes_no_code_leaves_it_as_iree_made_it(found):
    levels = found["levels"]
    assert levels["nothing"] == [levels["recompile"][0], []]


def test_edits_of_kernels_that_are_not_there_do_nothing(found):
    levels = found["levels"]
    assert levels["elsewhere"] == levels["nothing"]
    assert levels["gone"][1] == []
    assert levels["gone"][0] != levels["nothing"][0]  # the edit of the graph has been made


def test_an_exported_module_has_the_edited_kernel(found, folder):
    printed, session = run_module(folder, "levels.vmfb", clean=False)
    assert "8x4xf32=[8 8 8 8]" not in printed
    assert set(session.kernels) == set(found["kernels"])
    assert any("1 of them edited" in note for note in found["levels"]["notes"])
