"""Where a program's operations come from, kept as comments below its text.

The origin of an operation is its source line; that of an argument is the name that JAX gave it. MLIR
has locations of its own, but printed they are longer than the program, and they tell which folder it
was traced in. As comments they survive in the text of a run and cost a variant nothing:

    // model.py:12 = o3 o4 o7
"""

from collections.abc import Mapping

_SIGN, _IS = "// ", " = "


def origins_to_comments(origins: Mapping[str, str]) -> str:
    """One comment for each origin, with all ids that have it."""
    ids: dict[str, list[str]] = {}
    for id_, origin in origins.items():
        ids.setdefault(" ".join(origin.split()), []).append(id_)
    return "".join(f"{_SIGN}{origin}{_IS}{' '.join(found)}\n" for origin, found in ids.items())


def origins_from_comments(text: str) -> dict[str, str]:
    """The origin of each id, read from the comments at the end of a text."""
    origins: dict[str, str] = {}
    for line in reversed(text.splitlines()):
        if not line.startswith(_SIGN):
            break
        origin, _, ids = line.removeprefix(_SIGN).rpartition(_IS)
        origins.update(dict.fromkeys(ids.split(), origin))
    return dict(sorted(origins.items(), key=lambda item: (item[0][0], _number(item[0]))))


def _number(id_: str) -> tuple[int, ...]:
    return tuple(int(part) for part in id_[1:].split(".") if part.isdecimal())
