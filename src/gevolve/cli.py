"""The command line: gevolve run, resume, show, validate, minimize, explain, export, report, watch and more."""

# ruff: noqa: D417  (what several commands have in common is described once, by its type)

import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from cyclopts import App, CycloptsError, Parameter
from rich.console import RenderableType

from gevolve.analyze.cost import costs
from gevolve.analyze.explain import explain
from gevolve.analyze.inspect import inspect
from gevolve.analyze.minimize import minimize
from gevolve.analyze.validate import validate
from gevolve.errors import GevolveError, OptionError
from gevolve.export.scripts import Loader
from gevolve.export.variant import export
from gevolve.optimize import optimize, resume
from gevolve.report.analysis import StatusLine, explanation, minimal, validation
from gevolve.report.costs import render
from gevolve.report.gpu import usage
from gevolve.report.terminal import LiveView, details, summary
from gevolve.results.command import app as suite
from gevolve.run.options import Options, parse_setting, read_settings
from gevolve.run.run import Run
from gevolve.system.console import SafeConsole
from gevolve.system.text import escaped, printable

app = App(
    name="gevolve",
    help="Make GPU kernels and ML programs faster by evolving their IR, with evidence for every gain.",
    version=lambda: version("gevolve"),
    help_format="plaintext",
)
_Flag = Parameter(negative="")
Folder = Annotated[Path, Parameter(help="The run's folder.", show_default=False)]
Json = Annotated[bool, Parameter(negative="", help="Print JSON on stdout, and nothing else there.")]
Trust = Annotated[
    bool,
    Parameter(
        negative="", help="Run the workload that the run names, though someone else began it."
    ),
]
Workers = Annotated[int | None, Parameter(help="Processes that judge variants.")]
Format = Literal["ptx", "cubin", "source", "ll", "mlir", "bytecode", "jax", "vmfb", "patch"]


def _print(found: object, view: RenderableType, *, json: bool) -> None:
    """Print what a command found: as JSON, or as people read it."""
    if json:
        print(escaped(msgspec.json.encode(found).decode()))
    else:
        SafeConsole().print(view)


@app.command(name="run")
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
    _print(found, summary(found), json=json)


@app.command(name="resume")
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
    _print(found, summary(found), json=json)


@app.command
def show(
    run: Folder,
    /,
    *,
    variant: str | None = None,
    cost: Annotated[bool, _Flag] = False,
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
            spent = costs(mine, variant)
            _print(spent, render(spent), json=json)
        elif variant is None:
            found = mine.summary()
            _print(found, summary(found), json=json)
        else:
            detail = inspect(mine, variant)
            _print(detail, details(detail), json=json)


@app.command(name="validate")
def validate_(
    run: Folder,
    /,
    *,
    variant: str | None = None,
    workers: Workers = None,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Check a run's front on inputs that were never used; what fails is removed from it.

    Every call draws new inputs.

    Parameters
    ----------
    variant
        Check one variant, also on the large case.

    """
    with Run.open(run, writable=True, trust=trust) as mine, StatusLine() as say:
        found = validate(mine, variant, workers=workers, say=say)
    _print(found, validation(found), json=json)


@app.command(name="minimize")
def minimize_(
    run: Folder,
    /,
    *,
    variant: str | None = None,
    workers: Workers = None,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Leave out every edit of a patch that does not pay, and check what remains.

    The minimal patch then stands for the variant in every view and export.
    A call that was interrupted goes on where it was.

    Parameters
    ----------
    variant
        Its id, such as v17; the best validated one if not given.

    """
    with Run.open(run, writable=True, trust=trust) as mine:
        with StatusLine() as say:
            found = minimize(mine, variant, workers=workers, say=say)
        _print(found, minimal(found, inspect(mine, found.id)), json=json)


@app.command(name="explain")
def explain_(
    run: Folder,
    /,
    *,
    variant: str | None = None,
    workers: Workers = None,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Say what each edit of a patch does, and which edits only work together.

    It judges the patch with only one edit, without it, and with pairs of edits.

    Parameters
    ----------
    variant
        Its id, such as v17; the minimal patch of the best validated one if not given.

    """
    with Run.open(run, writable=True, trust=trust) as mine, StatusLine() as say:
        found = explain(mine, variant, workers=workers, say=say)
    _print(found, explanation(found), json=json)


@app.command(name="export")
def export_(
    run: Folder,
    /,
    *,
    variant: str | None = None,
    format: Format | None = None,  # noqa: A002  (the option's name)
    arch: str | None = None,
    loader: Loader = "cupy",
    trust: Trust = False,
    output: Path | None = None,
) -> None:
    """Write one variant to a file, with a manifest and a script that loads it; or to stdout.

    Standard error says what the variant is worth and what it takes of the GPU.
    If ptxas is installed, PTX that it rejects is not exported.

    Parameters
    ----------
    variant
        Its id, such as v17; the best validated one if not given.
    format
        ptx (the default), cubin or ll for kernels; mlir (the default), bytecode, jax or vmfb, which is
        IREE's, for models; patch for the edits themselves.
    arch
        The GPU that PTX, machine code or a vmfb is made for, such as sm_80; what the source was
        compiled for, or the run's device, if not given.
    loader
        What the script loads kernels with: CuPy, PyCUDA or the CUDA driver API; none for no script,
        and then the workload's file is not loaded.
    output
        The file to write; FILE.json and FILE.load.py come beside it.

    """
    with Run.open(run, trust=trust) as mine:
        exported = export(mine, variant, format, arch=arch, loader=loader, output=output)
    if output is None:
        exported.print()
    for line in exported.lines():
        print(printable(line), file=sys.stderr)


@app.command(name="report")
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


@app.command(name="watch")
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


@app.command(name="calibrate")
def calibrate_(
    measured: Path,
    /,
    *,
    device: str,
    host: str = "",
    source: Path | None = None,
    where: str = "",
    sample: int = 0,
    seed: int = 0,
    workers: int = 1,
    compiler: Literal["clang", "nvrtc"] = "clang",
    output: Path | None = None,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Compare a model with measured times, to see whether it ranks configurations as a GPU does.

    Parameters
    ----------
    measured
        A cache file of Kernel Tuner or a T4 file, plain or gzipped; or the folder of a run on a GPU, whose
        variants are then timed on the model.
    device
        The model to judge, such as sim:a100.
    host
        How a configuration is launched: a T1 file, or FILE.py with a gevolve.calibrate.Host. A run needs none.
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
    compiler
        clang, which gevolve brings along, or nvrtc, NVIDIA's own, which most measurements are of.
    output
        Write the comparison as a page of HTML to this file.

    """
    from gevolve.calibrate import plot  # noqa: PLC0415  (only this command needs it)
    from gevolve.calibrate.report import calibrate  # noqa: PLC0415  (only this command needs it)
    from gevolve.calibrate.runs import calibrate_run  # noqa: PLC0415  (only this command needs it)

    with plot.progress() as watch:
        if measured.is_dir():
            if host or source or where:
                raise OptionError(
                    "a run says itself what was measured: leave out --host, --source, --where"
                )
            found = calibrate_run(
                measured,
                device,
                sample=sample,
                seed=seed,
                workers=workers,
                trust=trust,
                watch=watch,
            )
        elif not host:
            raise OptionError("say how a configuration is launched: --host FILE.json or FILE.py")
        else:
            found = calibrate(
                measured,
                host,
                device,
                source=source,
                where=where,
                sample=sample,
                seed=seed,
                workers=workers,
                compiler=compiler,
                watch=watch,
            )
    if output:
        output.write_text(plot.page(found))
    _print(found, plot.render(found), json=json)


app.command(suite)


@app.command(name="devices")
def devices_() -> None:
    """List the devices that workloads can run on, and what to install for more."""
    from gevolve.device.registry import devices  # noqa: PLC0415  (no other command needs all devices)
    from gevolve.system.confine import enforced  # noqa: PLC0415

    for name, line in devices():
        print(printable(f"{name:14} {line}"))
    # Beside the list, which programs may read.
    limits = ", ".join(enforced()) or "none: this kernel has neither Landlock nor seccomp"
    print(f"limits of a process that runs variants here: {limits}", file=sys.stderr)


@app.command(name="gpu")
def gpu_(
    *command: Annotated[str, Parameter(allow_leading_hyphen=True, show_default=False)],
    device: str = "a100",
    report: Path | None = None,
) -> None:
    """Run a CUDA program on a virtual GPU, with a sanitizer: no NVIDIA driver, no card.

    The program finds a libcuda.so.1 of gevolve's. When it has ended, stderr tells its launches, the
    time and cost of each kernel, and every access out of bounds, race and read of memory that
    nothing has written. The exit status is the program's; if that is 0 and anything was found, 1.

    Parameters
    ----------
    command
        The program and its arguments, after a --.
    device
        The GPU that it is given, such as a100 or t4: `gevolve devices` names them.
    report
        Write all that was found to this file, as JSON.

    """
    from gevolve.device.virtual.command import run  # noqa: PLC0415  (the simulator loads when it is needed)

    status, sessions = run(command, device)
    if report:
        report.write_bytes(msgspec.json.encode(sessions))
    SafeConsole(stderr=True).print(usage(sessions))
    sys.exit(status or int(any(one.findings for one in sessions)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; errors are one line on stderr and exit code 2."""
    try:
        app(arguments, exit_on_error=False, print_error=False)
    except (GevolveError, CycloptsError) as error:
        print(f"gevolve: {printable(str(error))}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("gevolve: interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
