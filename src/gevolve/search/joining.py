"""How patches are joined: what belongs together, and what is worth its error."""

from collections.abc import Iterable

from gevolve.patch import Edit, Patch

MOST_TOGETHER = 32
"""So many edits of a group are added at once."""
_LEAST = 1e-12
"""What loses nothing at all comes before anything that does."""


def form_of(patch: Patch) -> str:
    """The form of a patch's edits, for forms of one kind pay differently; bundles of a form are one of their own."""
    return patch[0].form if len(patch) == 1 else f"{len(patch)} {patch[0].form}"


def joined(*patches: Patch) -> Patch:
    """The edits of all patches, each once."""
    edits: dict[Edit, None] = {}
    for patch in patches:
        edits |= dict.fromkeys(patch)
    return Patch(tuple(edits))


def grouped(patches: Iterable[Patch]) -> list[Patch]:
    """All single edits that do the same at different places in one patch."""
    groups: dict[str, list[Patch]] = {}
    for patch in patches:
        groups.setdefault(patch[0].action, []).append(patch)
    return [joined(*group[:MOST_TOGETHER]) for group in groups.values()]


def price(saved: float, lost: float, luck: float) -> float:
    """The error that a patch costs for the time that it saves, less for what goes first: minus time for error.

    Errors are samples. Two that differ by no more than `luck` may come in any order, so that it is added to each.
    """
    return -saved / max(max(0.0, lost) + luck, _LEAST)
