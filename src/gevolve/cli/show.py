"""``gevolve show``, ``report`` and ``watch``: a run as people see it."""

# ruff: noqa: D417  (what several commands have in common is described once, by its type)

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from gevolve.cli.words import Folder, Json, Trust, print_found
from gevolve.report.terminal import details, summary
from gevolve.run.run import Run
from gevolve.system.text import printable


def show_(
    run: Folder,
    /,
    *,
    variant: str | None = None,
    cost: Annotated[bool, Parameter(negative="")] = False,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Show what a run has found, also while it goes on.

    Parameters
    ----------
    variant
        Show one variant: its patch, edit by edit, with source lines.
    cost
        Show what the cycles of each kernel and source line are spent on, in the unedited program
        and in the variant (the best one if none is named). A run keeps that of its best; for others
        the workload is run once more.

    """
    with Run.open(run, trust=trust) as mine:
        if cost:
            from gevolve.analyze.cost import costs  # noqa: PLC0415  (only this option needs it)
            from gevolve.report.costs import render  # noqa: PLC0415

            spent = costs(mine, variant)
            print_found(spent, render(spent), json=json)
        elif variant is None:
            found = mine.summary()
            print_found(found, summary(found), json=json)
        else:
            from gevolve.analyze.inspect import inspect  # noqa: PLC0415  (only this option needs it)

            detail = inspect(mine, variant)
            print_found(detail, details(detail), json=json)


def report_(run: Folder, /, *others: Path, output: Path | None = None, cost: bool = True) -> None:
    """Write one HTML file that shows a run, or compares several; it opens offline.

    Parameters
    ----------
    others
        More runs, to compare them with it.
    output
        The file to write; report.html in the run's folder if not given, or comparison.html beside it.
    cost
        Show where the cycles of the best variant go, if the run has worked that out.

    """
    from gevolve.report.html.build import report  # noqa: PLC0415  (only this command needs it)

    print(printable(str(report(run, *others, output=output, cost=cost))))


def watch_(run: Folder, /, *, port: int = 0) -> None:
    """Serve the page of a run in progress, on this machine only, until Ctrl-C.

    The run may begin later.

    Parameters
    ----------
    port
        Where to serve it; any free port if 0.

    """
    from gevolve.report.watch import watch  # noqa: PLC0415  (only this command needs it)

    watch(run, port, say=lambda line: print(printable(line), flush=True))
