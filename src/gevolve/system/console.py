"""The one way to a terminal: what is printed may come from a file that a stranger wrote.

Text that a view composes has a few tags for colors. Whatever else looks like a tag is text, and no
character reaches the terminal that it would obey (see `gevolve.system.text`).
"""

import re
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from gevolve.system.text import printable

_TAG = re.compile(r"\[(?!/?\]|(?:(?:bold|dim) ?)?(?:green|red|yellow|magenta|cyan)?\])")


class SafeConsole(Console):
    """A console that prints any text, and obeys none of it."""

    def __init__(self, *, stderr: bool = False, width: int | None = None) -> None:
        super().__init__(stderr=stderr, width=width, emoji=False, highlight=False)

    def render_str(self, text: str, **options: Any) -> Text:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Text in which only our own tags mean anything."""
        return super().render_str(_TAG.sub(r"\\[", text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Pieces of text, with what is not safe to print replaced."""
        for segment in super().render(renderable, options):
            if segment.control or (segment.text.isascii() and segment.text.isprintable()):
                yield segment
            else:
                yield Segment(printable(segment.text), segment.style)
