"""``gevolve run`` and ``gevolve resume``: a search, from the beginning or from where it was."""

# ruff: noqa: D417  (what several commands have in common is described once, by its type)

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from gevolve.cli.words import Folder, Json, Trust, Workers, print_found
from gevolve.optimize import optimize, resume
from gevolve.report.live import LiveView
from gevolve.report.terminal import summary
from gevolve.run.options import Options, parse_setting, read_settings


def run_(
    workload: Annotated[str, Parameter(show_default=False)],
    /,
    options: Annotated[Options | None, Parameter(name="*")] = None,
    *,
    set: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = (),  # noqa: A002  (the option's name)
    settings: Path | None = None,
    json: Json = False,
) -> None:
    """Evolve a workload: WORKLOAD.py, WORKLOAD.py:Name, or the name of a suite workload.

    When the search is over, its front is validated and its best minimized.
    The first Ctrl-C ends the search and only validates, a second one ends at
    once; nothing that was judged is lost.

    Parameters
    ----------
    workload
        A Python file with a gevolve.KernelWorkload or gevolve.ModelWorkload, or a name that
        `gevolve suite list` names.
    options
        The fields of Options, each of which is an option of its own.
    set
        Change one setting of the search, such as crossover=0.5; may be repeated.
    settings
        A TOML file with settings of the search, one a line.

    """
    chosen = read_settings(settings) if settings else {}
    chosen |= dict(map(parse_setting, set))
    with LiveView() as view:
        found = optimize(workload, replace(options or Options(), settings=chosen), watch=view)
    print_found(found, summary(found), json=json)


def resume_(
    run: Folder,
    /,
    *,
    evals: int | None = None,
    time: float | None = None,
    workers: Workers = None,
    cluster: str | None = None,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Go on with a run that was stopped, or give it more budget.

    The result is that of a run that was never interrupted, wherever it goes on.

    Parameters
    ----------
    evals
        A new limit for all evaluations of the run.
    time
        A new limit for all its seconds.
    cluster
        Where workers run, if not here: ray, auto, HOST:PORT or ray://HOST:PORT.

    """
    with LiveView() as view:
        found = resume(
            run, evals=evals, time=time, workers=workers, cluster=cluster, trust=trust, watch=view
        )
    print_found(found, summary(found), json=json)
