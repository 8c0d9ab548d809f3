"""What the search is worth on real kernels: forms of it at equal evaluations, and what each part adds.

    KERNELS=papers/hotspot,papers/nn SEEDS=3 EVALS=300 python -m benchmarks search

The gain is that of the fastest exact variant that also passes on unseen and on held-out cases. FOLDER
keeps every evaluation and result, so that it can be stopped at any moment and goes on where it was; patches
that several forms ask for are judged once, and count for each.
"""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from statistics import median

import msgspec

from benchmarks.baselines import HillClimbing, RandomSearch
from gevolve.evaluate.pool import Pool
from gevolve.evaluate.protocol import Baseline
from gevolve.evaluate.verdict import Evaluation
from gevolve.patch import Patch
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
SPLITS: tuple[Split, ...] = ("unseen", "held-out")
MOST = 12
"""Of the fastest variants, so many are tried on other cases before none is called a gain."""


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


class Judge:
    """Judges patches of one kernel, each once for all forms and all times that this is run."""

    def __init__(self, kernel: str) -> None:
        self._workload = locate(kernel)
        self.program = self._workload.load()
        name = f"{kernel.replace('/', '-')}-{DEVICE.replace(':', '-')}-{self.program.digest[:12]}"
        self._file = FOLDER / f"{name}.jsonl"
        self._known: dict[tuple[Split, Patch], Evaluation] = {}
        self._pool: Pool | None = None
        self._baseline: Baseline | None = None
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


def run(judge: Judge, kernel: str, form: str, seed: int) -> Result:
    """One search of so many evaluations, and what is left of its best on other cases."""
    kind, chosen = FORMS[form]
    base = judge.baseline
    settings = replace(Settings(**chosen), tolerance=base.tolerance, rounding=base.rounding)  # pyright: ignore[reportArgumentType]
    problem = Problem(judge.program, base.profile or None, base.evaluation, seed)
    search = kind(problem, settings)
    exact: dict[Patch, float] = {}
    seen: set[str] = {base.evaluation.artefact}
    sound, done, curve = 0, 0, list[float]()
    start = base.evaluation.time or 1.0
    while done < EVALS and (patches := search.ask()):
        patches = patches[: EVALS - done]
        evaluations = judge(patches)
        for patch, one in zip(patches, evaluations, strict=True):
            sound += one.ok or one.artefact in seen
            seen.add(one.artefact)
            if one.ok and one.time is not None and (one.error or 0.0) <= base.rounding:
                exact[patch] = one.time
            done += 1
            if done * 10 // EVALS > len(curve):
                curve.append(start / min([start, *exact.values()]) - 1)
        if done < EVALS:
            search.tell(evaluations)
            strike(judge, search, exact)
    order = sorted(exact, key=lambda patch: (exact[patch], len(patch), str(patch)))
    best = next((p for p in order[:MOST] if passes(judge, p)), Patch())
    gain = start / min(start, exact.get(best, start)) - 1
    return Result(kernel, form, seed, EVALS, gain, len(best), sound / max(1, done), curve)


def strike(judge: Judge, search: Search, exact: dict[Patch, float]) -> None:
    """Try the best on unseen cases, as a run does after every generation; what fails is struck."""
    for _ in range(MOST):
        best = min(exact, key=lambda patch: (exact[patch], len(patch), str(patch)), default=None)
        if best is None or judge([best], "unseen")[0].ok:
            return
        search.strike(best)
        for patch in [patch for patch in exact if {*best} <= {*patch}]:
            del exact[patch]


def passes(judge: Judge, patch: Patch) -> bool:
    return all(judge([patch], split)[0].ok for split in SPLITS)


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
