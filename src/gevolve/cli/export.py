"""``gevolve export``: one variant as a file."""

# ruff: noqa: D417  (what several commands have in common is described once, by its type)

import sys
from pathlib import Path
from typing import Literal

from gevolve.cli.words import Folder, Trust
from gevolve.export.scripts import Loader
from gevolve.export.variant import export
from gevolve.run.run import Run
from gevolve.system.text import printable

Format = Literal["ptx", "cubin", "source", "ll", "mlir", "bytecode", "jax", "vmfb", "patch"]


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
