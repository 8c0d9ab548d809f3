"""What several commands have in common: their arguments, and how they print."""

from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter
from rich.console import RenderableType

from gevolve.system.console import SafeConsole
from gevolve.system.text import escaped

Folder = Annotated[Path, Parameter(help="The run's folder.", show_default=False)]
Json = Annotated[bool, Parameter(negative="", help="Print JSON on stdout, and nothing else there.")]
Trust = Annotated[
    bool,
    Parameter(
        negative="", help="Run the workload that the run names, though someone else began it."
    ),
]
Workers = Annotated[int | None, Parameter(help="Processes that judge variants.")]


def print_found(found: object, view: RenderableType, *, json: bool) -> None:
    """Print what a command found: as JSON, or as people read it."""
    if json:
        print(escaped(msgspec.json.encode(found).decode()))
    else:
        SafeConsole().print(view)
