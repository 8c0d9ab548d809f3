"""Cases in parts: what the program is given, what comes out, and what the error is."""

import numpy as np
import pytest

from gevolve.errors import WorkloadError
from gevolve.workload.base import Case
from gevolve.workload.model import ModelWorkload

pytest.importorskip("jax")


class Lines(ModelWorkload):
    """y = a x + b on three parts; `a` is a tree and in parts as well, `b` is for all."""

    in_parts = ("a", "x", "labels")

    def program(self):
        return line

    def data(self, split):
        x = np.arange(6, dtype=np.float32).reshape(3, 2)
        a = {"slope": np.array([1, 2, 3], np.float32)}
        return Case(a=a, b=np.float32(1), x=x, labels=a["slope"][:, None] * x + 1)

    def error(self, outputs, data):
        assert outputs.shape == data.labels.shape == (2,)
        return float(np.mean(outputs != data.labels))


def line(a, x, b):
    return a["slope"] * x + b


class Handle:
    """Runs the function itself, and keeps what it was given."""

    def __init__(self):
        self.given = []

    def __call__(self, slope, x, b):
        self.given.append((slope, x, b))
        return [np.asarray(slope * x + b, np.float32)]


def test_each_part_is_run_alone_and_the_results_are_stacked():
    workload, handle = Lines(), Handle()
    case = workload.data("search")
    (outputs,) = workload.run(handle, case)
    assert workload.parts(case) == len(handle.given) == 3
    assert np.array_equal(outputs, case.labels)
    assert all(b is handle.given[0][2] for _, _, b in handle.given)  # looked at once by the device
    assert not handle.given[0][2].flags.writeable
    assert [float(slope) for slope, _, _ in handle.given] == [1, 2, 3]
    assert [one.shape for one in workload.example()[1:]] == [(2,), ()]


def test_the_error_is_the_mean_over_the_parts():
    workload = Lines()
    case = workload.data("search")
    outputs = {"0": case.labels.copy()}
    outputs["0"][1, 0] += 1
    outputs["0"][2] += 1
    assert workload.measure_parts(outputs, {}, case) == [0, 0.5, 1]
    assert workload.measure(outputs, {}, case) == 0.5


def test_some_parts_are_a_case_in_themselves():
    workload, handle = Lines(), Handle()
    some = workload.some(workload.data("search"), [2, 0])
    (outputs,) = workload.run(handle, some)
    assert np.array_equal(outputs, some.labels)
    assert [float(slope) for slope, _, _ in handle.given] == [3, 1]
    assert workload.measure_parts({"0": outputs}, {}, some) == [0, 0]


def test_a_case_without_parts_is_one():
    class Plain(Lines):
        in_parts = ()

    case = Plain().data("search")
    assert Plain().parts(case) == 1
    assert Plain().some(case, [0]).inputs == case.inputs


@pytest.mark.parametrize(
    ("named", "said"), [(("a", "z"), "names 'z'"), (("a", "labels", "short"), "as many parts each")]
)
def test_parts_that_do_not_fit_are_one_line(named, said):
    class Wrong(Lines):
        in_parts = named

        def data(self, split):
            return Case(**super().data(split).inputs, short=np.zeros(2))

    with pytest.raises(WorkloadError, match=said):
        Wrong().cases("search")
