"""When kernels are searched and which of them; a whole run of both levels is in tests/device/iree."""

from types import SimpleNamespace

import pytest

from gevolve.device.cost import KernelCode
from gevolve.errors import OptionError
from gevolve.evaluate.verdict import Evaluation, Verdict
from gevolve.patch import Patch
from gevolve.run import levels
from gevolve.run.levels import KernelStage, check_levels, is_due, level_settings
from gevolve.run.options import Options
from gevolve.run.store import Store
from gevolve.search import Settings


def run(chosen, stage=None):
    """A run of 100 evaluations or 1000 seconds; a generation is ten evaluations."""

    def get(name, kind, default):
        return default if stage is None else stage

    def count(*, until):
        return 1 + 10 * until

    config = SimpleNamespace(levels=chosen, budget=(100, 1000.0))
    return SimpleNamespace(config=config, store=SimpleNamespace(get=get, count=count))


def test_kernels_are_searched_after_their_share_of_either_budget():
    both = run(("graph", "kernels"))
    assert not is_due(both, 4, 499.0)
    assert is_due(both, 5, 0.0)
    assert is_due(both, 0, 500.0)
    assert not is_due(run(("graph",)), 10, 1000.0)
    assert is_due(run(("kernels",)), 0, 0.0)


def test_what_a_stopped_generation_had_judged_does_not_count(tmp_path):
    store = Store.create(tmp_path / "run", {}, "digest", "text")
    ok = Evaluation(verdict=Verdict.OK, time=1.0, error=0.0)
    store.add([(Patch(), ok, -1)])
    for number, generation in enumerate([0, 0, 1]):
        store.add([(Patch.parse(f"delete o{number} #1"), ok, generation)])
    assert [store.count(until=generation) for generation in (0, 1, 2)] == [1, 3, 4]
    assert store.count() == 4
    store.close()


def test_kernels_are_searched_once():
    begun = run(("graph", "kernels"), stage=KernelStage(3, 2, {}))
    assert not is_due(begun, 9, 999.0)
    assert not levels.is_wanted(begun)


def test_the_hottest_kernels_are_edited():
    cycles = {f"k{n}": 100.0 - n for n in range(12)} | {"idle": 0.5}
    stage = KernelStage(0, 0, {name: KernelCode("", one) for name, one in cycles.items()})
    assert list(stage.hottest) == [f"k{n}" for n in range(levels.MOST)]
    few = KernelStage(0, 0, {"hot": KernelCode("", 99.5), "idle": KernelCode("", 0.5)})
    assert few.hottest == {"hot": 0.995}


def test_each_level_draws_the_edit_kinds_that_it_has():
    settings = Settings(edits=("paper", "copy", "kernel-copy", "-swap", "-kernel-swap"))
    assert level_settings(settings, kernels=False).edits == ("paper", "copy", "-swap")
    assert level_settings(settings, kernels=True).edits == ("paper", "kernel-copy", "-kernel-swap")


@pytest.mark.parametrize("device", ["xla:cpu", "sim:a100", "iree:cuda:0"])
def test_kernels_need_a_device_that_shows_them(device):
    check_levels(("graph",), device)
    with pytest.raises(OptionError, match="use --device iree:a100"):
        check_levels(("graph", "kernels"), device)


def test_devices_that_show_kernels_have_both_levels():
    check_levels(("graph", "kernels"), "iree:t4")


def test_a_level_that_there_is_not_is_refused():
    with pytest.raises(OptionError, match="it must be one of graph; kernels; graph,kernels"):
        Options(levels="kernels,graph")
