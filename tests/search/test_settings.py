"""Which edit kinds a search draws."""

import pytest

from gevolve.errors import OptionError
from gevolve.search import Settings

KNOWN = ("copy", "delete", "swap")


@pytest.mark.parametrize(
    ("edits", "drawn"),
    [
        ((), KNOWN),
        (("swap", "copy"), ("copy", "swap")),
        (("-swap",), ("copy", "delete")),
        (("copy", "delete", "-delete"), ("copy",)),
    ],
)
def test_edits_switch_kinds_on_and_off(edits, drawn):
    assert Settings(edits=edits).drawn_kinds(KNOWN) == drawn


def test_unknown_kinds_are_named():
    with pytest.raises(
        OptionError, match="edits has bend, fold; the program knows copy, delete, swap"
    ):
        Settings(edits=("bend", "-fold")).drawn_kinds(KNOWN)
    with pytest.raises(OptionError, match="leaves no edit kind"):
        Settings(edits=("copy", "-copy")).drawn_kinds(KNOWN)


@pytest.mark.parametrize(
    ("tolerance", "rounding", "edits", "drawn"),
    [
        (0.0, 0.0, (), ("copy", "move")),
        (0.01, 0.02, (), ("copy", "move")),
        (0.01, 0.0, (), ("copy", "move", "skip")),
        (0.0, 0.0, ("skip",), ("skip",)),
        (0.01, 0.0, ("-skip",), ("copy", "move")),
    ],
)
def test_approximations_need_a_tolerance(tolerance, rounding, edits, drawn):
    settings = Settings(tolerance=tolerance, rounding=rounding, edits=edits)
    assert settings.drawn_kinds(("copy", "move", "skip"), loose=("skip",)) == drawn
