"""Shadows: which bits of a value depend on memory, or on a register, that nothing has written.

Beside each value that may have such bits the translator computes another, its shadow, with those bits
set. A shadow is exact for bits that are moved, masked or chosen, and for whole numbers that are compared;
a sum or a product has all bits from the lowest of such bits on; what is computed with floats has all or
none.
"""

import re
from collections.abc import Sequence

from gevolve.device.sim.translate.emit import Emitter

_WHOLE = {"float": "i32", "double": "i64", "ptr": "i64"}
"""The integer that holds the shadow of another type."""
_MOVERS = {"llvm.bitreverse": 1, "gevolve_prmt": 2, "gevolve_bfe": 1, "gevolve_bfi": 2}
"""Functions that move bits, and how many of their arguments hold those bits; the others say where to."""
_CALL = re.compile(r"(\w+) @([\w.]+)\((.*)\)")
_WAY = re.compile(r"\[ (.*?), (%[\w.]+) \]")


def whole(kind: str) -> str:
    """The integer type that is as wide as another type."""
    return _WHOLE.get(kind, kind)


def operands(text: str) -> list[tuple[str, str]]:
    """Operands, parted by commas outside brackets, as (type, value); without a type it is ""."""
    parts, depth, start = list[str](), 0, 0
    for at, letter in enumerate(f"{text},"):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth:
            parts.append(text[start:at].strip())
            start = at + 1
    return [_typed(part) for part in parts]


def _typed(operand: str) -> tuple[str, str]:
    kind, space, value = operand.partition(" ")
    if not space or kind == "bitcast":
        return "", operand
    return kind, value.removeprefix("zeroext ")


class ShadowedValues(Emitter):
    """Writes instructions and, after each, the shadow of the value that it gives."""

    shadows: dict[str, str]
    """The shadow of each value; one that has none is written in all its bits."""

    def raw(self, text: str) -> str:
        """An instruction that computes with shadows, and has none."""
        return super().op(text)

    def follow(self, name: str, text: str) -> None:
        """Give the value of an instruction its shadow."""
        first, _, rest = text.partition(" ")
        match first:
            case "bitcast":
                self._same(name, rest)
            case "icmp":
                self._compare(name, rest)
            case "fcmp":
                self._compare_floats(name, rest)
            case "select":
                self._select(name, rest)
            case "phi":
                self._merge(name, rest)
            case "call":
                self._call(name, rest)
            case "and" | "or":
                self._logic(name, first, rest)
            case "shl" | "lshr" | "ashr":
                self._shift(name, first, rest)
            case "add" | "sub" | "mul" | "xor":
                self._sum(name, first, rest)
            case "trunc" | "zext" | "sext":
                self._move(name, first, rest)
            case _:
                self._any(name, rest)

    def shadow(self, value: str) -> str:
        return self.shadows.get(value, "0")

    def give(self, name: str, shadow: str | None) -> None:
        if shadow is not None:
            self.shadows[name] = shadow

    def either(self, kind: str, *shadows: str | None) -> str | None:
        """The bits that one of some shadows has; None if none has any."""
        found: str | None = None
        for one in shadows:
            if one is not None:
                found = one if found is None else self.raw(f"or {kind} {found}, {one}")
        return found

    def some(self, *values: tuple[str, str]) -> str | None:
        """Whether the shadow of one of some values, (type, value), has a bit; None if none has one."""
        tests: list[str] = []
        for kind, value in values:
            shadow = self.shadows.get(value)
            if shadow is not None:
                tests.append(self.test(whole(kind), shadow))
        return self.either("i1", *tests)

    def test(self, kind: str, shadow: str) -> str:
        """Whether a shadow has a bit, as ``i1``."""
        return shadow if kind == "i1" else self.raw(f"icmp ne {kind} {shadow}, 0")

    def _every(self, kind: str, some: str | None) -> str | None:
        """All bits, where `some` is true."""
        return some if some is None or kind == "i1" else self.raw(f"sext i1 {some} to {kind}")

    # --- rules

    def _logic(self, name: str, first: str, text: str) -> None:
        """A bit that decides alone what the result's bit is makes the other not matter."""
        (kind, a), (_, b) = operands(text)
        one, two = self.shadows.get(a), self.shadows.get(b)
        found: list[str | None] = []
        for shadow, other in ((one, b), (two, a)):
            if shadow is not None:
                open_ = other if first == "and" else self.raw(f"xor {kind} {other}, -1")
                found.append(self.raw(f"and {kind} {shadow}, {open_}"))
        if one is not None and two is not None:
            found.append(self.raw(f"and {kind} {one}, {two}"))
        self.give(name, self.either(kind, *found))

    def _shift(self, name: str, first: str, text: str) -> None:
        (kind, a), (_, by) = operands(text)
        moved = self.raw(f"{first} {kind} {self.shadows[a]}, {by}") if a in self.shadows else None
        self.give(name, self.either(kind, moved, self._every(kind, self.some((kind, by)))))

    def _sum(self, name: str, first: str, text: str) -> None:
        (kind, a), (_, b) = operands(text)
        found = self.either(kind, self.shadows.get(a), self.shadows.get(b))
        if found is not None and first != "xor":  # what is carried goes up
            minus = self.raw(f"sub {kind} 0, {found}")
            found = self.raw(f"or {kind} {found}, {minus}")
        self.give(name, found)

    def _move(self, name: str, first: str, text: str) -> None:
        source, _, to = text.rpartition(" to ")
        kind, value = _typed(source)
        if value in self.shadows:
            self.give(name, self.raw(f"{first} {kind} {self.shadows[value]} to {to}"))

    def _same(self, name: str, text: str) -> None:
        """Of ``bitcast``: a shadow is a whole number whatever the value is."""
        _, value = _typed(text.rpartition(" to ")[0])
        self.give(name, self.shadows.get(value))

    def _any(self, name: str, text: str) -> None:
        """All bits, if one operand has one: of floats, divisions and conversions."""
        source, _, to = text.rpartition(" to ")
        converts = source and "(" not in source
        given = operands(source if converts else text)
        kind = given[0][0]
        some = self.some(*((kind, value) for _, value in given))
        self.give(name, self._every(whole(to if converts else kind), some))

    def _compare(self, name: str, text: str) -> None:
        """Known if it comes out the same whatever the bits in the shadows are."""
        test, _, rest = text.partition(" ")
        (kind, a), (_, b) = operands(rest)
        one, two = self.shadows.get(a), self.shadows.get(b)
        both = self.either(kind, one, two)
        if both is None:
            return
        if test in {"eq", "ne"}:
            apart, certain = self.raw(f"xor {kind} {a}, {b}"), self.raw(f"xor {kind} {both}, -1")
            known = self.raw(f"and {kind} {apart}, {certain}")
            alike = self.raw(f"icmp eq {kind} {known}, 0")
            self.give(name, self.raw(f"and i1 {alike}, {self.test(kind, both)}"))
            return
        if test[0] == "s":  # as of numbers without a sign, with the upper bit turned
            top = -(1 << (int(kind[1:]) - 1))
            a, b = (self.raw(f"xor {kind} {x}, {top}") for x in (a, b))
        (least_a, most_a), (least_b, most_b) = self._range(kind, a, one), self._range(kind, b, two)
        once = self.raw(f"icmp u{test[1:]} {kind} {least_a}, {most_b}")
        again = self.raw(f"icmp u{test[1:]} {kind} {most_a}, {least_b}")
        self.give(name, self.raw(f"xor i1 {once}, {again}"))

    def _range(self, kind: str, value: str, shadow: str | None) -> tuple[str, str]:
        """The least and the greatest number that a value may be."""
        if shadow is None:
            return value, value
        certain = self.raw(f"xor {kind} {shadow}, -1")
        return self.raw(f"and {kind} {value}, {certain}"), self.raw(f"or {kind} {value}, {shadow}")

    def _compare_floats(self, name: str, text: str) -> None:
        (kind, a), (_, b) = operands(text.partition(" ")[2])
        self.give(name, self.some((kind, a), (kind, b)))

    def _select(self, name: str, text: str) -> None:
        """The bits of what is chosen; where the choice is open, those in which the two differ."""
        (_, test), (kind, a), (_, b) = operands(text)
        t, found = whole(kind), None
        if a in self.shadows or b in self.shadows:
            found = self.raw(f"select i1 {test}, {t} {self.shadow(a)}, {t} {self.shadow(b)}")
        if test in self.shadows:
            apart = self.raw(f"xor {t} {self._bits(kind, a)}, {self._bits(kind, b)}")
            differ = self.either(t, apart, self.shadows.get(a), self.shadows.get(b))
            found = self.raw(f"select i1 {self.shadows[test]}, {t} {differ}, {t} {found or '0'}")
        self.give(name, found)

    def _bits(self, kind: str, value: str) -> str:
        return (
            value if kind == whole(kind) else self.raw(f"bitcast {kind} {value} to {whole(kind)}")
        )

    def _merge(self, name: str, text: str) -> None:
        """Of ``phi``: the shadow comes from where the value comes from."""
        kind, _, rest = text.partition(" ")
        ways = _WAY.findall(rest)
        if any(value in self.shadows for value, _ in ways):
            pairs = ", ".join(f"[ {self.shadow(value)}, {label} ]" for value, label in ways)
            self.give(name, self.raw(f"phi {whole(kind)} {pairs}"))

    def _call(self, name: str, text: str) -> None:
        found = _CALL.fullmatch(text)
        assert found is not None
        result, function, rest = found.groups()
        given = operands(rest)
        if result == "void":
            self.copied(function, given)
            return
        count = next((n for start, n in _MOVERS.items() if function.startswith(start)), 0)
        moved, rest = given[:count], given[count:]
        if any(value in self.shadows for _, value in moved):
            args = [*((kind, self.shadow(value)) for kind, value in moved), *rest]
            bits = self.raw(f"call {result} @{function}({', '.join(f'{k} {v}' for k, v in args)})")
            self.give(name, self.either(result, bits, self._every(result, self.some(*rest))))
            return
        self.give(name, self._every(whole(result), self.some(*given)))

    def copied(self, function: str, given: Sequence[tuple[str, str]]) -> None:
        """A function was called that copies memory: (type, value) of where to, from where, and more."""
        raise NotImplementedError
