"""``gevolve calibrate``: how well a model ranks."""

# ruff: noqa: D417  (what several commands have in common is described once, by its type)

from pathlib import Path
from typing import Literal

from gevolve.calibrate import plot
from gevolve.calibrate.report import calibrate
from gevolve.calibrate.runs import calibrate_run
from gevolve.cli.words import Json, Trust, print_found
from gevolve.errors import OptionError


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
    print_found(found, plot.render(found), json=json)
