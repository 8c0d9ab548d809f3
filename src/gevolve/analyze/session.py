"""What every analysis of a run works with: its store, its program, an evaluator, what is known so far."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from gevolve.analyze.kept import last_draw
from gevolve.errors import StoreError
from gevolve.evaluate.pool import Pool
from gevolve.run.config import Config, read_config, settings_of
from gevolve.run.store import Row, Store, parse_id
from gevolve.run.tally import Tally, result_of, tally
from gevolve.workload.locate import load_workload

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence
    from contextlib import AbstractContextManager

    from gevolve.device.base import Device
    from gevolve.evaluate.evaluator import Evaluator
    from gevolve.evaluate.verdict import Evaluation
    from gevolve.patch import Patch
    from gevolve.program import Program
    from gevolve.search import Settings
    from gevolve.workload.base import Split, Workload


class SpentError(Exception):
    """An analysis would need more evaluations than it was given; what it learnt is in the store."""


def silent(_: str) -> None:
    """Tell nobody how far an analysis is."""


@dataclass(slots=True, kw_only=True)
class Session:
    """A run that is being analysed."""

    store: Store
    config: Config
    workload: Workload
    program: Program
    settings: Settings
    evaluator: Evaluator
    counted: Tally
    elsewhere: Callable[[str], AbstractContextManager[Evaluator]]
    """Opens an evaluator on another device."""
    say: Callable[[str], None] = silent
    """Takes one line about how far the analysis is."""
    limit: int = 1 << 60
    """The most patches that may be asked for."""
    seconds: float = 600.0
    """How long variants may be measured in all, where times vary."""
    samples: dict[int, list[float]] = field(default_factory=dict[int, list[float]])
    """The ratios that were measured, by variant; 0 is the unedited program beside itself."""
    began: float = field(default_factory=time.monotonic)
    asked: int = 0
    """How many were asked for, known ones too, so that a second time takes as many."""

    @property
    def late(self) -> bool:
        """Whether there is no time left to measure."""
        return bool(self.samples) and time.monotonic() > self.began + self.seconds

    @property
    def splits(self) -> Sequence[Split]:
        """The splits that the workload has cases for."""
        return self.workload.splits

    @property
    def device(self) -> Device:
        """The run's device, in this process."""
        return self.workload.device(self.config.device)

    @property
    def unedited(self) -> Row:
        return self.store.variant(0)

    def record(self, number: int, split: str, evaluation: Evaluation) -> None:
        """Keep what became of a variant on other cases; one that failed leaves the front."""
        self.store.add_validation(number, split, evaluation)
        self.counted.validate(number, split, evaluation)

    def judge(self, patches: Sequence[Patch]) -> list[Row]:
        """The variants of these patches, judged on the search cases; each is run only once ever."""
        self.asked += len(patches)
        if self.asked > self.limit:
            raise SpentError
        ids = self.store.reserve_analysis(patches)
        wanted = dict(zip(ids, patches, strict=True))
        for id_, patch in wanted.items():
            if self.store.find(patch) is None:
                self.evaluator.submit(id_, patch)
        for key, evaluation in self.evaluator.results():
            assert isinstance(key, int)
            self.store.add_analysis(key, wanted[key], evaluation)
        return [self.store.variant(id_) for id_ in ids]


@contextmanager
def opened(
    run: str | Path,
    *,
    workers: int | None = None,
    draw: int | None = None,
    say: Callable[[str], None] = silent,
) -> Generator[Session]:
    """Open a run to analyse it, with an evaluator like the one that it was searched with.

    Its fresh cases are those of a `draw`, or those that were used last, to compare with what was.
    """
    folder = Path(run)
    with Store.open(folder) as store:
        config = read_config(store)
        options = config.options(folder)
        settings = settings_of(store, config)
        workload = load_workload(config.spec)
        program = workload.load()
        store.check_program(program.digest)
        say("starting workers")

        def evaluator(device: str, known: Iterable[tuple[Split, Evaluation]] = ()) -> Pool:
            return Pool(
                config.spec,
                program=program,
                device=device,
                workers=workers or options.cores,
                tolerance=config.tolerance,
                draw=last_draw(store) if draw is None else draw,
                known=known,
            )

        rows = store.evaluations()
        with evaluator(config.device, (("search", row.evaluation) for row in rows)) as local:
            counted = tally(store, settings)
            if not counted.started:
                raise StoreError(
                    f"{folder}: nothing was judged yet; `gevolve resume {folder}` first"
                )
            yield Session(
                store=store,
                config=config,
                workload=workload,
                program=program,
                settings=settings,
                evaluator=local,
                counted=counted,
                elsewhere=evaluator,
                say=say,
            )


def named(session: Session, variant: str | None) -> Row:
    """The variant that a user means: the one named, or the best that was validated."""
    if variant is not None:
        return session.store.variant(parse_id(variant))
    folder = session.store.folder
    best = result_of(session.store, session.settings, session.config).best
    if best is None:
        raise StoreError(
            f"{folder}: no variant is faster and validated; name one with --variant, such as v17"
        )
    return session.store.variant(parse_id(best.id))
