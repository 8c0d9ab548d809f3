"""`Run`: one search in one folder, and everything that belongs to it.

    with gevolve.open("runs/hotspot") as run:
        print(run.summary().best)
        for variant in run.store.evaluations():
            print(variant.patch, variant.evaluation.time)

A run can be stopped at any moment and resumed. Analyses, reports and exports take a `Run`, or the
folder of one (see `opened`).
"""

from __future__ import annotations

import os
import shlex
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import msgspec

from gevolve.device.registry import family
from gevolve.errors import MissingPackageError, SourceError, StoreError, TrustError
from gevolve.evaluate.pool import Pool
from gevolve.evaluate.ray import RayEvaluator
from gevolve.ir import restore
from gevolve.program import Layered
from gevolve.run import seal, sources
from gevolve.run.caveats import read_caveats
from gevolve.run.config import Config
from gevolve.run.findings import Findings
from gevolve.run.standings import Standings
from gevolve.run.store import Store, parse_id
from gevolve.run.summary import Summary, best_of, most_accurate
from gevolve.system.limited import limited
from gevolve.workload.catalog import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from gevolve.device.base import Device
    from gevolve.evaluate.dispatcher.cluster import Cluster
    from gevolve.evaluate.evaluator import Evaluator
    from gevolve.program import Program
    from gevolve.run.store import StoredVariant
    from gevolve.run.summary import VariantSummary
    from gevolve.search import Settings
    from gevolve.workload.base import Split, Workload


T = TypeVar("T")


class Run:
    """An open run; close it, or use it in a ``with`` statement.

    The config, the program and the workload are read when they are first asked for. The program comes
    from the store, so it can be had after its source has changed; the workload comes from its file.
    """

    def __init__(self, store: Store, *, trust: bool = False) -> None:
        self.store = store
        self.findings = Findings(store)
        self.cluster: Cluster | None = None
        """Where variants are judged, if not on this machine."""
        self._trust = trust
        self._loaded = False
        """Whether the program is known to be what its source gives."""

    @classmethod
    def create(cls, folder: Path, config: Config, workload: Workload) -> Self:
        """Start a run of a workload in this folder, which is made if need be."""
        program = workload.load()
        config_values = seal.sealed(msgspec.to_builtins(config), program.text)
        kept = {sources.NAME: sources.record(workload, program.text)}
        store = Store.create(folder, config_values, program.digest, program.text, kept)
        run = cls(store, trust=True)
        run.config, run.workload, run.program, run._loaded = config, workload, program, True
        return run

    @classmethod
    def open(cls, folder: str | Path, *, writable: bool = False, trust: bool = False) -> Self:
        """Open the run in a folder, and check that nothing in its file is damaged.

        Only one process at a time may open a run for writing; reading never waits. Nothing that the
        store names is imported, and no file is read but the store; `trust` allows that later, for what
        cannot be done without, in a run that someone else began.
        """
        return cls(Store.open(Path(folder), readonly=not writable), trust=trust)

    def close(self) -> None:
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def folder(self) -> Path:
        return self.store.folder

    @property
    def active(self) -> bool:
        """Whether some process is writing the run now."""
        return self.store.locked

    @cached_property
    def config(self) -> Config:
        """How the run was set up."""
        try:
            return msgspec.convert(self.store.config, Config)
        except msgspec.ValidationError as error:
            raise StoreError(
                f"{self.folder}: its configuration cannot be read ({error}); start a new run"
            ) from None

    @cached_property
    def program(self) -> Program:
        """The unedited program, as the store keeps it."""
        try:
            self.guarded(lambda: restore(self.config.ir, self.store.program_text).digest, str)
            return self._knowing(restore(self.config.ir, self.store.program_text))
        except ImportError:
            raise MissingPackageError("models need JAX", "ml") from None
        except (SourceError, AssertionError, LookupError, ValueError):
            raise StoreError(
                f"{self.folder}: its program cannot be read; restore a copy, or start a new run"
            ) from None

    @cached_property
    def trusted(self) -> bool:
        """Whether its workload may be imported: the user's own, the suite's, or one vouched for."""
        if self._trust or name_of(self.config.location.place):
            return True
        return seal.is_own(self.store.config, self.store.program_text)

    def guarded(self, work: Callable[[], T], kind: type[T]) -> T:
        """What `work` gives, which must be of this kind; in a run of someone else, done in a fork.

        Reading a program, and applying a patch to it, takes what the store has; a store made to do harm
        can have anything.
        """
        if self.trusted:
            return work()
        done = limited(lambda: msgspec.json.encode(work()), str(self.folder))
        return msgspec.json.decode(done, type=kind)

    @cached_property
    def workload(self) -> Workload:
        """The workload, from the file that defines it; raises `TrustError` if it is a stranger's."""
        if not self.trusted:
            raise TrustError(
                f"{self.folder}: you did not begin this run here, and this would run the code of"
                f" {self.config.location}; look at it first, then say --trust"
            )
        return self.config.location.build()

    @cached_property
    def device(self) -> Device:
        """The run's device, in this process."""
        return self.workload.device(self.config.device)

    @property
    def settings(self) -> Settings:
        """The settings of the search; what error it allows is known once the baseline was judged."""
        config = self.config
        return config.search_settings(
            self.store.get("bound", float, config.tolerance),
            self.store.get("rounding", float, config.rounding),
            self.store.get("approximations", tuple[str, ...], ()),
        )

    def load_program(self) -> None:
        """Load the program from its source, which must not have changed since the run began.

        A program from the source knows which of its kernels to evolve; one from the store does not.
        """
        if not self._loaded:
            program = self.workload.load()
            self.store.check_program(program.digest)
            self.program, self._loaded = self._knowing(program), True

    def know_kernels(self) -> None:
        """Let the program tell of edits of kernels in words, as far as the store has these kernels."""
        self._knowing(self.program)

    def _knowing(self, program: Program) -> Program:
        kept = self.store.get("kernels", dict[str, Any], {}).get("kernels", {})
        if kept and isinstance(program, Layered):
            program.know({name: one["llvm"] for name, one in kept.items()})
        return program

    def evaluator(
        self, device: str = "", *, workers: int | None = None, draw: int | None = None
    ) -> Evaluator:
        """An evaluator for variants of this run, on its device or on another one.

        `draw` chooses the fresh cases; by default those that were used last.
        """
        self.load_program()
        search: Split = "search"
        judged = () if device else self.store.evaluations()
        options: dict[str, Any] = {
            "program": self.program,
            "device": device or self.config.device,
            "tolerance": self.config.loose,
            "draw": self.findings.draw if draw is None else draw,
            "machine": {} if device else self.machine(),
            "known": ((search, row.evaluation) for row in judged),
        }
        if self.cluster is not None and not device:
            return RayEvaluator(self.config.location, cluster=self.cluster, **options)
        return Pool(self.config.location, workers=workers or self.config.cores, **options)

    @property
    def calibrated(self) -> bool:
        """Whether the device has measured the machine, if it goes by such a measurement; that takes some seconds."""
        known = self.store.get("machine", dict[str, float], {})
        return bool(known) or not family(self.config.device).calibrates

    def machine(self) -> dict[str, float]:
        """What the device measured of the machine that the run began on, and has gone by since."""
        if not self.calibrated and (measured := self.device.calibrate()):
            self.store.set("machine", measured)
        return self.store.get("machine", dict[str, float], {})

    def standings(self) -> Standings:
        """The verdicts and the front so far."""
        standings = Standings.read(self.store, self.settings)
        if not standings.started:
            raise StoreError(
                f"{self.folder}: the unedited program was not judged yet; "
                f"wait, or start it again with `gevolve resume {self.folder}`"
            )
        return standings

    def describe(self, row: StoredVariant) -> VariantSummary | None:
        """A variant as summaries show it; None if it is not `ok`, or nothing to compare it with."""
        standings = Standings.read(self.store, self.settings)
        return standings.describe(row) if standings.started else None

    def summary(self) -> Summary:
        """What the run has found so far."""
        standings, config = self.standings(), self.config
        front, claims = (
            [standings.minimal(one, self.store) for one in some]
            for some in (standings.variants(), standings.measured())
        )
        unedited = standings.baseline
        error, held_out = unedited.evaluation.error or 0.0, standings.checks.error(0, "held-out")
        return Summary(
            workload=config.workload,
            device=config.device,
            seed=config.seed,
            evaluations=standings.verdicts.total(),
            seconds=round(self.store.get("seconds", float, 0.0), 3),
            verdicts=dict(sorted(standings.verdicts.items())),
            baseline={"time": unedited.time, "error": error, "ratio": 1.0}
            | ({"gaps": gaps} if (gaps := unedited.evaluation.gaps) else {})
            | ({} if held_out is None else {"held_out_error": held_out}),
            best=best_of(claims, exact=False),
            best_exact=best_of(claims, exact=True),
            nvcc=standings.nvcc,
            most_accurate=most_accurate(claims, error, held_out or 0.0) if unedited.error else None,
            front=front,
            struck=standings.checks.struck,
            caveats=read_caveats(self.store),
            clock=self.findings.clock,
            unsure=standings.unsure(),
            generations=len(self.store.get("curve", list[float], [])),
            tolerance=config.tolerance,
            status=self.store.get("status", str, "stopped"),
            run=str(self.folder),
        )

    def variant(self, name: str | None = None) -> StoredVariant:
        """The variant with this name, such as ``v17``; by default the best that was validated."""
        if name is not None:
            return self.store.variant(parse_id(name))
        best = self.summary().best
        if best is None:
            raise StoreError(
                f"{self.folder}: no variant is faster and validated; "
                "name one with --variant, such as v17"
            )
        return self.store.variant(parse_id(best.id))

    @property
    def source(self) -> str:
        """The workload as the command line takes it: a suite name, or a file and a class.

        A file outside the current folder loses its folders, which mean nothing on another machine.
        """
        place, name = self.config.location.place, self.config.location.name
        if suite_name := name_of(place):
            return suite_name
        if not place.endswith(".py"):
            return f"{place}:{name}"
        near = os.path.relpath(place)
        return f"{Path(place).name if near.startswith('..') else near}:{name}"

    @property
    def command(self) -> str:
        """The command that repeats this run.

        Its budget is what was judged: time passes differently on another machine.
        """
        config = self.config
        words = ["gevolve", "run", self.source, "--device", config.device]
        words += ["--seed", str(config.seed), "--evals", str(max(1, self.store.count() - 1))]
        words += ["--population", str(self.settings.population)]
        if config.levels != ("graph",):
            words += ["--levels", ",".join(config.levels)]
        if config.tolerance:
            words += ["--tolerance", f"{config.tolerance:g}"]
        if config.refit:
            words += ["--refit", str(config.refit)]
        if config.preset != "default":
            words += ["--preset", config.preset]
        if config.search != "nsga2":
            words += ["--search", config.search]
        for name, value in config.settings.items():
            if name != "population":
                words += ["--set", f"{name}={msgspec.json.encode(value).decode()}"]
        return shlex.join(words)


@contextmanager
def opened(run: Run | str | Path, *, writable: bool = False) -> Generator[Run]:
    """A run for the time of a ``with`` block: the one given, or the one in this folder."""
    if isinstance(run, Run):
        if writable and run.store.readonly:
            raise StoreError(
                f"{run.folder}: opened for reading only; use gevolve.open(folder, writable=True)"
            )
        yield run
        return
    with Run.open(run, writable=writable) as mine:
        yield mine


def summarize(run: Run | str | Path) -> Summary:
    """What a run has found so far; it may be going on."""
    with opened(run) as mine:
        return mine.summary()
