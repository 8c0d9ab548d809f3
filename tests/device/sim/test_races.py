import re

import numpy as np
import pytest

from gevolve.device.base import UNSURE
from gevolve.device.sim import Sim
from gevolve.evaluate.worker.judge import Fault, check_hazards
from gevolve.ir.llvm import load
from tests.device.sim.sound import FOLDER, KERNELS, RACY, broken, head, otherwise, run, sound


def test_there_are_enough_of_them():
    assert len(RACY) >= 20
    assert len(KERNELS) - len(RACY) >= 15


@pytest.mark.parametrize("name", RACY)
def test_broken_kernels_are_caught_and_their_lines_named(name, tmp_path):
    verdict = head(name)["verdict"]
    check = "values" if verdict == "uninitialised" else "hazards"
    _, known = run(name, sound(name), check)
    _, found = run(name, broken(name, tmp_path), check)
    with pytest.raises(Fault, match=rf"{name}\.cu:\d+") as fault:
        check_hazards(found, known, "case 0")
    assert fault.value.verdict == verdict


def test_only_kernels_that_take_liberties_have_hazards_of_their_own():
    found = {name: run(name, sound(name), "hazards")[1] for name in KERNELS}
    some = {name for name, all_ in found.items() if {one.kind for one in all_} - {UNSURE}}
    assert some == {"last_block", "leaves_early", "same_value", "shared_flag", "spin_lock"}
    unsure = {name for name, all_ in found.items() if UNSURE in {one.kind for one in all_}}
    assert unsure == {"atomics", "last_block", "spin_lock"}, "they read what other blocks wrote"


@pytest.mark.parametrize("name", KERNELS)
def test_sound_kernels_pass_however_they_are_compiled(name):
    first, second = sound(name), otherwise(name)
    plain, _ = run(name, first)
    _, known = run(name, first, "hazards")
    assert not run(name, first, "values")[1]
    for check in (None, *Sim().checks):
        if name == "volatile_warp" and check not in {None, "hazards"}:
            continue  # it lives by lanes that move in step
        got, found = run(name, second, check)
        check_hazards(found, known, "case 0")
        np.testing.assert_array_equal(got, plain, err_msg=str(check))


def without_lines(artefact: bytes) -> bytes:
    return re.sub(rb"(?m)^\s*\.loc\s.*$", b"", artefact)


def test_without_lines_instructions_are_named(tmp_path):
    _, known = run("tree", without_lines(sound("tree")), "hazards")
    _, found = run("tree", without_lines(broken("tree", tmp_path)), "hazards")
    with pytest.raises(Fault, match=r"st\.shared\.\w+ writes what ld\.shared\.\w+ reads"):
        check_hazards(found, known, "case 0")


def test_without_lines_a_kernel_that_races_may_race_in_the_same_way(tmp_path):
    _, known = run("same_value", without_lines(sound("same_value")), "hazards")
    _, found = run("same_value", sound("same_value"), "hazards")
    assert found
    check_hazards(found, known, "case 0")
    check_hazards(known, found, "case 0")


def test_a_flag_that_all_raise_alike_must_stay_so(tmp_path):
    path = tmp_path / "same_value.cu"
    text = (FOLDER / path.name).read_text()
    path.write_text(text.replace("out[n] = 1;", "out[n] = 1 + i;"))
    _, known = run("same_value", sound("same_value"), "hazards")
    _, found = run("same_value", Sim().build(load(path).text), "hazards")
    with pytest.raises(Fault, match=r"same_value\.cu:6 writes .* and not the same value"):
        check_hazards(found, known, "case 0")
