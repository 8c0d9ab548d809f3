"""What every workload of the suite must hold to."""

import itertools
import os
import pkgutil
import re
import signal
from functools import cache

import numpy as np
import pytest

from benchmarks import cases
from gevolve.device.base import Limits, Stopped
from gevolve.device.registry import open_device
from gevolve.evaluate.pool import Pool
from gevolve.evaluate.verdict import Verdict
from gevolve.ir.llvm.source import read
from gevolve.patch import Edit, Patch
from gevolve.suite import TUNED, tuned
from gevolve.workload.base import SPLITS, Case
from gevolve.workload.locate import locate
from tests.suite import direct
from tests.suite.direct import tiny
from tests.suite.mistakes import MISTAKES

RIGHT, WRONG, STOPPED, FAILED = range(4)
DEVICE = open_device("sim")


@pytest.fixture(params=[name.removeprefix("tuned/") for name in TUNED])
def name(request):
    return request.param


@pytest.fixture
def workload(name):
    return locate(f"tuned/{name}")


@cache
def built(name):
    return DEVICE.build(locate(f"tuned/{name}").load().text)


def run(workload, artefact, case, limits=Limits()):  # noqa: B008  (frozen)
    gpu = DEVICE.open(artefact, limits)
    try:
        return workload.run(gpu, case)
    finally:
        gpu.close()


def agrees(workload, got, want):
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    return cases.agrees(workload, {"y": got}, {"y": want})


def same(one, other):
    return list(one) == list(other) and all(np.array_equal(one[k], other[k]) for k in one)


def test_the_table_names_every_workload():
    modules = pkgutil.iter_modules(tuned.__path__)
    assert sorted(TUNED) == sorted(f"tuned/{module.name}" for module in modules)


def test_reference_agrees_with_plain_loops(name, workload):
    case = tiny(name)
    assert agrees(workload, workload.reference(case), getattr(direct, name)(case))


def test_cases_are_reproducible(workload):
    for split in SPLITS:
        pairs = zip(workload.cases(split), type(workload)().cases(split), strict=True)
        assert all(same(one, other) for one, other in pairs)


def test_cases_of_all_splits_differ(workload):
    cases: list[Case] = [case for split in SPLITS for case in workload.cases(split)]
    assert not any(same(a, b) for a, b in itertools.combinations(cases, 2))
    sizes = [c.nbytes for split in SPLITS if split != "fresh" for c in workload.cases(split)]
    assert len(set(sizes)) == len(sizes)


def test_each_draw_has_fresh_cases_of_its_own(workload):
    first, again, other = (workload.cases("fresh", draw) for draw in (0, 0, 1))
    assert all(map(same, first, again))
    assert not any(same(a, b) for a in first for b in other)


def test_reference_leaves_the_case_alone(workload):
    (case, *_), (fresh, *_) = workload.cases("search"), workload.cases("search")
    workload.reference(case)
    assert same(case, fresh)


def test_runs_as_its_reference_says(name, workload):
    artefact = built(name)
    cases = [tiny(name), *workload.cases("search"), *workload.cases("held-out")]
    for case in cases:
        assert agrees(workload, run(workload, artefact, case), workload.reference(case)), case


def test_runs_large_as_its_reference_says(name, workload):
    artefact = built(name)
    (case,) = workload.cases("large")
    assert agrees(workload, run(workload, artefact, case), workload.reference(case))


def test_a_patch_that_drops_the_last_write_is_not_ok(workload):
    program = workload.load()
    lines = [line for line in program.text.splitlines() if line.startswith("  ")]
    last = max(n for n, line in enumerate(lines) if re.search(r"^  (store|.* atomicrmw) ", line))
    edit = Edit("delete", (f"i{last}",), 1)
    assert re.search("store|atomic operation", program.describe(edit).sentence)
    with Pool(workload, workers=1) as evaluator:
        assert evaluator.prepare().evaluation.ok
        evaluator.submit("honest", Patch())
        evaluator.submit("cheat", Patch((edit,)))
        verdicts = {key: evaluation.verdict for key, evaluation in evaluator.results()}
    assert verdicts["honest"] is Verdict.OK
    assert verdicts["cheat"] in (Verdict.WRONG, Verdict.NONFINITE)


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        pytest.param(name, *mistake, id=f"{name}-{number}")
        for name, mistakes in MISTAKES.items()
        for number, mistake in enumerate(mistakes)
    ],
)
def test_a_mistake_is_caught_by_the_search_cases(workload, right, wrong, tmp_path):
    source = workload.path().read_text()
    assert source.count(right) == 1
    path = tmp_path / workload.source
    path.write_text(source.replace(right, wrong))
    artefact = DEVICE.build(read(path))
    # In a child, since some mistakes reach beyond a buffer and the device then ends the process.
    child = os.fork()
    if child == 0:
        os._exit(_all_agree(workload, artefact))
    outcome = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert outcome in (WRONG, STOPPED, -signal.SIGSEGV)


def _all_agree(workload, artefact):
    try:
        for case in workload.cases("search"):
            got = run(workload, artefact, case, Limits(launches=100))
            if not agrees(workload, got, workload.reference(case)):
                return WRONG
    except Stopped:
        return STOPPED
    except BaseException:  # noqa: BLE001  (the child must not go on as a second pytest)
        return FAILED
    return RIGHT
