"""A summary as a terminal shows it."""

from io import StringIO

import pytest
from rich.console import Console

from gevolve.analyze.inspect import VariantDetail
from gevolve.report.terminal import accuracy, details, summary
from gevolve.run.findings import Interval, NvccBuild
from gevolve.run.summary import Summary, VariantSummary


def test_no_figure_is_lost_in_eighty_columns():
    interval = Interval(value=0.8577, low=0.8577, high=0.8577, runs=1)
    best = VariantSummary(
        id="v1161",
        time=103_034_134.0,
        ratio=0.813,
        error=0.07,
        unedited_error=0.07,
        exact=True,
        edits=123,
        validated=True,
        interval=interval,
        held_out=0.775,
        large=0.8065,
        nvcc=0.87,
        nvcc_interval=interval,
        gain=True,
        patch="",
    )
    found = Summary(
        workload="Svm",
        device="sim:t4",
        seed=0,
        evaluations=200,
        seconds=347,
        verdicts={"ok": 166},
        baseline={"time": 126_731_742.0, "error": 0.07},
        best=best,
        best_exact=best,
        nvcc=NvccBuild(ratio=0.934),
        front=[best],
        generations=5,
        tolerance=0.01,
        status="finished",
        run="runs/svm",
    )
    out = StringIO()
    Console(file=out, width=80).print(summary(found))
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    head = next(line for line in lines if "held-out" in line).split()
    assert head == ["variant", "time", "speed", "nvcc", "error", "edits", "held-out", "fresh", "large"]  # fmt: skip
    row = next(line for line in lines if "v1161" in line)
    assert row.split()[0] == "no"
    for figure in ("103,034,134", "1.23x", "1.15x", "123", "1.29x", "1.17x", "1.24x"):
        assert figure in row
    assert not any("…" in line for line in lines)


@pytest.mark.parametrize(
    ("unedited", "words", "never"),
    [(0.109, "worse by 1.8 points", "off by"), (0.0, "86.00% of the outputs off by", "points")],
)
def test_a_variant_that_is_judged_by_labels_has_points_and_no_outputs_that_are_off(
    unedited, words, never
):
    one = VariantDetail(
        detail="",
        patch="",
        edits=[],
        caveats=[],
        id="v3",
        verdict="ok",
        time=5.0,
        error=0.127,
        off=0.86,
        unedited_error=unedited,
        checks={},
    )
    out = StringIO()
    Console(file=out, width=200).print(details(one))
    assert words in out.getvalue()
    assert never not in out.getvalue()


@pytest.mark.parametrize(
    ("low", "high", "sure"),
    [(0.9, 0.99, "it is faster too"), (0.95, 1.02, "the clock cannot tell"), (1.0, 1.0, "no more")],
)
def test_the_most_accurate_is_said_with_its_time_and_how_sure_that_is(low, high, sure):
    one = VariantSummary(
        id="v665",
        time=1.0,
        ratio=0.988,
        error=0.0775,
        unedited_error=0.0966,
        exact=True,
        edits=9,
        validated=True,
        interval=Interval(value=0.98, low=low, high=high, runs=16),
        held_out_error=0.0636,
        patch="",
    )
    line = accuracy(one, {"error": 0.0966, "held_out_error": 0.0818})
    assert line.startswith(
        "v665 has the least error: better by 1.9 points on the search cases and by 1.8 on held-out ones, "
        f"at 0.980 ({low:.3f} to {high:.3f}) of the time; "
    )
    assert sure in line
