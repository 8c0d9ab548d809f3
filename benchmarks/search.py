"""What the search is worth on real kernels: forms of it at equal evaluations, and what each part adds.

    KERNELS=papers/hotspot,papers/nn SEEDS=3 EVALS=300 python -m benchmarks search

The gain is that of the fastest exact variant that also passes on unseen, varied and held-out cases. FOLDER
keeps every evaluation and result, so that it can be stopped at any moment and goes on where it was; patches
that several forms ask for are judged once, and count for each.
"""

import os
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from statistics import median

import msgspec

from benchmarks.baselines import HillClimbing, RandomSearch
from gevolve.evaluate.evaluator import Evaluator
from gevolve.evaluate.pool import Pool
from gevolve.evaluate.protocol import Baseline
from gevolve.evaluate.verdict import Evaluation
from gevolve.patch import Patch
from gevolve.run.standings import Standings
from gevolve.run.unseen import try_best
from gevolve.search import PRESETS, Nsga2Search, Problem, Search, Settings
from gevolve.workload.base import Split
from gevolve.workload.locate import locate, location_of

KERNELS = os.environ.get("KERNELS", "papers/hotspot,papers/nn,papers/kmeans").split(",")
DEVICE = os.environ.get("DEVICE", "sim:t4")
SEEDS = int(os.environ.get("SEEDS", "2"))
EVALS = int(os.environ.get("EVALS", "300"))
FOLDER = Path(os.environ.get("FOLDER", "runs/benchmark-search"))
FORMS: dict[str, tuple[type[Search], dict[str, object]]] = {
    "default": (Nsga2Search, {}),
    "paper": (Nsga2Search, PRESETS["paper"]),
    "random": (RandomSearch, {}),
    "climbing": (HillClimbing, {}),
    "no opening": (Nsga2Search, {"sweep": 0}),
    "no local search": (Nsga2Search, {"local": 0.0}),
    "any new edit": (Nsga2Search, {"drawn": 1}),
    "kinds alike": (Nsga2Search, {"adaptive": False}),
}
CHOSEN = [name for name in os.environ.get("FORMS", ",".join(FORMS)).split(",") if name]
EARLY = ("unseen", "early varied")
"""What a best is tried on while the search goes on, as a run does after every generation."""


class Result(msgspec.Struct):
    """What one search came to."""

    kernel: str
    form: str
    seed: int
    evals: int
    gain: float
    edits: int
    sound: float
    """The share of evaluations that were ok, or had an artefact that was judged before."""
    curve: list[float]
    """The gain on search cases after each tenth of the evaluations."""


class Judged(msgspec.Struct):
    """One evaluation on a split."""

    split: Split
    patch: str
    evaluation: Evaluation


class Judge(Evaluator):
    """Judges patches of one kernel, each once for all forms and all times that this is run."""

    def __init__(self, kernel: str) -> None:
        self._workload = locate(kernel)
        self.program = self._workload.load()
        name = f"{kernel.replace('/', '-')}-{DEVICE.replace(':', '-')}-{self.program.digest[:12]}"
        self._file = FOLDER / f"{name}.jsonl"
        self._known: dict[tuple[Split, Patch], Evaluation] = {}
        self._pool: Pool | None = None
        self._baseline: Baseline | None = None
        self._submitted: list[tuple[Hashable, Patch, Split]] = []
        with suppress(FileNotFoundError):
            for line in self._file.read_bytes().splitlines():
                with suppress(msgspec.DecodeError):  # the last line may be cut short
                    one = msgspec.json.decode(line, type=Judged)
                    self._known[one.split, Patch.parse(one.patch)] = one.evaluation

    @property
    def baseline(self) -> Baseline:
        if self._baseline is None:
            self._pool = Pool(location_of(self._workload), device=DEVICE, workers=1)
            self._baseline = self._pool.prepare()
        return self._baseline

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()

    def __call__(self, patches: Sequence[Patch], split: Split = "search") -> list[Evaluation]:
        missing = [patch for patch in dict.fromkeys(patches) if (split, patch) not in self._known]
        if missing:
            _ = self.baseline
            assert self._pool is not None
            for number, patch in enumerate(missing):
                self._pool.submit(number, patch, split)
            with self._file.open("ab") as file:
                for number, evaluation in self._pool.results():
                    assert isinstance(number, int)
                    self._known[split, missing[number]] = evaluation
                    row = Judged(split, str(missing[number]), evaluation)
                    file.write(msgspec.json.encode(row) + b"\n")
                    file.flush()
        return [self._known[split, patch] for patch in patches]

    def prepare(self, split: Split = "search") -> Baseline:
        return self.baseline

    def submit(
        self,
        key: Hashable,
        patch: Patch,
        split: Split = "search",
        *,
        artefact: bytes | None = None,
    ) -> None:
        self._submitted.append((key, patch, split))

    def results(self) -> Iterator[tuple[Hashable, Evaluation]]:
        submitted, self._submitted = self._submitted, []
        for key, patch, split in submitted:
            yield key, self([patch], split)[0]


def run(judge: Judge, kernel: str, form: str, seed: int) -> Result:
    """One search of so many evaluations, and what is left of its best on other cases."""
    kind, chosen = FORMS[form]
    base = judge.baseline
    settings = replace(Settings(**chosen), tolerance=base.tolerance, rounding=base.rounding)  # pyright: ignore[reportArgumentType]
    search = kind(Problem(judge.program, base.profile or None, base.evaluation, seed), settings)
    standings = Standings(settings)
    standings.add(0, Patch(), base.evaluation)
    seen: set[str] = {base.evaluation.artefact}
    sound, done, curve = 0, 0, list[float]()
    while done < EVALS and (patches := search.ask()):
        patches = patches[: EVALS - done]
        evaluations = judge(patches)
        for patch, one in zip(patches, evaluations, strict=True):
            sound += one.ok or one.artefact in seen
            seen.add(one.artefact)
            done += 1
            standings.add(done, patch, one)
            if done * 10 // EVALS > len(curve):
                curve.append(_gain(standings))
        if done < EVALS:
            search.tell(evaluations)
        try_best(judge, standings, search, lambda *_: None, lambda: False, names=EARLY)
    edits = settle(judge, standings)
    return Result(kernel, form, seed, EVALS, _gain(standings), edits, sound / max(1, done), curve)


def settle(judge: Judge, standings: Standings) -> int:
    """Have the fastest exact variant pass on held-out cases too; returns how many edits it has."""
    while True:
        id_, best = standings.front[-1]
        if not best.patch.edits:
            return 0
        (evaluation,) = judge([best.patch], "held-out")
        if evaluation.ok:
            return len(best.patch)
        standings.validate(id_, "held-out", evaluation)


def _gain(standings: Standings) -> float:
    """That of the fastest exact variant."""
    return standings.baseline.time / standings.front[-1][1].time - 1


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    file = FOLDER / f"results-{DEVICE.replace(':', '-')}.jsonl"
    results: dict[tuple[str, str, int, int], Result] = {}
    with suppress(FileNotFoundError):
        for line in file.read_bytes().splitlines():
            with suppress(msgspec.DecodeError):
                one = msgspec.json.decode(line, type=Result)
                results[one.kernel, one.form, one.seed, one.evals] = one
    for kernel in KERNELS:
        judge = Judge(kernel)
        for form in CHOSEN:
            for seed in range(1, SEEDS + 1):
                if (kernel, form, seed, EVALS) in results:
                    continue
                one = results[kernel, form, seed, EVALS] = run(judge, kernel, form, seed)
                with file.open("ab") as out:
                    out.write(msgspec.json.encode(one) + b"\n")
                print(f"{kernel} {form} {seed}: {one.gain:+.1%}, {one.edits} edits", flush=True)
        judge.close()
    report([one for one in results.values() if one.evals == EVALS])


def report(results: Sequence[Result]) -> None:
    """Median gain by kernel and form, and over all how many evaluations were sound."""
    print(f"\nmedian gain of {SEEDS} seeds at {EVALS} evaluations on {DEVICE}\n")
    print("| kernel | " + " | ".join(CHOSEN) + " |")
    print("|---|" + "---|" * len(CHOSEN))

    def cells(about: Callable[[Result], float], kernel: str | None) -> list[str]:
        rows = [[r for r in results if r.form == f and kernel in (None, r.kernel)] for f in CHOSEN]
        return [f"{median(map(about, row)):.1%}" if row else "" for row in rows]

    for kernel in KERNELS:
        print(f"| {kernel} | " + " | ".join(cells(lambda r: r.gain, kernel)) + " |")
    print("| ok, or known before it ran | " + " | ".join(cells(lambda r: r.sound, None)) + " |")
    counts = Counter(r.form for r in results)
    assert all(counts[form] for form in CHOSEN)
