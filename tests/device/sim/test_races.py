import numpy as np
import pytest
from sound import KERNELS, RACY, broken, head, otherwise, run, sound

from gevo.device.sim import Sim
from gevo.evaluate.judge import Fault, check_hazards


def test_there_are_enough_of_them():
    assert len(RACY) >= 20
    assert len(KERNELS) - len(RACY) >= 15


@pytest.mark.parametrize("name", RACY)
def test_broken_kernels_are_caught_and_their_lines_named(name, tmp_path):
    _, known = run(name, sound(name), "hazards")
    _, found = run(name, broken(name, tmp_path), "hazards")
    with pytest.raises(Fault, match=rf"{name}\.cu:\d+") as fault:
        check_hazards(found, known, "case 0")
    assert fault.value.verdict == head(name)["verdict"]


def test_only_kernels_that_take_liberties_have_hazards_of_their_own():
    some = {name for name in KERNELS if run(name, sound(name), "hazards")[1]}
    assert some == {"last_block", "leaves_early", "same_value", "shared_flag", "spin_lock"}


@pytest.mark.parametrize("name", KERNELS)
def test_sound_kernels_pass_however_they_are_compiled(name):
    first, second = sound(name), otherwise(name)
    plain, _ = run(name, first)
    _, known = run(name, first, "hazards")
    for check in (None, *Sim().checks):
        if name == "volatile_warp" and check not in {None, "hazards"}:
            continue  # it lives by lanes that move in step
        got, found = run(name, second, check)
        check_hazards(found, known, "case 0")
        np.testing.assert_array_equal(got, plain, err_msg=str(check))
