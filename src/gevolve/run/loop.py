"""A run: one search, in one store, which can be stopped at any moment and resumed.

Data flows one way: the search asks for patches, the evaluator judges them, the store keeps what was
judged, the search is told.
"""

import signal
import threading
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from gevolve.analyze.conclude import conclude
from gevolve.analyze.kept import last_draw
from gevolve.analyze.session import Session
from gevolve.errors import OptionError, StoreError
from gevolve.evaluate.evaluator import Baseline, Evaluator
from gevolve.evaluate.pool import Pool
from gevolve.evaluate.verdict import Evaluation
from gevolve.patch import Patch
from gevolve.program import Program
from gevolve.run.config import Config, read_config, settings_of
from gevolve.run.options import Options
from gevolve.run.result import Entry, Result
from gevolve.run.store import Store
from gevolve.run.tally import Tally, result_of, tally
from gevolve.search import Search
from gevolve.workload.base import Split, Workload
from gevolve.workload.locate import Found, find, load_workload, spec_of

AHEAD = 3
"""Patches submitted for each worker: enough to keep it busy, few to wait for when stopping."""
MEASURE = 90.0
"""Seconds for measuring the front at the end, where times vary; a fifth of the run if that is more."""
_PACKAGES = {"llvm": ("llvmlite", "ziglang"), "stablehlo": ("jax", "jaxlib")}
"""What a result depends on besides, by IR."""


@dataclass(slots=True)
class Progress:
    """What a live view shows; the same object is updated throughout a run."""

    workload: str
    device: str
    seed: int
    budget: tuple[int, float]
    stage: str = ""
    evaluations: int = 0
    seconds: float = 0.0
    rate: float = 0.0
    generation: int = 0
    verdicts: dict[str, int] = field(default_factory=dict[str, int])
    front: list[Entry] = field(default_factory=list[Entry])
    curve: list[float] = field(default_factory=list[float])
    """The best ratio after each generation."""


Watch = Callable[[Progress], None]


def optimize(
    workload: str | Path | Workload,
    options: Options | None = None,
    *,
    watch: Watch | None = None,
    **more: Any,
) -> Result:
    """Evolve a workload's program; what the command line's ``gevolve run`` does.

    `workload` is an object, a path such as ``"stencil.py:Stencil"`` or the name of a suite workload.
    Options may be given one by one: ``optimize("hotspot", evals=500, seed=1)``.
    """
    if options is not None and more:
        raise OptionError("give either an Options object or single options, not both")
    options = options or Options(**more)
    found = (
        Found(workload, spec_of(workload))
        if isinstance(workload, Workload)
        else find(str(workload))
    )
    chosen = found.workload
    program = chosen.load()
    config = Config(
        workload=chosen.name,
        spec=found.spec,
        ir=chosen.ir,
        rounding=chosen.rounding,
        device=options.device or chosen.default_device,
        seed=options.seed,
        tolerance=chosen.tolerance if options.tolerance is None else options.tolerance,
        preset=options.preset,
        population=options.settings(0.0, 0.0).population,
        evals=options.evals,
        time=options.time,
        workers=options.workers,
        referee=options.referee,
        versions={name: version(name) for name in ("gevolve", "numpy", *_PACKAGES[chosen.ir])},
    )
    folder = options.out or _new_folder(chosen.name)
    with Store.create(folder, msgspec.to_builtins(config), program.digest, program.text) as store:
        return _Run(store, config, chosen, program, watch).go()


def resume(
    folder: str | Path,
    *,
    evals: int | None = None,
    time: float | None = None,
    workers: int | None = None,
    watch: Watch | None = None,
) -> Result:
    """Go on with a run until its budget, or a new one, is used."""
    with Store.open(Path(folder)) as store:
        config = read_config(store)
        if evals is not None or time is not None:
            config = msgspec.structs.replace(config, evals=evals, time=time)
        if workers is not None:
            config = msgspec.structs.replace(config, workers=workers)
        workload = load_workload(config.spec)
        return _Run(store, config, workload, workload.load(), watch).go()


def summarise(folder: str | Path) -> Result:
    """What a run has found so far, read from its store without locking it."""
    with Store.open(Path(folder), readonly=True) as store:
        return _result(store, read_config(store))


def _result(store: Store, config: Config) -> Result:
    return result_of(store, settings_of(store, config), config)


class _Run:
    """The loop that moves patches from the search to the evaluator and verdicts to the store."""

    def __init__(
        self,
        store: Store,
        config: Config,
        workload: Workload,
        program: Program,
        watch: Watch | None,
    ) -> None:
        self._store = store
        self._config = config
        self._options = options = config.options(store.folder)
        self._workload = workload
        self._program = program
        self._settings = settings_of(store, config)
        self._watch = watch
        self._tally = Tally(self._settings)
        self._earlier = store.get("seconds", float, 0.0)
        self._began = time.monotonic()
        self._resumed_at = 0
        self._stop = threading.Event()
        self._progress = Progress(config.workload, config.device, config.seed, options.budget)

    def go(self) -> Result:
        """Search until the budget is used or someone stops it, then check what was found."""
        store = self._store
        store.check_program(self._program.digest)
        self._show("starting workers")
        evaluator = self._evaluator(
            self._config.device, [("search", row.evaluation) for row in store.evaluations()]
        )
        with _stoppable(self._stop), evaluator:
            self._show("running the unedited program")
            self._check_baseline(evaluator.prepare("search"))
            self._settings = settings_of(store, self._config)
            self._tally = tally(store, self._settings)
            self._resumed_at = self._tally.verdicts.total()
            store.set("status", "stopped")  # what it is if this process is killed
            complete = self._generations(self._search(), evaluator)
            conclude(self._session(evaluator), whole=complete)
        store.set("seconds", self._spent())
        store.set("status", "finished" if complete else "stopped")
        return _result(store, self._config)

    def _evaluator(self, device: str, known: Iterable[tuple[Split, Evaluation]] = ()) -> Pool:
        return Pool(
            self._config.spec,
            program=self._program,
            device=device,
            workers=self._options.cores,
            tolerance=self._config.tolerance,
            draw=last_draw(self._store),
            known=known,
        )

    def _session(self, evaluator: Evaluator) -> Session:
        """The run as analyses see it."""
        return Session(
            store=self._store,
            config=self._config,
            workload=self._workload,
            program=self._program,
            settings=self._settings,
            evaluator=evaluator,
            counted=self._tally,
            elsewhere=self._evaluator,
            seconds=max(MEASURE, self._spent() / 4),
            say=lambda stage: self._show(f"{stage}; Ctrl-C to leave it there"),
        )

    def _check_baseline(self, baseline: Baseline) -> None:
        """Keep the unedited program's evaluation; on a resume it must be what it was."""
        row = self._store.find(Patch())
        if row is None:
            self._store.set("profile", baseline.profile)
            self._store.set("cases", baseline.cases)
            self._store.set("bound", baseline.tolerance)
            self._store.add([(Patch(), baseline.evaluation, -1)])
        elif baseline.deterministic and row.evaluation.time != baseline.evaluation.time:
            raise StoreError(
                f"{self._store.folder}: the unedited program now takes {baseline.evaluation.time}, "
                f"not {row.evaluation.time}: the workload or gevolve has changed; start a new run"
            )

    def _search(self) -> Search:
        """A new search, or the one that the store has the state of."""
        store = self._store
        unedited = store.variant(0).evaluation
        profile = store.get("profile", dict[str, float], {}) or None
        last = store.last_generation()
        if last is None:
            return Search(self._program, profile, unedited, self._settings, self._config.seed)
        judged = ((row.patch, row.evaluation) for row in store.evaluations(until=last.number))
        self._progress.curve = store.get("curve", list[float], [])[: last.number]
        return Search.restore(self._program, profile, unedited, self._settings, last.state, judged)

    def _generations(self, search: Search, evaluator: Evaluator) -> bool:
        """Judge generation after generation; returns whether the budget was used up."""
        store = self._store
        evals, seconds = self._options.budget
        before = {row.id: row.evaluation for row in store.evaluations()}
        while not self._stop.is_set() and self._spent() < seconds:
            patches = search.ask()
            if not patches:
                return True
            ids = store.reserve(patches, search.generation)
            wanted = {id_: patch for id_, patch in zip(ids, patches, strict=True) if id_ <= evals}
            judged = {id_: before[id_] for id_ in wanted if id_ in before}
            self._progress.generation = search.generation
            self._judge(evaluator, wanted, judged, search.generation)
            if len(judged) < len(patches):
                return len(judged) == len(wanted) or not self._stop.is_set()
            search.tell([judged[id_] for id_ in ids])
            self._progress.curve.append(search.fastest.time / self._tally.baseline.time)
            store.set("curve", self._progress.curve)
            store.set("seconds", self._spent())
            store.save_generation(
                search.generation, search.state(), [id_ for id_, _ in self._tally.front]
            )
        return not self._stop.is_set()

    def _judge(
        self,
        evaluator: Evaluator,
        wanted: dict[int, Patch],
        judged: dict[int, Evaluation],
        generation: int,
    ) -> None:
        """Have the wanted patches judged that are not yet, unless time runs out or someone stops."""
        queue = [id_ for id_ in wanted if id_ not in judged][::-1]
        ahead = AHEAD * self._options.cores
        outstanding = 0

        def submit() -> int:
            count = 0
            while queue and outstanding + count < ahead and not self._over():
                id_ = queue.pop()
                evaluator.submit(id_, wanted[id_])
                count += 1
            return count

        outstanding += submit()
        for key, evaluation in evaluator.results():
            assert isinstance(key, int)
            judged[key] = evaluation
            self._store.add([(wanted[key], evaluation, generation)])
            self._tally.add(key, wanted[key], evaluation)
            self._show("searching")
            outstanding += submit() - 1

    def _show(self, stage: str) -> None:
        if self._watch is None:
            return
        progress, counted = self._progress, self._tally
        progress.stage = stage
        progress.seconds = self._spent()
        progress.evaluations = counted.verdicts.total()
        here = progress.evaluations - self._resumed_at
        progress.rate = here / max(1e-9, time.monotonic() - self._began)
        progress.verdicts = dict(counted.verdicts)
        progress.front = counted.entries()
        self._watch(progress)

    def _spent(self) -> float:
        return self._earlier + time.monotonic() - self._began

    def _over(self) -> bool:
        return self._stop.is_set() or self._spent() >= self._options.budget[1]


def _new_folder(name: str) -> Path:
    """A folder under runs/ that does not exist yet."""
    stem = f"{name.lower()}-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    folder = Path("runs") / stem
    number = 2
    while folder.exists():
        folder = Path("runs") / f"{stem}-{number}"
        number += 1
    return folder


@contextmanager
def _stoppable(stop: threading.Event) -> Generator[None]:
    """Let the first Ctrl-C (or SIGTERM) set `stop`, and the second one raise KeyboardInterrupt."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handler(_number: int, _frame: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    numbers = (signal.SIGINT, signal.SIGTERM)
    old = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, previous in old.items():
            signal.signal(number, previous)
