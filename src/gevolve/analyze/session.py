"""What the analyses of a run work with: the run, an evaluator, and a limit on what they may ask."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gevolve.run.claim import at_size
from gevolve.run.run import Run
from gevolve.run.run import opened as open_run

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from pathlib import Path

    from gevolve.evaluate.evaluator import Evaluator
    from gevolve.evaluate.verdict import Evaluation
    from gevolve.patch import Patch
    from gevolve.run.standings import Standings
    from gevolve.run.store import StoredVariant


UNLIMITED = 1 << 60


class SpentError(Exception):
    """An analysis needs more evaluations than it was given; what it learned is in the store."""


def silent(_: str) -> None:
    """Tell nobody how far an analysis is."""


@dataclass(slots=True, kw_only=True)
class Session:
    """A run that is being analyzed, with an evaluator that can judge more variants of it."""

    run: Run
    evaluator: Evaluator
    standings: Standings
    workers: int | None = None
    """Processes of further evaluators; as many as the run has if not given."""
    say: Callable[[str], None] = silent
    """Takes one line about how far the analysis is."""
    limit: int = UNLIMITED
    """The most patches that may be asked for."""
    asked: int = 0
    """How many were asked for, known ones too, so that a repeated analysis takes as many."""
    seconds: float = 600.0
    """How long variants may be measured in all, where times vary."""
    began: float | None = None
    """When that began; what came before it, such as a re-fit, takes none of its time."""
    samples: dict[int | str, list[float]] = field(default_factory=dict[int | str, list[float]])
    """The ratios that were measured, by variant; 0 is the unedited program beside itself,
    ``nvcc`` nvcc's build of it."""

    @property
    def limited(self) -> bool:
        """Whether no more than a number of patches may be asked for."""
        return self.limit < UNLIMITED

    @property
    def late(self) -> bool:
        """Whether there is no time left to measure."""
        return self.began is not None and time.monotonic() > self.began + self.seconds

    @property
    def unedited(self) -> StoredVariant:
        return self.run.store.variant(0)

    def record(self, number: int, split: str, evaluation: Evaluation) -> None:
        """Keep what became of a variant on other cases; one that failed leaves the front."""
        if split == "large":
            evaluation = at_size(evaluation, self.evaluator.prepare(split).evaluation)
        self.run.store.add_validation(number, split, evaluation)
        self.standings.validate(number, split, evaluation)

    def judged(self, patch: Patch) -> StoredVariant:
        """The variant of a patch that was judged before."""
        row = self.run.store.find(patch)
        assert row is not None
        return row

    def judge(self, patches: Sequence[Patch]) -> list[StoredVariant]:
        """The variants of these patches, judged on the search cases; each is run only once ever."""
        self.asked += len(patches)
        if self.asked > self.limit:
            raise SpentError
        store = self.run.store
        ids = store.reserve_analysis(patches)
        wanted = dict(zip(ids, patches, strict=True))
        for id_, patch in wanted.items():
            if store.find(patch) is None:
                self.evaluator.submit(id_, patch)
        for key, evaluation in self.evaluator.results():
            assert isinstance(key, int)
            store.add_analysis(key, wanted[key], evaluation)
        return [store.variant(id_) for id_ in ids]


@contextmanager
def opened(
    run: Run | str | Path,
    *,
    workers: int | None = None,
    say: Callable[[str], None] = silent,
    fresh: bool = False,
) -> Generator[Session]:
    """Open a run to analyze it, with an evaluator like the one that it was searched with.

    If asked for `fresh` cases it draws new ones; else they are those that were used last.
    """
    with open_run(run, writable=True) as mine:
        draw = mine.findings.new_draw() if fresh else None
        say("starting workers")
        with mine.evaluator(workers=workers, draw=draw) as evaluator:
            standings = mine.standings()
            yield Session(
                run=mine, evaluator=evaluator, standings=standings, workers=workers, say=say
            )
