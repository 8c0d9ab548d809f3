"""Write docs/reference/cli.md from the command line itself: its docstrings, options and defaults.

python scripts/cli_reference.py
"""

import inspect
import re
import types
import typing
from collections.abc import Iterator
from pathlib import Path

from cyclopts import App
from cyclopts.argument import Argument

from gevolve.cli import app

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "cli.md"
HEAD = """\
# The command line

<!-- Made by scripts/cli_reference.py from the docstrings of src/gevolve/cli: edit those, and run it. -->

What the commands print, their exit codes, the JSON summary and the verdicts: [output](output.md).
"""


def reference() -> str:
    """The page: a section for each command, in the order in which they are defined."""
    return "\n".join([HEAD, *sections(app)])


def sections(group: App, path: str = "") -> Iterator[str]:
    """A section for each command of a group, and of the groups in it."""
    for name in group:
        if name.startswith("-"):
            continue
        command = group[name]
        if command.default_command is None:
            yield from sections(command, f"{path}{name} ")
        else:
            yield section(command, path + name)


def section(command: App, name: str) -> str:
    arguments = [
        one for one in command.assemble_argument_collection(parse_docstring=True) if one.show
    ]
    positional = [one for one in arguments if one.is_positional_only() or one.is_var_positional()]
    options = [one for one in arguments if one not in positional]
    usage = " ".join(
        [
            f"gevolve {name}",
            *(f"[{one.name} …]" if one.is_var_positional() else one.name for one in positional),
        ]
    )
    parts = [f"## `{usage}`", description(command.help)]
    if positional:
        parts.append("\n".join(f"- `{one.name}`: {text(one)}" for one in positional))
    if options:
        rows = [f"| {spelled(one)} | {text(one)} | {default(one)} |" for one in options]
        parts.append("\n".join(["| option | meaning | default |", "|---|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def description(docstring: str) -> str:
    """A docstring as far as its parameters."""
    return inspect.cleandoc(docstring).partition("\n\nParameters\n")[0].strip()


def text(one: Argument) -> str:
    """What an argument means, on one line that fits a table."""
    words = re.sub(r"\s+", " ", str(one.parameter.help or "")).strip().replace("|", "\\|")
    choices = one.get_choices()
    return f"{words} One of {', '.join(f'`{choice}`' for choice in choices)}." if choices else words


def spelled(one: Argument) -> str:
    """An option as it is typed: with the kind of value that it takes, unless it is a flag."""
    return ", ".join(f"`{name}{value(one)}`" for name in one.names)


def value(one: Argument) -> str:
    hint = kind(one.hint)
    if hint is bool:
        return ""
    names = {int: "N", float: "X", Path: "PATH"}
    return f" {names.get(hint, 'NAME' if one.get_choices() else 'TEXT')}"


def kind(hint: object) -> object:
    """The type of a hint such as `int | None` or `tuple[str, ...]`."""
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) in (typing.Union, tuple):
        return next(kind(arm) for arm in typing.get_args(hint) if arm not in (type(None), ...))
    return hint


def default(one: Argument) -> str:
    """A default, where there is one to tell."""
    if one.required:
        return "must be given"
    what = one.field_info.default
    if not one.show_default or what in (None, "", ()) or (what is False and not one.negatives):
        return ""
    return f"`{one.names[0]}`" if what is True else f"`{what}`"


if __name__ == "__main__":
    PAGE.write_text(reference())
    print(PAGE)
