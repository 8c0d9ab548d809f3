"""Runs that never ran: stores of any size with all that a page shows, made in seconds.

The program and the edits are real ones of the suite's pathfinder; the verdicts are drawn.
"""

from importlib.metadata import version

import msgspec
import numpy as np

from gevolve.evaluate.verdict import Evaluation, Verdict
from gevolve.patch import Edit, Patch
from gevolve.run import sources
from gevolve.run.config import Config
from gevolve.run.findings import (
    EditPair,
    Effect,
    ExplainedEdit,
    Explanation,
    Findings,
    Interval,
    Minimized,
)
from gevolve.run.store import Store, format_id
from gevolve.workload.locate import locate, location_of

FAILURES = ("wrong", "crash", "fuel", "race", "nonfinite", "invalid", "timeout")
SHARES = (0.5, 0.25, 0.1, 0.06, 0.05, 0.03, 0.01)
POPULATION = 32
TIME = 30_000.0


def config(**changes):
    values = {
        "workload": "Pathfinder", "location": location_of(locate("tuned/pathfinder")), "rounding": 1e-5, "device": "sim:a100",
        "seed": 7, "tolerance": 0.05, "preset": "default", "settings": {"population": POPULATION},
        "evals": None, "time": 600.0, "workers": 2, "versions": {"gevolve": version("gevolve")},
    } | changes  # fmt: skip
    return msgspec.to_builtins(Config(**values))


class Maker:
    """Draws a search step by step: patches that grow, verdicts that get better."""

    def __init__(self, seed=1, tolerance=0.05):
        self.workload = locate("tuned/pathfinder")
        self.program = self.workload.load()
        self.rng = np.random.default_rng(seed)
        self.tolerance = tolerance
        self.pool = [(1.0, Patch())]
        self.count = 0
        self.seen = {""}

    def start(self, folder, **changes):
        """A store with the unedited program judged."""
        store = Store.create(
            folder, config(tolerance=self.tolerance, **changes),
            self.program.digest, self.program.text,
        )  # fmt: skip
        store.set(sources.NAME, sources.record(self.workload, self.program.text))
        store.set("bound", self.tolerance)
        store.set("cases", ["Case(wall=int32[24, 505], height=9)"])
        store.add([(Patch(), Evaluation(verdict=Verdict.OK, time=TIME, error=0.0), -1)])
        return store

    def next(self):
        """A new patch and its evaluation, with its generation."""
        rng = self.rng
        patch = Patch()
        while str(patch) in self.seen:
            ratio, parent = self.pool[int(rng.integers(len(self.pool)))]
            kind = self.program.kinds[int(rng.integers(len(self.program.kinds)))]
            edit = self.program.propose(kind, rng, None)
            patch = Patch((*parent.edits[-40:], edit)) if edit else parent
        self.seen.add(str(patch))
        generation = self.count // POPULATION
        self.count += 1
        return patch, self._judge(patch, ratio), generation

    def _judge(self, patch, ratio):
        rng = self.rng
        seconds = {
            "apply": 0.001, "verify": 0.005, "build": 0.03, "run": rng.random() / 20, "total": 0.1,
        }  # fmt: skip
        if rng.random() > 0.4:
            verdict = Verdict(str(rng.choice(FAILURES, p=SHARES)))
            detail = f"pathfinder.cu:{rng.integers(10, 40)}: <b>not</b> what it should be"
            return Evaluation(verdict=verdict, detail=detail, seconds=seconds)
        ratio = float(max(0.55, ratio * (1 + rng.normal(0.004, 0.012))))
        loose = rng.random() < 0.35 and self.tolerance > 1e-5
        error = float(self.tolerance * 10 ** (-3 * rng.integers(24) / 24)) if loose else 0.0
        ratio -= 0.02 * error / max(self.tolerance, 1e-9) if loose else 0.0
        self.pool = sorted([*self.pool, (ratio, patch)], key=lambda one: one[0])[:POPULATION]
        return Evaluation(
            verdict=Verdict.OK, time=TIME * ratio, error=error, artefact=f"{self.count:064x}",
            seconds=seconds,
        )  # fmt: skip


def make(
    folder, evaluations, *, seed=1, tolerance=0.05, validated=True, explained=False, **changes
):
    """A whole run in this folder; returns the folder."""
    maker = Maker(seed, tolerance)
    with maker.start(folder, **changes) as store:
        judged = [maker.next() for _ in range(evaluations)]
        store.add(judged)
        store.set("seconds", evaluations / 25)
        store.set("status", "finished")
        if validated:
            validate(store)
        if explained:
            explain(store)
    return folder


def fastest(store):
    """Working variants, fastest first."""
    rows = [row for row in store.evaluations() if row.evaluation.ok and row.id]
    return sorted(rows, key=lambda row: row.evaluation.time)


def validate(store):
    """Strike the two fastest variants, and let all that come after them pass."""
    rows = fastest(store)
    for split in ("held-out", "fresh", "large"):
        store.add_validation(0, split, Evaluation(verdict=Verdict.OK, time=2 * TIME, error=0.0))
    for row in rows[:2]:
        failed = Evaluation(verdict=Verdict.WRONG, detail="case 1: the error of `out` is 0.31")
        store.add_validation(row.id, "held-out", failed)
    passed(store, rows[2:400])
    best = Evaluation(verdict=Verdict.OK, time=2.1 * rows[2].evaluation.time, error=0.0)
    store.add_validation(rows[2].id, "large", best)


def passed(store, rows):
    """These variants pass on all other cases, and are measured there."""
    measured = {}
    for row in rows:
        evaluation = Evaluation(verdict=Verdict.OK, time=2.04 * row.evaluation.time, error=0.0)
        for split in ("held-out", "fresh"):
            store.add_validation(row.id, split, evaluation)
        ratio = 1.02 * row.evaluation.time / TIME
        measured[format_id(row.id)] = Interval(value=ratio, low=ratio, high=ratio, runs=1)
    Findings(store).add_intervals(measured)


def explain(store):
    """A minimal patch of the best, and what its edits are good for."""
    best = fastest(store)[2]
    patch = Patch(best.patch.edits[1:7])  # the first six are some variant of the search
    ratio = best.evaluation.time / TIME
    (number,) = store.reserve_analysis([patch])
    store.add_analysis(number, patch, msgspec.structs.replace(best.evaluation, error=0.0))
    passed(store, [store.variant(number)])
    name = format_id(number)
    Findings(store).add_minimized(Minimized(
        source=format_id(best.id), id=name, before=len(best.patch), after=len(patch),
        ratio_before=ratio, ratio_after=ratio, evaluations=143,
    ))  # fmt: skip
    ok, bad = Effect(verdict="ok", ratio=0.95, error=0.0), Effect(verdict="crash")
    stories = [
        ExplainedEdit(
            edit=str(edit), sentence=f"removes the barrier at pathfinder.cu:{20 + n}",
            theme="barrier removed" if n % 2 else "", line=f"pathfinder.cu:{20 + n}",
            alone=ok if n % 3 else bad, without=ok, changes={"barriers": -0.04, "issue": 0.01},
        )
        for n, edit in enumerate(patch)
    ]  # fmt: skip
    relation = {(0, 1): "together", (1, 2): "overlap", (0, 2): "together"}
    pairs = [
        EditPair(
            first=a, second=b, effect=ok, expected=0.9,
            relation=relation.get((a, b), "independent"),
        )
        for a in range(len(patch)) for b in range(a + 1, len(patch))
    ]  # fmt: skip
    groups = [[0, 1, 2], *([n] for n in range(3, len(patch)))]
    Findings(store).add_explanation(Explanation(id=name, edits=stories, pairs=pairs, groups=groups))


def nasty(folder):
    """A run whose every name and text tries to break out of the page."""
    evil = "</script><script>document.title='broken'</script><!--<img src=x onerror=alert(1)>\u2028"
    with Store.create(folder, config(workload=evil), "0" * 64, evil) as store:
        patch = Patch((Edit("delete", ("i1", "<b>i2</b>"), 1),))
        store.add([
            (Patch(), Evaluation(verdict=Verdict.OK, time=TIME, error=0.0), -1),
            (patch, Evaluation(verdict=Verdict.OK, time=TIME / 2, error=0.0), 0),
            (patch + patch, Evaluation(verdict=Verdict.CRASH, detail=evil), 0),
        ])  # fmt: skip
        store.set("cases", [evil])
        store.add_validation(1, evil, Evaluation(verdict=Verdict.WRONG, detail=evil))
    return folder
