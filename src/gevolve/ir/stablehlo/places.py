"""Source lines of a program's operations, kept as comments below its text.

MLIR has locations of its own, but printed they are longer than the program, and they tell which
folder it was traced in. As comments they survive in the text of a run and cost a variant nothing:

    // model.py:12 = o3 o4 o7
"""

from collections.abc import Mapping

_SIGN, _IS = "// ", " = "


def to_comments(places: Mapping[str, str]) -> str:
    """One line for each place, with all ids that belong to it."""
    ids: dict[str, list[str]] = {}
    for id_, place in places.items():
        ids.setdefault(" ".join(place.split()), []).append(id_)
    return "".join(f"{_SIGN}{place}{_IS}{' '.join(found)}\n" for place, found in ids.items())


def from_comments(text: str) -> dict[str, str]:
    """The place of each id, as the comments at the end of a text say."""
    places: dict[str, str] = {}
    for line in reversed(text.splitlines()):
        if not line.startswith(_SIGN):
            break
        place, _, ids = line.removeprefix(_SIGN).rpartition(_IS)
        places.update(dict.fromkeys(ids.split(), place))
    return dict(sorted(places.items(), key=lambda item: (item[0][0], _number(item[0]))))


def _number(id_: str) -> tuple[int, ...]:
    return tuple(int(part) for part in id_[1:].split(".") if part.isdecimal())
