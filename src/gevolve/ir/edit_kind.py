"""The base of every edit kind, in any IR.

An edit kind is a frozen dataclass. Its fields are the words of an edit, in order, and their types say
how each word is read, checked and printed::

    @dataclass(frozen=True)
    class Scale(StablehloEdit):
        name = "scale"
        target: str
        power: int

==========================  =======================================
text of the edit            object
==========================  =======================================
``scale o3 -1 #5f3a``       ``Scale("o3", -1)``, applied with seed 0x5f3a
``scale o3 #5f3a``          `PatchError`: a field is missing
``scale o3 much #5f3a``     `PatchError`: ``power`` is no whole number
==========================  =======================================

A field is a ``str``, an ``int``, a ``float`` or a ``Literal`` of these. The seed is no field: all
choices that repair makes are drawn from it (see `gevolve.ir.seeded`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import (
    Any,
    ClassVar,
    Generic,
    Literal,
    Self,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from gevolve.errors import PatchError
from gevolve.patch import Edit, is_word

SitesT = TypeVar("SitesT")
DraftT = TypeVar("DraftT")

Show = Callable[[str], str]
"""Turns an id into words for people, such as ``i3 `fadd float %i1, %i2` (stencil.cu:12)``."""


class Skipped(Exception):  # noqa: N818  (an outcome, not an error: the rest of the patch is applied)
    """Raised by `EditKind.apply`: the edit does nothing here, and why."""


class EditKind(ABC, Generic[SitesT, DraftT]):
    """One edit of some kind: what it is about, and how edits of its kind are drawn and applied."""

    name: ClassVar[str]
    """The first word of the edit's text: lower-case letters and hyphens."""
    last: ClassVar[bool] = False
    """Whether it takes effect after all edits of other kinds, whatever its place in the patch."""

    of_paper: ClassVar[bool] = False
    """Whether the GEVO and GEVO-ML papers have it."""

    seeded: ClassVar[bool] = False
    """Whether its repair chooses anything by the seed; the edits of other kinds are all drawn with the same one."""

    loose: ClassVar[bool] = False
    """Whether it is an approximation, which is drawn only where errors beyond rounding are allowed."""

    @classmethod
    @abstractmethod
    def draw(cls, sites: SitesT, rng: np.random.Generator) -> Self | None:
        """Draw an edit of this kind; None if the program offers none."""

    @classmethod
    def sweep(cls, sites: SitesT) -> Iterable[Self]:
        """All edits of this kind that are worth trying one by one, the most promising first."""
        del sites
        return ()

    @classmethod
    def bundles(cls, sites: SitesT) -> Iterable[Iterable[Self]]:
        """Edits of this kind that are worth trying all at once, each such lot, the most promising first."""
        del sites
        return ()

    @abstractmethod
    def apply(self, draft: DraftT, seed: int) -> None:
        """Change the draft, and repair it; raise `Skipped` if the edit cannot be applied here.

        All checks come first: a draft that was changed before `Skipped` stays changed.
        """

    @abstractmethod
    def describe(self, show: Show) -> str:
        """Say in one line what the edit does; ``show(id)`` puts an id into words."""

    @classmethod
    def parse(cls, words: Sequence[str]) -> Self:
        """Read the fields; raises `PatchError` if their number or a type is wrong."""
        types = field_types(cls)
        if len(words) != len(types):
            names = " ".join(f"<{name}>" for name in types)
            raise PatchError(
                f"{cls.name} has {_count(len(words), 'field')}, not {len(types)}; "
                f"expected '{cls.name} {names} #<seed>'"
            )
        values = {
            name: kind.read(word, f"{cls.name}: {name}")
            for (name, kind), word in zip(types.items(), words, strict=True)
        }
        return cls(**values)

    def words(self) -> tuple[str, ...]:
        """The fields as text: `parse` reads them back."""
        found = tuple(str(getattr(self, name)) for name in field_types(type(self)))
        for word in found:
            if not is_word(word):
                raise PatchError(f"{self.name}: {word!r} is not one word; a patch cannot hold it")
        return found

    def edit(self, seed: int) -> Edit:
        """The edit as plain data, with the seed of its repair choices."""
        return Edit(self.name, self.words(), seed)


@dataclass(frozen=True, slots=True)
class FieldType:
    """How one field is read from a word."""

    convert: Callable[[str], Any]
    expected: str
    """What a word must be, for messages."""

    def read(self, word: str, where: str) -> Any:
        """The value of a word; raises `PatchError` unless it prints as that word again."""
        try:
            value = self.convert(word)
        except (KeyError, ValueError):
            value = None
        if value is None or str(value) != word:
            raise PatchError(f"{where} must be {self.expected}, not {word!r}")
        return value


_TYPES: Mapping[Any, FieldType] = {
    str: FieldType(str, "a word"),
    int: FieldType(int, "a whole number"),
    float: FieldType(float, "a number as Python prints it"),
}


@cache
def field_types(kind: type[EditKind[Any, Any]]) -> dict[str, FieldType]:
    """How each field of an edit kind is read, in order; raises TypeError for an unknown type."""
    hints = get_type_hints(kind)
    return {field.name: _field_type(field.name, hints[field.name]) for field in fields(kind)}  # pyright: ignore[reportArgumentType]  (every edit kind is a dataclass)


def _field_type(name: str, annotation: Any) -> FieldType:
    if get_origin(annotation) is Literal:
        choices = {str(choice): choice for choice in get_args(annotation)}
        return FieldType(choices.__getitem__, f"one of {', '.join(choices)}")
    if annotation not in _TYPES:
        raise TypeError(f"field {name!r} is {annotation}; it must be str, int, float or Literal")
    return _TYPES[annotation]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
