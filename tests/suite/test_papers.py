"""The papers' kinds of program: each agrees with its reference, without a hazard, on cases that differ."""

import itertools
import pkgutil
from functools import cache

import numpy as np
import pytest

from benchmarks import cases
from gevolve.device.base import Limits
from gevolve.device.registry import open_device
from gevolve.suite import PAPERS, papers
from gevolve.workload.base import SPLITS
from gevolve.workload.locate import locate

DEVICE = open_device("sim")


@pytest.fixture(
    params=[name for name in PAPERS if not name.startswith(("papers/svm", "papers/resnet18"))]
)
def name(request):
    return request.param


@pytest.fixture
def workload(name):
    return locate(name)


@cache
def built(name):
    return DEVICE.build(locate(name).load().text)


def outputs(value):
    return value if isinstance(value, dict) else {"out": value}


def run(workload, artefact, case, check=None):
    gpu = DEVICE.open(artefact, Limits(), check=check)
    try:
        return outputs(workload.run(gpu, case)), gpu.usage()
    finally:
        gpu.close()


def assert_agrees(workload, got, case):
    want = outputs(workload.reference(case))
    assert {k: (v.shape, v.dtype) for k, v in got.items()} == {
        k: (v.shape, v.dtype) for k, v in want.items()
    }
    assert cases.agrees(workload, got, want)


def same(one, other):
    return list(one) == list(other) and all(np.array_equal(one[k], other[k]) for k in one)


def test_the_table_names_every_workload():
    found = pkgutil.iter_modules(papers.__path__)
    modules = [f"papers/{module.name.replace('_', '-')}" for module in found]
    assert sorted(PAPERS) == sorted(modules)


def test_agrees_with_its_reference_without_a_hazard(name, workload):
    artefact = built(name)
    for case in workload.cases("search") + workload.cases("held-out"):
        assert_agrees(workload, run(workload, artefact, case)[0], case)
    got, usage = run(workload, artefact, workload.cases("search")[0], DEVICE.checks[0])
    assert_agrees(workload, got, workload.cases("search")[0])
    assert not usage.hazards


@pytest.mark.slow
def test_agrees_on_fresh_and_large_cases(name, workload):
    artefact = built(name)
    for case in workload.cases("fresh", 1) + workload.cases("large"):
        assert_agrees(workload, run(workload, artefact, case)[0], case)


def test_every_parameter_varies(workload):
    """What is the same in all cases would be an assumption of every result."""
    cases = [case for draw in range(8) for case in workload.cases("fresh", draw)]
    for key in cases[0]:
        assert any(not np.array_equal(cases[0][key], case[key]) for case in cases[1:]), key


def test_cases_of_all_splits_differ(workload):
    cases = [case for split in SPLITS for case in workload.cases(split)]
    assert not any(same(a, b) for a, b in itertools.combinations(cases, 2))


def test_reference_leaves_the_case_alone(workload):
    (case, *_), (again, *_) = workload.cases("search"), workload.cases("search")
    workload.reference(case)
    assert same(case, again)
