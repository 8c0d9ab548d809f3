"""Re-fit: weights that are trained after edits, what is refused, and what is shown, kept and exported."""

import json

import numpy as np
import pytest

import gevolve
from gevolve.analyze import conclude
from gevolve.analyze.fitting import check_can_fit, train
from gevolve.analyze.refit import refit_weights
from gevolve.errors import WorkloadError
from gevolve.evaluate.verdict import Evaluation, Verdict
from gevolve.export.variant import export
from gevolve.ir import stablehlo
from gevolve.ir.stablehlo.differentiable import function_of, with_values
from gevolve.patch import Patch
from gevolve.run.findings import Interval, Refit
from gevolve.run.run import Run
from gevolve.run.standings import Standings
from gevolve.search import Settings
from gevolve.suite.models.mobilenet_small import MobileNetSmall
from gevolve.suite.models.twofcnet import TwoFCNet
from tests.analyze.fitted import Constant, Fitted, Looping, Overlapping, Unprepared


def wrong(workload, text, weights):
    """The share of held-out rows that a program gets wrong with these weights."""
    case = workload.data("held-out")
    given = {int(name[1:]): one for name, one in weights.items() if name[0] == "a"}
    own = {int(name[1:]): one for name, one in weights.items() if name[0] == "c"}
    program = function_of(with_values(text, given, own))
    errors = []
    for number in range(workload.parts(case)):
        part = gevolve.Case(
            weights=case.weights, rows=case.rows[number], labels=case.labels[number]
        )
        (outputs,) = program(stablehlo.flatten(workload.arguments(part)), {})
        errors.append(workload.error(np.asarray(outputs), part))
    return np.mean(errors)


@pytest.mark.parametrize("workload", [Fitted(), Constant()], ids=["arguments", "constants"])
def test_weights_learn_and_always_the_same(workload):
    text = workload.load().text
    weights = train(workload, text, 40)
    assert {name[0] for name in weights} == {"a" if type(workload) is Fitted else "c"}
    assert wrong(workload, text, weights) < wrong(workload, text, {}) - 0.02
    again = train(workload, text, 40)
    assert all(np.array_equal(one, again[name]) for name, one in weights.items())


def test_what_cannot_be_refit_is_said_in_a_line():
    with pytest.raises(
        WorkloadError, match=r"--refit is for models that predict.* has no loss\(outputs, data\)"
    ):
        check_can_fit(TwoFCNet(), "")
    for workload, why in (
        (Overlapping(), r"384 of the 384 rows of data\('refit'\) also judge variants"),
        (Unprepared(), r"data\('refit'\) fails \(KeyError: 'refit'"),
    ):
        with pytest.raises(WorkloadError, match=why):
            train(workload, workload.load().text, 0)
    with pytest.raises(
        WorkloadError, match=r"^stablehlo.while has no gradient.*re-fit.*Looping\)$"
    ):
        check_can_fit(Looping(), Looping().load().text)


def test_the_images_of_the_suite_that_refit_are_none_that_judge():
    workload = MobileNetSmall()
    seen = {image.tobytes() for image in workload.data("refit").images.reshape(-1, 64)}
    for split in ("search", "held-out"):
        assert not seen & {i.tobytes() for i in workload.data(split).images.reshape(-1, 64)}


def ok(time, error):
    return Evaluation(verdict=Verdict.OK, time=time, error=error)


def test_beyond_the_tolerance_only_what_was_refit_is_shown():
    standings = Standings(Settings(tolerance=0.3, rounding=0.0), strict=0.02)
    standings.add(0, Patch(), ok(100.0, 0.1))
    for number, (time, error) in enumerate([(50, 0.25), (60, 0.2), (80, 0.12)], 1):
        standings.add(number, Patch.parse(f"delete o{number} #1"), ok(time, error))
        standings.measure(
            number, Interval(value=time / 100, low=time / 100, high=time / 100, runs=1)
        )
    assert [one.id for one in standings.variants()] == ["v3", "v0"]
    standings.refit(Refit(id="v1", steps=9, error=0.13, held_out_error=0.1))
    standings.refit(Refit(id="v2", steps=9, error=0.11, held_out_error=0.1, within=True))
    assert [one.id for one in standings.variants()] == ["v2", "v3", "v0"]
    fastest = standings.variants()[0]
    assert fastest.gain
    assert (fastest.error, fastest.refit.error) == (0.2, 0.11)
    standings.validate(0, "held-out", ok(100.0, 0.05))
    standings.validate(3, "held-out", ok(80.0, 0.1))
    assert [one.id for one in standings.variants()] == ["v2", "v0"], (
        "on held-out data it is too wrong"
    )


def test_a_run_refits_shows_both_errors_and_exports_the_weights(tmp_path, monkeypatch):
    monkeypatch.setattr(conclude, "check_front", lambda _: [])  # the clock takes long, and varies
    stages: list[str] = []
    found = gevolve.optimize(
        Fitted(), evals=8, refit=25, tolerance=0.02, workers=1, out=tmp_path / "r",
        watch=lambda progress: stages.append(progress.stage),
    )  # fmt: skip
    assert stages[0] == "finding out how fast this machine is, and starting workers"
    assert not [stage for stage in stages if "nvcc" in stage], "it is a model"
    with Run.open(found.folder) as run:
        refits = run.findings.refits
        assert refits, "what the front has was re-fit"
        name, refit = next((n, one) for n, one in refits.items() if one.within)
        assert refit.steps == 25
        weights = refit_weights(run, name)
        assert "--refit 25" in run.command
        shown = next(one for one in found.front if one.id == name)
        assert shown.refit == refit
        exported = export(run, name, "jax", output=tmp_path / "fast.jax")
    assert (tmp_path / "fast.jax.weights.npz") in exported.files
    assert json.loads((tmp_path / "fast.jax.json").read_text())["evidence"]["refit"]["steps"] == 25
    fast, case = gevolve.load(tmp_path / "fast.jax"), Fitted().data("held-out")
    tree, rows = fast.refitted(case.weights, case.rows[0])
    np.testing.assert_array_equal(tree["bias"], weights["a0"])
    errors = [
        Fitted().error(np.asarray(fast(tree, one)), gevolve.Case(labels=labels))
        for one, labels in zip(case.rows, case.labels, strict=True)
    ]
    assert np.mean(errors) == pytest.approx(refit.held_out_error, abs=0.003)
    np.testing.assert_array_equal(rows, case.rows[0])
