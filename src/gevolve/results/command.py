"""The command ``gevolve suite``: list the workloads, measure them, show and compare measurements."""

# ruff: noqa: D417  (what several commands have in common is described once, by its type)

import os
import sys
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from cyclopts import App, Parameter

from gevolve.errors import OptionError
from gevolve.export.files import write_text
from gevolve.results.compare import compare
from gevolve.results.page import page
from gevolve.results.plan import plan
from gevolve.results.process import Budget
from gevolve.results.schedule import run_all
from gevolve.results.table import Table, read_table
from gevolve.results.view import SuiteView, compared, render
from gevolve.system.console import SafeConsole
from gevolve.system.text import escaped
from gevolve.workload.catalog import GROUPS

TABLE, PAGE = "table.json", "index.html"
app = App(name="suite", help="List the workloads that come with gevolve, and measure on them.")
Json = Annotated[bool, Parameter(negative="", help="Print JSON on stdout, and nothing else there.")]
Results = Annotated[Path, Parameter(help="A results folder.", show_default=False)]


@app.command(name="list")
def list_() -> None:
    """List the workloads that come with gevolve, by group.

    A name without its group means the one in papers, or the only one of that name.
    """
    for group, workloads in GROUPS.items():
        print(f"{group}/")
        for name, line in workloads.items():
            print(f"  {name:16} {line}")


@app.command(name="run")
def run_(
    *names: str,
    evals: int = 2000,
    seeds: int = 1,
    device: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = (),
    preset: Annotated[tuple[Literal["default", "paper"], ...], Parameter(negative="")] = (
        "default",
    ),
    tolerance: float = 0.01,
    workers: int | None = None,
    out: Path = Path("results"),
    json: Json = False,
) -> None:
    """Run searches of many workloads side by side, and show what they came to.

    Killed at any moment, it goes on with the same command, and gives the same
    table. In the results folder are one run for each workload, seed, preset and
    device, the table as JSON (table.json) and as a page (index.html).

    Parameters
    ----------
    names
        Workloads and groups, such as hotspot or tuned; the group papers if none is named.
    evals
        Variants that each run judges.
    seeds
        Runs of each workload, with seeds from 0 on.
    device
        Where variants run; may be repeated. By default sim:a100 for kernels, xla:cpu for models.
    preset
        The search's rates; may be repeated, to see both side by side.
    tolerance
        The largest error of what counts as within the tolerance.
    workers
        Runs that go on at once, each with one worker; one for each core if not given.
    out
        The results folder.

    """
    if evals < 1:
        raise OptionError(f"--evals is {evals}; it must be at least 1")
    if workers is not None and not 1 <= workers <= 1024:
        raise OptionError(f"--workers is {workers}; it must be from 1 to 1024")
    tasks = plan(names, device, preset, seeds)
    cores = len(os.sched_getaffinity(0))
    with SuiteView() as view:
        progress = run_all(
            tasks, out, Budget(evals, tolerance), workers=workers or cores, watch=view
        )
    _show(_write(out), json=json)
    if progress.failed:
        sys.exit(1)


@app.command
def show(results: Results, /, *, json: Json = False) -> None:
    """Show the table of a results folder, and write it there as JSON and as a page."""
    _show(_write(results), json=json)


@app.command(name="compare")
def compare_(before: Results, after: Results, /, *, json: Json = False) -> None:
    """Compare two results folders, or tables in JSON: what became better or worse beyond noise.

    The exit code is 1 if the search became worse, or a workload lost its result.

    Parameters
    ----------
    before
        A results folder, or a table.json.
    after
        Another one.

    """
    found = compare(read_table(before), read_table(after))
    if json:
        print(msgspec.json.encode(found).decode())
    else:
        _console().print(compared(found))
    if found.worse:
        sys.exit(1)


def _console() -> SafeConsole:
    """Where tables go; a file has room for all columns."""
    console = SafeConsole()
    return console if console.is_terminal else SafeConsole(width=160)


def _write(results: Path) -> Table:
    table = read_table(results)
    if results.is_dir():
        write_text(results / TABLE, table.json())
        write_text(results / PAGE, page(table))
    return table


def _show(table: Table, *, json: bool) -> None:
    if json:
        print(escaped(msgspec.json.encode(table).decode()))
    else:
        console = _console()
        console.print(render(table, width=console.width))
