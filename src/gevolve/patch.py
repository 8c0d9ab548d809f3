"""Edits and patches: the genome of the search, as plain data with a text form.

An edit names what to change by ids, and carries the seed of every choice that its repair makes. So
the same patch gives the same variant on any machine. Nothing here knows an IR: what an edit *does*,
and whether it has the fields that it needs, is for the edit kind to say (`gevolve.ir.edit_kind`).

>>> p = Patch.parse("copy i3 i17 #5f3a; delete i9 #1")
>>> Patch.parse(str(p)) == p
True
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Self, overload

from gevolve.errors import PatchError

MOST = 10_000
"""Edits in a patch; a search of many days comes to a thousand."""
PLAIN = 1
"""The seed of an edit whose repair has nothing to choose."""
_EDIT = re.compile(r"([a-z-]+)((?: [^\s;#]+)*) #([0-9a-f]+)")
_WORD = re.compile(r"[^\s;#]+")
_PLACE = re.compile(r"([a-z]+)(\d+)")


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """One change: the name of its kind, the words of its fields, the seed of its repair choices."""

    kind: str
    args: tuple[str, ...]
    seed: int

    def __str__(self) -> str:
        return " ".join((self.kind, *self.args, f"#{self.seed:x}"))

    @property
    def action(self) -> str:
        """What it does, wherever it does it: its kind, and those of its words that are no ids."""
        return " ".join((self.kind, *(word for word in self.args if not _PLACE.fullmatch(word))))

    @property
    def form(self) -> str:
        """Its kind, and those of its words that say how rather than where or how much: ``hoist branch``."""
        return " ".join((self.kind, *filter(str.isalpha, self.args)))

    def distance(self, other: "Edit") -> float:
        """How far apart the nearest ids of two edits are; ids are numbered in the order of the program."""
        gaps = (
            abs(mine - its)
            for letters, mine in _places(self.args)
            for others, its in _places(other.args)
            if letters == others
        )
        return min(gaps, default=math.inf)

    @classmethod
    @lru_cache(maxsize=1 << 16)  # the variants of a run share most of their edits
    def parse(cls, text: str) -> Self:
        match = _EDIT.fullmatch(text.strip())
        if match is None:
            raise PatchError(f"not an edit: {text.strip()!r}; expected e.g. 'copy i3 i17 #5f3a'")
        kind, args, seed = match.groups()
        return cls(kind, tuple(_WORD.findall(args)), int(seed, 16))


@lru_cache(maxsize=1 << 16)
def _places(args: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """The ids among the words of an edit: letters and number of each."""
    found = filter(None, map(_PLACE.fullmatch, args))
    return tuple((match[1], int(match[2])) for match in found)


def is_word(text: str) -> bool:
    """Whether a patch can hold this text as one field of an edit."""
    return _WORD.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Patch:
    """An ordered tuple of edits."""

    edits: tuple[Edit, ...] = ()

    def __str__(self) -> str:
        return "; ".join(map(str, self.edits))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the text form; newlines separate edits as well as semicolons do."""
        parts = text.replace("\n", ";").split(";")
        if len(parts) > MOST:
            raise PatchError(f"a patch of {len(parts)} edits; at most {MOST} are applied")
        return cls(tuple([Edit.parse(part) for part in parts if part and not part.isspace()]))

    def __len__(self) -> int:
        return len(self.edits)

    def __iter__(self) -> Iterator[Edit]:
        return iter(self.edits)

    @overload
    def __getitem__(self, index: int) -> Edit: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> "Edit | Patch":
        if isinstance(index, slice):
            return type(self)(self.edits[index])
        return self.edits[index]

    def __add__(self, other: "Patch") -> Self:
        return type(self)(self.edits + other.edits)
