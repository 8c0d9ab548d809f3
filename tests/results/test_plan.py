"""Which runs a measurement consists of."""

from pathlib import Path

import pytest

from gevolve.errors import OptionError
from gevolve.results.plan import plan, select
from gevolve.suite import PAPERS, TUNED


def test_groups_and_names():
    assert select([]) == list(PAPERS)
    assert select(["tuned"]) == select(["tuned/"]) == list(TUNED)
    assert select(["gemm", "tuned/hotspot", "hotspot", "hotspot"]) == [
        "papers/hotspot",
        "tuned/hotspot",
        "tuned/gemm",
    ]


def test_a_name_that_is_none():
    with pytest.raises(OptionError, match=r"no workload or group 'stencl'.*papers, tuned, models"):
        select(["hotspot", "stencl"])


def test_every_seed_preset_and_device_has_a_folder_of_its_own():
    tasks = plan(["tuned"], ["sim:t4", "sim:a100"], ["default", "paper"], 3)
    assert len({task.folder(Path("r")) for task in tasks}) == len(tasks) == len(TUNED) * 2 * 2 * 3
    assert [task.seed for task in tasks] == sorted(task.seed for task in tasks)


def test_a_workload_brings_its_device():
    assert {task.device for task in plan(["tuned"], [], [], 1)} == {"sim:a100"}


def test_no_seeds():
    with pytest.raises(OptionError, match="--seeds is 0"):
        plan([], [], [], 0)
