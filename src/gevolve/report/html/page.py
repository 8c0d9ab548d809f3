"""One HTML file with everything in it: style, scripts and data, and nothing fetched from anywhere.

Names, kernel text and messages come from elsewhere and may hold anything. They are data in a block
that no browser runs, the scripts show them as text only, and the page's own policy allows no script
but those that came with gevolve.
"""

import base64
import hashlib
import html
import re
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

SCRIPTS = (
    *("core.js", "charts.js", "plane.js", "cloud.js", "front.js", "headline.js", "views.js"),
    *("change.js", "run.js", "compare.js", "suite.js", "main.js"),
)
"""In the order in which they build on each other."""
_ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E"
    "%3Cpath d='M4 5v22h24' fill='none' stroke='%2323816b' stroke-width='4'/%3E"
    "%3Cpath d='M9 8v7h7v6h11' fill='none' stroke='%23e0a030' stroke-width='4'/%3E%3C/svg%3E"
)
_UNSAFE = re.compile("[<>&\u0080-\U0010ffff]")


def embed(data: object) -> str:
    """JSON that is safe inside a script element, in ASCII."""
    return _UNSAFE.sub(_escape, msgspec.json.encode(data).decode())


def _escape(match: re.Match[str]) -> str:
    """A character as JSON escapes it: of the higher ones, both halves."""
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))


@cache
def _asset(name: str) -> str:
    return (files("gevolve.report") / "assets" / name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    return "(() => {\n'use strict';\n" + "\n".join(map(_asset, SCRIPTS)) + "\n})();\n"


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def policy(*, live: bool) -> str:
    """What the page may do: its own style and script, and if it is live, ask its server for more."""
    server = "'self'" if live else "'none'"
    return (
        f"default-src 'none'; script-src 'sha256-{_digest(_script())}'; "
        f"style-src 'sha256-{_digest(_asset('report.css'))}'; img-src data:; "
        f"connect-src {server}; base-uri 'none'; form-action 'none'"
    )


def render(title: str, data: dict[str, Any], *, live: bool = False) -> str:
    """The page that shows this data."""
    fill = {
        "title": html.escape(title),
        "policy": html.escape(policy(live=live)),
        "icon": html.escape(_ICON),
        "style": _asset("report.css"),
        "data": embed(data),
        "script": _script(),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: fill[match[1]], _asset("page.html"))
