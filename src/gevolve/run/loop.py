"""The loop of a search: the search asks, the evaluator judges, the store keeps, the search is told."""

from __future__ import annotations

import os
import shlex
import signal
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from gevolve.errors import StoreError
from gevolve.evaluate.protocol import NodeStatus
from gevolve.patch import Patch
from gevolve.run import levels
from gevolve.run.caveats import caveats_of
from gevolve.run.nvcc import compare_with_nvcc, nvcc_is_due
from gevolve.run.standings import Standings
from gevolve.run.summary import VariantSummary
from gevolve.run.unseen import names_now, try_best
from gevolve.search import Problem, search_kind

if TYPE_CHECKING:
    from collections.abc import Generator

    from gevolve.evaluate.evaluator import Baseline, Evaluator
    from gevolve.evaluate.verdict import Evaluation
    from gevolve.run.run import Run
    from gevolve.search import Search
    from gevolve.search.based import BasedSearch


@dataclass(slots=True)
class Progress:
    """What a live view shows; the same object is updated throughout a run."""

    workload: str
    device: str
    seed: int
    budget: tuple[int, float]
    stage: str = ""
    notice: str = ""
    """What is to be said at once: that the run stops, and how to go on."""
    evaluations: int = 0
    seconds: float = 0.0
    rate: float = 0.0
    generation: int = 0
    verdicts: dict[str, int] = field(default_factory=dict[str, int])
    front: list[VariantSummary] = field(default_factory=list[VariantSummary])
    curve: list[float] = field(default_factory=list[float])
    """The best ratio after each generation."""
    nodes: list[NodeStatus] = field(default_factory=list[NodeStatus])
    """The machines of a cluster, if there is one."""


NODES = 2.0
"""Seconds after which the nodes of a cluster are written down again."""
Watch: TypeAlias = Callable[[Progress], None]


class Loop:
    """Moves patches from a run's search to an evaluator, and verdicts to its store."""

    def __init__(self, run: Run, watch: Watch | None) -> None:
        self._run = run
        self._store = run.store
        self._watch = watch
        self.standings = self._searched = Standings(run.settings, run.config.strict)
        self._earlier = run.store.get("seconds", float, 0.0)
        self._began = time.monotonic()
        self._resumed_at = 0
        self._stop = threading.Event()
        self._next_nodes = 0.0
        self._judging = False
        config = run.config
        self._progress = Progress(config.workload, config.device, config.seed, config.budget)
        self.show(
            "starting workers"
            if run.calibrated
            else "finding out how fast this machine is, and starting workers"
        )

    @property
    def seconds(self) -> float:
        """How long the run has taken, earlier sessions included."""
        return self._earlier + time.monotonic() - self._began

    def search(self, evaluator: Evaluator) -> bool:
        """Search until the budget is used up or someone stops it; returns whether it was used up."""
        self.show("running the unedited program")
        baseline = evaluator.prepare("search")
        self._check_baseline(baseline)
        if nvcc_is_due(self._run):
            self.show("running nvcc's build of it")
            compare_with_nvcc(self._run, evaluator)
        self.standings = Standings.read(self._store, self._run.settings)
        self._searched = Standings.read(self._store, self._run.settings, searched=True)
        self._resumed_at = self.standings.verdicts.total()
        self._progress.nodes = self._store.get("nodes", list[NodeStatus], [])
        self._store.set("status", "stopped")  # what it is if this process is killed
        self._judging = True
        complete = self._generations(evaluator)
        self._keep_nodes(evaluator, at_once=True)
        self._stop.set()  # what comes now checks what was found: a Ctrl-C ends that at once
        return complete

    def _check_baseline(self, baseline: Baseline) -> None:
        """Keep the unedited program's evaluation; on a resume it must be what it was."""
        row = self._store.find(Patch())
        if row is None:
            self._store.set("profile", baseline.profile)
            self._store.set("cases", baseline.cases)
            self._store.set("bound", baseline.tolerance)
            self._store.set("rounding", baseline.rounding)
            self._store.set("approximations", self._run.program.loose_kinds)
            self._store.set("caveats", caveats_of(baseline))
            self._store.add([(Patch(), baseline.evaluation, -1)])
        elif baseline.deterministic and row.evaluation.time != baseline.evaluation.time:
            raise StoreError(
                f"{self._store.folder}: the unedited program now takes {baseline.evaluation.time}, "
                f"not {row.evaluation.time}: the workload or gevolve has changed; start a new run"
            )

    def _start(self) -> tuple[Search | BasedSearch, int]:
        """A new search, or the one whose state is in the store; with its number of generations."""
        run, store = self._run, self._store
        last = store.last_generation()
        if last is not None:
            self._progress.curve = store.get("curve", list[float], [])[: last.number]
        if stage := levels.read_stage(run):
            return levels.kernel_search(run, stage, last), last.number if last else 0
        settings = levels.level_settings(run.settings, kernels=False)
        algorithm = search_kind(run.config.search, settings)
        problem = Problem(
            program=run.program,
            profile=store.get("profile", dict[str, float], {}) or None,
            unedited=store.variant(0).evaluation,
            seed=run.config.seed,
        )
        if last is None:
            return algorithm(problem, settings), 0
        judged = ((row.patch, row.evaluation) for row in store.evaluations(until=last.number))
        return algorithm.restore(problem, settings, last.state, judged), last.number

    def _go_on_to_kernels(self, generation: int) -> Search | BasedSearch:
        """Leave the graph as it is in the fastest variant, and search its kernels."""
        self.show("reading the kernels of the best variant")
        levels.begin(self._run, self._searched.front[0][0], generation)
        return self._start()[0]

    def _generations(self, evaluator: Evaluator) -> bool:
        store, progress = self._store, self._progress
        evals, seconds = self._run.config.budget
        search, generation = self._start()
        before = {row.id: row.evaluation for row in store.evaluations()}
        while not self._stop.is_set() and self.seconds < seconds:
            if levels.is_due(self._run, generation, self.seconds):
                search = self._go_on_to_kernels(generation)
            patches = search.ask()
            if not patches and levels.is_wanted(self._run):
                search = self._go_on_to_kernels(generation)
                continue
            if not patches:
                return True
            ids = store.reserve(patches, generation)
            wanted = {id_: patch for id_, patch in zip(ids, patches, strict=True) if id_ <= evals}
            judged = {id_: before[id_] for id_ in wanted if id_ in before}
            progress.generation = generation
            self._judge(evaluator, wanted, judged, generation)
            if len(judged) < len(patches):
                return len(judged) == len(wanted) or not self._stop.is_set()
            search.tell([judged[id_] for id_ in ids])
            if not self._try_best(evaluator, search, generation + 1):
                return not self._stop.is_set()
            generation += 1
            progress.curve.append(self._searched.best_ratio)
            store.set("curve", progress.curve)
            store.set("seconds", self.seconds)
            store.save_generation(
                generation, search.state(), [id_ for id_, _ in self._searched.front]
            )
        return not self._stop.is_set()

    def _try_best(
        self, evaluator: Evaluator, search: Search | BasedSearch, generations: int
    ) -> bool:
        """Try what is best after so many generations on other cases; returns whether time allowed it."""

        def record(id_: int, name: str, evaluation: Evaluation) -> None:
            self._store.add_validation(id_, name, evaluation)
            self.standings.validate(id_, name, evaluation)

        workload = self._run.workload
        if "held-out" not in workload.splits:
            return True
        names = names_now(
            workload.splits,
            generations,
            compares=workload.compares,
            failed=self._searched.checks.failed_on,
        )
        return try_best(evaluator, self._searched, search, record, self._over, names=names)

    def _judge(
        self,
        evaluator: Evaluator,
        wanted: dict[int, Patch],
        judged: dict[int, Evaluation],
        generation: int,
    ) -> None:
        """Have the wanted patches judged that are not yet, unless time runs out or someone stops."""
        queue = [id_ for id_ in wanted if id_ not in judged][::-1]
        outstanding = 0

        def submit() -> int:
            count = 0
            while queue and outstanding + count < evaluator.ahead and not self._over():
                id_ = queue.pop()
                evaluator.submit(id_, wanted[id_])
                count += 1
            return count

        def keep() -> None:
            self._store.add(fresh)
            fresh.clear()
            self._keep_nodes(evaluator)

        outstanding += submit()
        fresh: list[tuple[Patch, Evaluation, int]] = []
        try:
            for key, evaluation in evaluator.results():
                assert isinstance(key, int)
                judged[key] = evaluation
                fresh.append((wanted[key], evaluation, generation))
                for standings in (self.standings, self._searched):
                    standings.add(key, wanted[key], evaluation)
                outstanding += submit() - 1
                if not evaluator.ready:  # to write what came together at once spares the disk
                    keep()
                self.show("searching")
        finally:
            keep()

    def _keep_nodes(self, evaluator: Evaluator, *, at_once: bool = False) -> None:
        """Keep what the nodes of a cluster have done where other processes find it, now and then."""
        now = time.monotonic()
        due = at_once or now >= self._next_nodes
        if due and (evaluator.nodes or self._progress.nodes):
            self._next_nodes = now + NODES
            self._progress.nodes = evaluator.nodes
            self._store.set("nodes", evaluator.nodes)

    def show(self, stage: str) -> None:
        """Tell whoever watches how far the run is."""
        if self._watch is None:
            return
        progress, standings = self._progress, self.standings
        progress.stage = stage
        progress.seconds = self.seconds
        progress.evaluations = standings.verdicts.total()
        here = progress.evaluations - self._resumed_at
        progress.rate = here / max(1e-9, time.monotonic() - self._began)
        progress.verdicts = dict(standings.verdicts)
        progress.front = standings.variants()
        self._watch(progress)

    def _notify(self, line: str) -> None:
        """Say something at once, in the middle of whatever is going on."""
        self._progress.notice = line
        if self._watch is None:
            os.write(2, f"gevolve: {line}\n".encode())
        else:
            self._watch(self._progress)

    def _over(self) -> bool:
        return self._stop.is_set() or self.seconds >= self._run.config.budget[1]

    @contextmanager
    def stoppable(self) -> Generator[None]:
        """Let the first Ctrl-C (or SIGTERM) end the search, and the second raise KeyboardInterrupt.

        Either says so at once, and how to go on. Before anything is judged the first one is enough.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def handler(_number: int, _frame: object) -> None:
            resume = f"gevolve resume {shlex.quote(str(self._store.folder))}"
            if not self._judging:
                raise KeyboardInterrupt
            if self._stop.is_set():
                self._notify(f"Ending now; nothing that was judged is lost. Go on with: {resume}")
                raise KeyboardInterrupt
            self._stop.set()
            self._notify(
                "Stopping: what is being judged is finished, then what was found is checked; Ctrl-C"
                f" again ends at once. Go on with: {resume}"
            )

        numbers = (signal.SIGINT, signal.SIGTERM)
        old = {number: signal.signal(number, handler) for number in numbers}
        try:
            yield
        finally:
            for number, previous in old.items():
                signal.signal(number, previous)
