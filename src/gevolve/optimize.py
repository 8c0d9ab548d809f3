"""Starts a search, or goes on with one: what ``gevolve run`` and ``gevolve resume`` do."""

from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from gevolve.analyze.conclude import conclude
from gevolve.analyze.fitting import check_can_fit
from gevolve.analyze.session import Session
from gevolve.device.registry import placement
from gevolve.errors import GevolveError, OptionError
from gevolve.evaluate.dispatcher.cluster import PACKAGES, Cluster
from gevolve.run.config import Config, Levels
from gevolve.run.levels import check_levels
from gevolve.run.loop import Loop, Watch
from gevolve.run.options import Options
from gevolve.run.run import Run
from gevolve.run.summary import Summary
from gevolve.workload.base import Workload
from gevolve.workload.examine import examine
from gevolve.workload.locate import locate, location_of

MEASURE = 90.0
"""Seconds for measuring the front at the end, where times vary; a fifth of the run if that is more."""
_PACKAGES = {"llvm": ("llvmlite", "ziglang"), "stablehlo": ("jax", "jaxlib")}
"""What a result depends on besides gevolve and NumPy, by IR."""


def optimize(
    workload: str | Path | Workload,
    options: Options | None = None,
    *,
    watch: Watch | None = None,
    **more: Any,
) -> Summary:
    """Evolve a workload's program; what the command line's ``gevolve run`` does.

    `workload` is an object, a path such as ``"stencil.py:Stencil"`` or the name of a suite workload.
    Options may be given one by one: ``optimize("hotspot", evals=500, settings={"crossover": 0.5})``.
    """
    if options is not None and more:
        raise OptionError("give either an Options object or single options, not both")
    options = options or Options.of(more)
    chosen = workload if isinstance(workload, Workload) else locate(str(workload))
    examine(chosen)
    config = _config(chosen, options)
    if options.refit:
        check_can_fit(chosen, chosen.load().text)
    with (
        _connected(options.cluster, config) as cluster,
        Run.create(Path(options.out or _new_folder(chosen.name)), config, chosen) as run,
    ):
        run.cluster = cluster
        try:
            return _search(run, watch)
        except BaseException:
            with suppress(GevolveError):  # whose folder may be gone
                if not run.store.count():
                    run.store.discard()
            raise


def resume(
    folder: str | Path,
    *,
    evals: int | None = None,
    time: float | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    trust: bool = False,
    watch: Watch | None = None,
) -> Summary:
    """Go on with a run until its budget, or a new one, is used; here, or on any cluster.

    A run that someone else began needs `trust`: its workload is imported, and that is to run it.
    """
    with Run.open(folder, writable=True, trust=trust) as run:
        if evals is not None or time is not None:
            run.config = msgspec.structs.replace(run.config, evals=evals, time=time)
        if workers is not None:
            run.config = msgspec.structs.replace(run.config, workers=workers)
        with _connected(cluster, run.config) as run.cluster:
            return _search(run, watch)


@contextmanager
def _connected(address: str | None, config: Config) -> Generator[Cluster | None]:
    """The cluster at an address, if one is wanted; before anything is written."""
    if address is None:
        yield None
        return
    packages = PACKAGES[config.ir]
    needs = placement(config.device)
    with Cluster(address, workers=config.workers, needs=needs, packages=packages) as cluster:
        yield cluster


def _config(workload: Workload, options: Options) -> Config:
    config = Config(
        workload=workload.name,
        location=location_of(workload),
        ir=workload.ir,
        rounding=workload.rounding or 0.0,
        device=options.device or workload.default_device,
        seed=options.seed,
        levels=msgspec.convert(options.levels.split(","), Levels),
        tolerance=workload.tolerance if options.tolerance is None else options.tolerance,
        search=options.search,
        preset=options.preset,
        settings=options.chosen_settings,
        evals=options.evals,
        time=options.time,
        workers=options.workers,
        referee=options.referee,
        refit=options.refit,
        versions={name: version(name) for name in ("gevolve", "numpy", *_PACKAGES[workload.ir])},
    )
    check_levels(config.levels, config.device)
    config.search_settings(0.0, 0.0)  # a wrong setting is refused before anything is written
    return config


def _search(run: Run, watch: Watch | None) -> Summary:
    """Search until the budget is used, then check what was found."""
    run.load_program()  # before signals are caught: one ends a parse at once
    loop = Loop(run, watch)
    with loop.stoppable(), run.evaluator() as evaluator:
        complete = loop.search(evaluator)
        session = Session(
            run=run,
            evaluator=evaluator,
            standings=loop.standings,
            seconds=max(MEASURE, loop.seconds / 4),
            say=lambda stage: loop.show(f"{stage}; Ctrl-C to leave it there"),
        )
        conclude(session, whole=complete)
    run.store.set("seconds", loop.seconds)
    run.store.set("status", "finished" if complete else "stopped")
    return run.summary()


def _new_folder(name: str) -> Path:
    """A folder under runs/ that does not exist yet."""
    stem = f"{name.lower()}-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    folder = Path("runs") / stem
    number = 2
    while folder.exists():
        folder = Path("runs") / f"{stem}-{number}"
        number += 1
    return folder
