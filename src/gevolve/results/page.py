"""A measurement as one HTML page that opens offline."""

from typing import Any

import msgspec

from gevolve.report.html.page import render
from gevolve.results.published import WORKLOADS
from gevolve.results.table import Table
from gevolve.results.view import note


def page(table: Table) -> str:
    """The page of a table."""
    data = page_data(table)
    return render(f"gevolve: {len(data['workloads'])} workloads", data)


def page_data(table: Table) -> dict[str, Any]:
    """What the page shows."""
    tolerances = sorted({one.tolerance for one in table.outcomes if one.time})
    published = (*table.paper.values(), *WORKLOADS.values())
    return {
        "kind": "suite",
        "parts": msgspec.to_builtins(table.parts),
        "paper": msgspec.to_builtins(table.paper),
        "workloads": list(dict.fromkeys(row.workload for part in table.parts for row in part.rows)),
        "unfinished": table.unfinished,
        "tolerance": ", ".join(f"{100 * one:g} %" for one in tolerances) or "the tolerance",
        "note": note(table),
        "sources": list(dict.fromkeys(one.source for one in published)),
    }
