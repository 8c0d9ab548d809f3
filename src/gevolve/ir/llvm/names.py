"""Names of kernels: what a person writes (`gemm<16>`) and what the IR has (`_Z4gemmILi16EEvPfi`).

Clang mangles names by the Itanium C++ ABI. Only as much of it is read here as names a function:
namespaces, the identifier and template arguments; parameter types are left alone. What cannot be
read this way is shown as it is.
"""

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from gevolve.errors import SourceError

_BUILTIN = {
    "v": "void", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char",
    "s": "short", "t": "unsigned short", "i": "int", "j": "unsigned int", "l": "long",
    "m": "unsigned long", "x": "long long", "y": "unsigned long long", "f": "float",
    "d": "double", "w": "wchar_t", "Dh": "half", "DF16_": "_Float16", "Dn": "nullptr_t",
}  # fmt: skip
_SUFFIX = {"P": "*", "R": "&", "O": "&&", "K": " const", "V": " volatile"}
_LITERAL_SUFFIX = {"j": "u", "l": "l", "m": "ul", "x": "ll", "y": "ull"}
_STANDARD = {"St": "std", "Sa": "std::allocator", "Ss": "std::string"}


def demangle(name: str) -> str:
    """The name of a function with its namespaces and template arguments, but no parameters."""
    try:
        return _Reader(name).function() if name.startswith("_Z") else name
    except (IndexError, ValueError):
        return name


def resolve(symbols: Sequence[str], name: str, what: str = "kernel") -> str:
    """The one symbol that is meant by `name`: mangled, `gemm`, `gemm<16>` or `space::gemm`."""
    if name in symbols:
        return name
    readable = {symbol: demangle(symbol) for symbol in symbols}
    wanted = _compact(name)
    for shorten in (_compact, _without_scope, _without_arguments, _identifier):
        found = [symbol for symbol, full in readable.items() if shorten(full) == wanted]
        if len(found) == 1:
            return found[0]
        if found:
            choices = ", ".join(f"{readable[symbol]} ({symbol})" for symbol in found)
            raise SourceError(f"{what} name {name!r} fits several; use one of: {choices}")
    return _absent(name, what, sorted(set(readable.values())))


def _absent(name: str, what: str, readable: list[str]) -> str:
    near = difflib.get_close_matches(name, readable, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    there = ", ".join(readable) or "none"
    raise SourceError(f"no {what} {name!r}; the program has {there}{hint}")


def _compact(name: str) -> str:
    return name.replace(" ", "")


def _without_arguments(name: str) -> str:
    return _compact(re.sub(r"<.*>$", "", name))


def _without_scope(name: str) -> str:
    base, bracket, arguments = name.partition("<")
    return _compact(base.rpartition("::")[2] + bracket + arguments)


def _identifier(name: str) -> str:
    return _without_scope(_without_arguments(name))


@dataclass
class _Reader:
    """Reads a mangled name from left to right, with the table of what it may refer back to."""

    text: str
    at: int = 2

    def __post_init__(self) -> None:
        self.seen: list[str] = []

    def function(self) -> str:
        self.skip("L")  # internal linkage
        if self.skip("N"):
            return self.nested()
        name = ("std::" if self.skip("St") else "") + self.identifier()
        if self.peek("I"):
            self.seen.append(name)
            name += self.arguments()
        return name

    def nested(self) -> str:
        while self.text[self.at] in "KVrRO":
            self.at += 1
        name = ""
        while not self.skip("E"):
            if self.peek("I"):
                name += self.arguments()
            elif self.peek("S"):
                name = self.reference()
                continue
            else:
                self.skip("L")
                name += ("::" if name else "") + self.identifier()
            if not self.peek("E"):
                self.seen.append(name)
        return name

    def identifier(self) -> str:
        digits = re.compile(r"\d+").match(self.text, self.at)
        if digits is None:
            raise ValueError(self.text)
        start, length = digits.end(), int(digits[0])
        name = self.text[start : start + length]
        if len(name) != length:
            raise ValueError(self.text)
        self.at = start + length
        if name.startswith("_GLOBAL__N"):
            return "(anonymous namespace)"
        return name

    def arguments(self) -> str:
        self.expect("I")
        return f"<{self.list_until_end()}>"

    def list_until_end(self) -> str:
        found: list[str] = []
        while not self.skip("E"):
            found.append(self.argument())
        return ", ".join(part for part in found if part)

    def argument(self) -> str:
        if self.skip("J"):
            return self.list_until_end()
        if self.skip("L"):
            return self.literal()
        return self.type()

    def literal(self) -> str:
        if self.skip("_Z"):
            inner = _Reader(self.text, self.at)
            name = inner.function()
            self.at = self.text.index("E", inner.at) + 1
            return name
        kind = self.type()
        end = self.text.index("E", self.at)
        value = self.text[self.at : end].replace("n", "-", 1)
        self.at = end + 1
        if kind == "bool":
            return "true" if value == "1" else "false"
        if kind == "int":
            return value
        for code, suffix in _LITERAL_SUFFIX.items():
            if _BUILTIN[code] == kind:
                return value + suffix
        return f"({kind}){value}"

    def type(self) -> str:
        for code in sorted(_BUILTIN, key=len, reverse=True):
            if self.skip(code):
                return _BUILTIN[code]
        if self.text[self.at] in _SUFFIX:
            self.at += 1
            suffix = _SUFFIX[self.text[self.at - 1]]
            made = self.type() + suffix
        elif self.peek("S") and not self.peek("St"):
            made = self.reference()
            if not self.peek("I"):
                return made
            made += self.arguments()
        elif self.skip("N"):
            made = self.nested()
        else:
            made = ("std::" if self.skip("St") else "") + self.identifier()
            if self.peek("I"):
                self.seen.append(made)
                made += self.arguments()
        self.seen.append(made)
        return made

    def reference(self) -> str:
        for code, name in _STANDARD.items():
            if self.skip(code):
                return name
        self.expect("S")
        end = self.text.index("_", self.at)
        digits = self.text[self.at : end]
        self.at = end + 1
        return self.seen[int(digits, 36) + 1 if digits else 0]

    def peek(self, prefix: str) -> bool:
        return self.text.startswith(prefix, self.at)

    def skip(self, prefix: str) -> bool:
        if not self.peek(prefix):
            return False
        self.at += len(prefix)
        return True

    def expect(self, prefix: str) -> None:
        if not self.skip(prefix):
            raise ValueError(self.text)
