"""The command line: gevolve run, resume, show, validate, minimize, explain, export, report, watch and more.

A command is imported when it is asked for: to show a run need not wait for the simulator.
"""

import sys
from collections.abc import Sequence
from importlib.metadata import version

from cyclopts import App, CycloptsError

from gevolve.errors import GevolveError
from gevolve.system.text import printable

app = App(
    name="gevolve",
    help="Make GPU kernels and ML programs faster by evolving their IR, with evidence for every gain.",
    version=lambda: version("gevolve"),
    help_format="plaintext",
)
_COMMANDS = {
    "run": "gevolve.cli.search:run_",
    "resume": "gevolve.cli.search:resume_",
    "show": "gevolve.cli.show:show_",
    "validate": "gevolve.cli.analyze:validate_",
    "minimize": "gevolve.cli.analyze:minimize_",
    "explain": "gevolve.cli.analyze:explain_",
    "export": "gevolve.cli.export:export_",
    "report": "gevolve.cli.show:report_",
    "watch": "gevolve.cli.show:watch_",
    "calibrate": "gevolve.cli.calibrate:calibrate_",
    "suite": "gevolve.results.command:app",
    "devices": "gevolve.cli.devices:devices_",
    "gpu": "gevolve.cli.devices:gpu_",
}
for _name, _place in _COMMANDS.items():
    app.command(_place, name=_name)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; errors are one line on stderr and exit code 2."""
    asked = sys.argv[1:] if arguments is None else arguments
    if not asked or asked[0] not in _COMMANDS:
        app.resolved_commands()  # the list of all commands tells what each of them says of itself
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
