"""The command line: gevolve run, resume, show, validate, minimize, explain, export, report, watch and more."""

import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import App, CycloptsError, Parameter
from rich.console import Console, RenderableType

from gevolve.analyze.cost import costs
from gevolve.analyze.explain import explain
from gevolve.analyze.minimize import minimize
from gevolve.analyze.validate import validate
from gevolve.errors import GevolveError
from gevolve.export.scripts import Loader
from gevolve.export.variant import Form, export_variant, inspect_variant, save, to_stdout, told
from gevolve.report.analysis import Saying, explanation, minimal, validation
from gevolve.report.costs import render
from gevolve.report.terminal import LiveView, details, summary
from gevolve.run.loop import optimize, resume, summarise
from gevolve.run.options import Options
from gevolve.run.result import Result
from gevolve.suite import SUITE

app = App(
    name="gevolve",
    help="Make GPU kernels and ML programs faster by evolving their IR, with evidence for every gain.",
    version=lambda: version("gevolve"),
    help_format="plaintext",
)
_Flat = Parameter(name="*")
_No = Parameter(negative="")


def _finish(result: Result, *, json: bool) -> None:
    if json:
        print(result.json())
    else:
        Console().print(summary(result))


def _print(found: object, view: RenderableType, *, json: bool) -> None:
    if json:
        print(msgspec.json.encode(found).decode())
    else:
        Console().print(view)


@app.command(name="run")
def run_(
    workload: Annotated[str, Parameter(show_default=False)],
    /,
    options: Annotated[Options | None, _Flat] = None,
    *,
    json: Annotated[bool, _No] = False,
) -> None:
    """Evolve a workload: WORKLOAD.py, WORKLOAD.py:Name, or the name of a suite workload.

    Parameters
    ----------
    workload
        A Python file with a gevolve.KernelWorkload, or a name that `gevolve suite` lists.
    options
        The fields of Options, each of which is an option of its own.
    json
        Print one JSON object on stdout when it is over, and nothing else there.

    """
    with LiveView() as view:
        result = optimize(workload, options, watch=view)
    _finish(result, json=json)


@app.command(name="resume")
def resume_(
    run: Path,
    /,
    *,
    evals: int | None = None,
    time: float | None = None,
    workers: int | None = None,
    json: Annotated[bool, _No] = False,
) -> None:
    """Go on with a run that was stopped, or give it more budget.

    Parameters
    ----------
    run
        The run's folder.
    evals
        A new limit for all evaluations of the run.
    time
        A new limit for all its seconds.
    workers
        Processes that judge variants.
    json
        Print one JSON object on stdout when it is over, and nothing else there.

    """
    with LiveView() as view:
        result = resume(run, evals=evals, time=time, workers=workers, watch=view)
    _finish(result, json=json)


@app.command
def show(
    run: Path,
    /,
    *,
    variant: str | None = None,
    cost: Annotated[bool, _No] = False,
    json: Annotated[bool, _No] = False,
) -> None:
    """Show what a run has found, also while it goes on.

    Parameters
    ----------
    run
        The run's folder.
    variant
        Show one variant: its patch, edit by edit, with source lines.
    cost
        Show what the cycles of each kernel and source line are spent on, in the unedited program
        and in the variant (the best one if none is named).
    json
        Print one JSON object instead.

    """
    if cost:
        found = costs(run, variant)
        if json:
            print(found.json())
        else:
            Console().print(render(found))
        return
    if variant is None:
        _finish(summarise(run), json=json)
        return
    detail = inspect_variant(run, variant)
    if json:
        print(detail.json())
    else:
        Console().print(details(detail))


@app.command(name="validate")
def validate_(
    run: Path,
    /,
    *,
    variant: str | None = None,
    workers: int | None = None,
    json: Annotated[bool, _No] = False,
) -> None:
    """Check a run's front on inputs that were never used; what fails is struck from it.

    Parameters
    ----------
    run
        The run's folder.
    variant
        Check one variant, also on the large case.
    workers
        Processes that judge variants.
    json
        Print a JSON array instead of a table.

    """
    with Saying() as say:
        found = validate(run, variant, workers=workers, say=say)
    _print(found, validation(found), json=json)


@app.command(name="minimize")
def minimize_(
    run: Path,
    /,
    *,
    variant: str | None = None,
    workers: int | None = None,
    json: Annotated[bool, _No] = False,
) -> None:
    """Leave out every edit of a patch that does not pay, and check what remains.

    Parameters
    ----------
    run
        The run's folder.
    variant
        Its id, such as v17; the best validated one if not given.
    workers
        Processes that judge variants.
    json
        Print one JSON object instead.

    """
    with Saying() as say:
        found = minimize(run, variant, workers=workers, say=say)
    _print(found, minimal(found, inspect_variant(run, found.id)), json=json)


@app.command(name="explain")
def explain_(
    run: Path,
    /,
    *,
    variant: str | None = None,
    workers: int | None = None,
    json: Annotated[bool, _No] = False,
) -> None:
    """Take a patch apart: what each edit does, and which edits only work together.

    Parameters
    ----------
    run
        The run's folder.
    variant
        Its id, such as v17; the minimal patch of the best validated one if not given.
    workers
        Processes that judge variants.
    json
        Print one JSON object instead.

    """
    with Saying() as say:
        found = explain(run, variant, workers=workers, say=say)
    _print(found, explanation(found), json=json)


@app.command
def export(
    run: Path,
    /,
    *,
    variant: str | None = None,
    format: Form | None = None,  # noqa: A002  (the option's name)
    arch: str | None = None,
    loader: Loader = "cupy",
    output: Path | None = None,
) -> None:
    """Write one variant to a file, with a manifest and a script that loads it; or to stdout.

    Parameters
    ----------
    run
        The run's folder.
    variant
        Its id, such as v17; the best validated one if not given.
    format
        ptx (the default), cubin or ll for kernels; mlir (the default), bytecode or jax for models;
        patch for the edits themselves.
    arch
        The GPU that PTX or machine code is made for, such as sm_80; what the source was compiled
        for if not given.
    loader
        What the script loads kernels with: CuPy, PyCUDA or the CUDA driver API; none for no script,
        and then the workload's file is not loaded.
    output
        The file to write; FILE.json and FILE.load.py come beside it.

    """
    name = output.name if output else None
    exported = export_variant(run, variant, format, arch=arch, loader=loader, name=name)
    if output is None:
        to_stdout(exported)
    else:
        save(exported, output)
    for line in told(exported):
        print(line, file=sys.stderr)


@app.command
def report(run: Path, /, *others: Path, output: Path | None = None, cost: bool = True) -> None:
    """Write one HTML file that shows a run, or compares several; it opens offline.

    Parameters
    ----------
    run
        The run's folder.
    others
        More runs, to compare them with it.
    output
        The file to write; report.html in the run's folder if not given, or comparison.html beside it.
    cost
        Load the workload and run the best variant once more, to show where its cycles go.

    """
    from gevolve.report.html import write_report  # noqa: PLC0415  (only this command needs it)

    print(write_report([run, *others], output, cost=cost))


@app.command(name="watch")
def watch_(run: Path, /, *, port: int = 0) -> None:
    """Serve the page of a run in progress, on this machine only, until Ctrl-C.

    Parameters
    ----------
    run
        The run's folder; the run may begin later.
    port
        Where to serve it; any free port if 0.

    """
    from gevolve.report.watch import watch  # noqa: PLC0415  (only this command needs it)

    watch(run, port, say=lambda line: print(line, flush=True))


@app.command(name="calibrate")
def calibrate_(
    measured: Path,
    /,
    *,
    device: str,
    host: str,
    source: Path | None = None,
    where: str = "",
    sample: int = 0,
    seed: int = 0,
    workers: int = 1,
    output: Path | None = None,
    json: Annotated[bool, _No] = False,
) -> None:
    """Compare a model with measured times, to see whether it ranks configurations as a GPU does.

    Parameters
    ----------
    measured
        A cache file of Kernel Tuner or a T4 file, plain or gzipped.
    device
        The model to judge, such as sim:a100.
    host
        How a configuration is launched: a T1 file, or FILE.py with a gevolve.calibrate.Host.
    source
        The kernel that was measured; a T1 file may name it.
    where
        Only configurations for which this expression of their parameters holds.
    sample
        How many configurations to run; all if not given.
    seed
        Which of them are drawn.
    workers
        Processes that run configurations.
    output
        Write the comparison as a page of HTML to this file.
    json
        Print one JSON object on stdout, and nothing else there.

    """
    from gevolve.calibrate import plot  # noqa: PLC0415  (only this command needs it)
    from gevolve.calibrate.report import calibrate  # noqa: PLC0415  (only this command needs it)

    with plot.progress() as watch:
        found = calibrate(
            measured,
            host,
            device,
            source=source,
            where=where,
            sample=sample,
            seed=seed,
            workers=workers,
            watch=watch,
        )
    if output:
        output.write_text(plot.page(found))
    _print(found, plot.render(found), json=json)


@app.command
def suite() -> None:
    """List the workloads that come with gevolve."""
    for name, description in SUITE.items():
        print(f"{name:12} {description}")


@app.command
def devices() -> None:
    """List the devices that workloads can run on, and what to install for more."""
    from gevolve.device.registry import list_devices  # noqa: PLC0415  (no other command needs all devices)

    for name, line in list_devices():
        print(f"{name:12} {line}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; errors are one line on stderr and exit code 2."""
    try:
        app(arguments, exit_on_error=False, print_error=False)
    except (GevolveError, CycloptsError) as error:
        print(f"gevolve: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("gevolve: interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
