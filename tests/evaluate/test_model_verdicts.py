"""Models through the real evaluator and XLA: what variants can do to it, and what is judged."""

import os
import random
from collections import Counter
from pathlib import Path

import pytest

from gevolve.device.iree.library import installed as iree_installed
from gevolve.errors import WorkloadError
from gevolve.evaluate.pool import Pool
from gevolve.testing.evaluators import patch
from gevolve.workload.locate import Location
from tests.evaluate.processes import all_gone, workers_of

pytest.importorskip("jax")
from tests.device.xla.hostile import MAKERS

FILE = str(Path(__file__).with_name("models.py"))
COUNT = int(os.environ.get("GEVOLVE_HOSTILE", str(len(MAKERS))))
"""How many programs are tried, one of every kind first; 500 take some minutes."""
VERDICTS = {
    "abort": {"crash"},
    "hang": {"timeout", "memory", "fuel"},
    "memory": {"memory"},
    "compile": {"compile"},
    "nan": {"nonfinite"},
    "shape": {"wrong"},
}


@pytest.fixture(autouse=True)
def no_orphans():
    yield
    assert all_gone(), f"left behind: {workers_of(os.getpid())}"


def test_a_loop_that_may_never_end_is_not_begun():
    """The unedited program has none, so no time can be told; whoever waited for it would wait for the whole patience."""
    with Pool(Location(FILE, "Hostile"), device="xla:cpu", workers=1, patience=3000.0) as evaluator:
        evaluator.prepare()
        evaluator.submit(0, patch("endless-loop", 1))
        [(_, found)] = evaluator.results()
    assert found.verdict.value == "fuel"
    assert "until something happens" in found.detail


@pytest.mark.slow
def test_hostile_programs_get_their_verdicts_and_the_search_goes_on():
    kinds = sorted(MAKERS)
    quick = [kind for kind in kinds if MAKERS[kind][1] != "hang"]
    rng = random.Random(1)
    chosen = [*kinds, *(rng.choice(quick) for _ in range(COUNT - len(kinds)))]
    rng.shuffle(chosen)
    with Pool(Location(FILE, "Hostile"), device="xla:cpu", workers=2, patience=4.0) as evaluator:
        evaluator.prepare()
        for number, kind in enumerate(chosen):
            evaluator.submit(number, patch(kind.replace("_", "-"), number))
            evaluator.submit(("honest", number), patch("honest", number))
        results = dict(evaluator.results())
    assert len(results) == 2 * len(chosen)
    bad = {
        kind: (results[number].verdict.value, results[number].detail)
        for number, kind in enumerate(chosen)
        if results[number].verdict.value not in VERDICTS[MAKERS[kind][1]]
    }
    print(Counter(results[number].verdict.value for number, _ in enumerate(chosen)))
    assert bad == {}
    assert all(results["honest", number].ok for number, _ in enumerate(chosen))


def test_a_worker_that_computes_with_jax_is_refused():
    with (
        pytest.raises(WorkloadError, match="does not survive a fork"),
        Pool(Location(FILE, "UsesJax"), device="xla:cpu") as evaluator,
    ):
        evaluator.prepare()


def test_a_case_in_parts_is_left_as_soon_as_it_cannot_pass():
    with Pool(Location(FILE, "Parted"), device="xla:cpu", workers=1) as evaluator:
        unedited = evaluator.prepare().evaluation
        for operation in ("maximum", "subtract", "add"):
            evaluator.submit(operation, patch("other", operation))
        found = dict(evaluator.results())
    assert (unedited.error, found["add"].error) == (0, 0)
    assert found["add"].time == unedited.time  # of all forty parts
    assert found["subtract"].verdict.value == found["maximum"].verdict.value == "wrong"
    assert "of 40 parts" in found["subtract"].detail
    count = int(found["subtract"].detail.split(" on ")[1].split()[0])
    assert count <= 4, found["subtract"].detail


@pytest.mark.skipif(not iree_installed(), reason="IREE is not installed")
def test_the_time_of_a_case_in_parts_is_that_of_all_parts():
    with Pool(Location(FILE, "Parted"), device="iree:a100", workers=1) as evaluator:
        for split in ("search", "held-out"):  # the last portion is timed, and all at once
            evaluator.submit(split, patch("other", "add"), split)
        found = dict(evaluator.results())
    assert found["search"].time == found["held-out"].time > 0
