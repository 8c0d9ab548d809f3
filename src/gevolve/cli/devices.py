"""``gevolve devices`` and ``gevolve gpu``: what programs can run on."""

import sys
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter

from gevolve.system.console import SafeConsole
from gevolve.system.text import printable


def devices_() -> None:
    """List the devices that workloads can run on, and what to install for more."""
    from gevolve.device.registry import devices  # noqa: PLC0415  (no other command needs all devices)
    from gevolve.system.confine import enforced  # noqa: PLC0415

    for name, line in devices():
        print(printable(f"{name:14} {line}"))
    # Beside the list, which programs may read.
    limits = ", ".join(enforced()) or "none: this kernel has neither Landlock nor seccomp"
    print(f"limits of a process that runs variants here: {limits}", file=sys.stderr)


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
    from gevolve.report.gpu import usage  # noqa: PLC0415

    status, sessions = run(command, device)
    if report:
        report.write_bytes(msgspec.json.encode(sessions))
    SafeConsole(stderr=True).print(usage(sessions))
    sys.exit(status or int(any(one.findings for one in sessions)))
