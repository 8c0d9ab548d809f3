"""Changes to a text at places that are given by its own offsets, so that edits of one line go together."""

from dataclasses import dataclass, field

from gevolve.ir.edit_kind import Skipped
from gevolve.ir.llvm.source_form.scan import Span


@dataclass(frozen=True, slots=True)
class _Change:
    """Text before and after a stretch of the source; without `keeps`, in its place."""

    before: str
    after: str = ""
    keeps: bool = False


@dataclass(slots=True)
class Changes:
    """Changes of one text. Those of a stretch within another go along with it."""

    text: str
    _at: dict[Span, list[_Change]] = field(default_factory=dict[Span, list[_Change]])
    _above: dict[int, list[str]] = field(default_factory=dict[int, list[str]])
    """Lines to come above a statement, by its offset."""
    _early: dict[Span, tuple[int, str, str]] = field(
        default_factory=dict[Span, tuple[int, str, str]]
    )
    """Where an expression is computed above, by which name, and how; as it stands, if that is empty."""
    _names: int = 0

    def replace(self, span: Span, text: str) -> None:
        """Put other text in the place of a stretch; the same twice is once."""
        self._add(span, _Change(text))

    def wrap(self, span: Span, before: str, after: str) -> None:
        """Put text around a stretch."""
        self._add(span, _Change(before, after, keeps=True))

    def above(self, statement: int, line: str) -> None:
        """Put a line above the statement that begins at this offset."""
        lines = self._above.setdefault(statement, [])
        if line not in lines:
            lines.append(line)

    def declare(self, body: int, line: str) -> None:
        """Put a line at the start of a function's body."""
        self._add((body, body), _Change(f"\n    {line}"))

    def compute_early(self, span: Span, statement: int, text: str = "") -> None:
        """Compute an expression above a statement, as this text or as it stands, and use its value."""
        if span not in self._early:
            self._require_apart(span, keeps=not text)
            self._early[span] = (statement, self.new_name(), text)

    def new_name(self, stem: str = "early") -> str:
        """A name for a value, which the text does not have."""
        self._names += 1
        while f"{stem}{self._names}" in self.text:
            self._names += 1
        return f"{stem}{self._names}"

    def result(self) -> str:
        """The text with everything changed."""
        lines = {at: [*texts] for at, texts in self._above.items()}
        for span, (at, name, text) in sorted(self._early.items()):
            value = text or self._value(span, {})
            lines.setdefault(at, []).append(f"const auto {name} = {value};")
        for texts in lines.values():  # a pragma is about what follows it
            texts.sort(key=lambda line: line.startswith("#"))
        return self._stretch((0, len(self.text)), lines, inside=False)

    def _add(self, span: Span, change: _Change) -> None:
        if change in self._at.get(span, ()):
            return
        self._require_apart(span, keeps=change.keeps)
        self._at.setdefault(span, []).append(change)

    def _require_apart(self, span: Span, *, keeps: bool) -> None:
        """Refuse what cuts another change in two, or takes away what another changes."""
        others = [(other, all(one.keeps for one in made)) for other, made in self._at.items()]
        others += [(other, not text) for other, (_, _, text) in self._early.items()]
        for other, kept in others:
            if span[0] == span[1] and other[0] == other[1]:
                continue  # one comes after the other
            meet = other[0] < span[1] and span[0] < other[1]
            within = span[0] <= other[0] and other[1] <= span[1]
            around = other[0] <= span[0] and span[1] <= other[1]
            fine = (within and keeps) or (around and kept)
            if meet and not fine:
                raise Skipped("two edits change the same place of the source")

    def _stretch(self, span: Span, lines: dict[int, list[str]], *, inside: bool) -> str:
        """A stretch with the changes in it; with `inside`, as what it is changed to itself.

        What is put at its very start or end is no part of it then.
        """
        start, end = span
        places = [(at, 0, 0, (at, at)) for at in lines if start + inside <= at < end]
        for one in (*self._at, *self._early):
            empty = one[0] == one[1]
            within = start <= one[0] and one[1] <= end
            if within and not (inside and (one == span or (empty and one[0] in span))):
                places.append((one[0], 1 if empty else 2, -one[1], one))
        text, at = "", start
        for place, order, _, one in sorted(set(places)):
            if place < at:  # within what was changed as a whole
                continue
            text += self.text[at:place]
            text = (
                _with_lines(text, lines[place]) if order == 0 else text + self._changed(one, lines)
            )
            at = one[1]
        return text + self.text[at:end]

    def _changed(self, span: Span, lines: dict[int, list[str]]) -> str:
        """What a stretch becomes."""
        return self._early[span][1] if span in self._early else self._value(span, lines)

    def _value(self, span: Span, lines: dict[int, list[str]]) -> str:
        """What a stretch becomes where it stands."""
        text = self._stretch(span, lines, inside=True)
        if span[0] == span[1]:  # nothing is there to be replaced: one comes after the other
            return "".join(f"{one.before}{one.after}" for one in self._at[span])
        for one in self._at.get(span, ()):
            text = f"{one.before}{text if one.keeps else ''}{one.after}"
        return text


def _with_lines(before: str, lines: list[str]) -> str:
    """The text before a statement with lines above it, indented as it is."""
    line = before.rfind("\n") + 1
    indent = before[line:]
    if indent.strip():
        return before + "\n" + "".join(f"{text}\n" for text in lines)
    return before[:line] + "".join(f"{indent}{text}\n" for text in lines) + indent
