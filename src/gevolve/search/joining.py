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


def mixed(
    bases: Iterable[tuple[float, Patch]], others: Iterable[tuple[float, Patch]], most: int
) -> list[Patch]:
    """Each base with each of the others that does something else, all with their errors alone: at most so many, the best bets first."""
    known = sorted(others, key=lambda one: (one[0], str(one[1])))
    found: dict[frozenset[Edit], tuple[float, str, Patch]] = {}
    for error, base in bases:
        kinds = {edit.kind for edit in base}
        for other_error, other in known:
            if kinds.isdisjoint(edit.kind for edit in other):
                both = joined(base, other)
                bet = error + other_error, str(both), both
                found[frozenset(both)] = min(bet, found.get(frozenset(both), bet))
    return [both for *_, both in sorted(found.values())[:most]]


def starts(
    order: Iterable[tuple[float, float, Patch]], error: float, about: float, most: int
) -> list[tuple[float, float, Patch]]:
    """Of what has less than some error, the least error first: the best, and those of other forms that gain at least a part of that."""
    forms: dict[str, tuple[float, float, Patch]] = {}
    known = list(order)
    for one in known:
        if error - one[1] >= about * (error - known[0][1]):
            forms.setdefault(form_of(one[2]), one)
    return list(forms.values())[:most]


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
