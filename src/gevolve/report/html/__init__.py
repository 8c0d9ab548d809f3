"""A run as one HTML file that opens offline, or several runs side by side.

    write_report([Path("runs/smooth")])

What the page knows is worked out here; what it looks like is in ``report/assets``.
"""

from gevolve.report.html.build import write_report

__all__ = ["write_report"]
