"""Reads PTX text into the tree of `ptx`, one compiled expression a statement."""

import re
from math import prod

from gevolve.device.sim.operands import NAME, initial_values, modifiers, operand
from gevolve.device.sim.ptx import (
    SIZES,
    Address,
    Float,
    Function,
    Group,
    Instruction,
    Label,
    Line,
    Module,
    Not,
    Operand,
    Pair,
    Prototype,
    Reloc,
    Variable,
    Vector,
)
from gevolve.errors import CompileError, UnsupportedError

_NOISE = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/|\.section\s+[.\w]+\s*\{[^}]*\}', re.DOTALL
)
_STATEMENT = re.compile(
    rf"""\s*(?:
    \.loc\s+(?P<file>\d+)\s+(?P<line>\d+)[^\n]*
    |(?P<open>\{{)|(?P<close>\}})
    |(?P<label>{NAME})\s*:(?!:)
    |(?:@(?P<not>!?)\s*(?P<guard>{NAME})\s+)?(?P<op>[a-z]\w*)(?P<mods>(?:\.|::)[\w.:]*)?(?P<args>[^;]*);
    |\.(?P<directive>\w+)(?P<rest>[^;]*);
    |;
    )""",
    re.VERBOSE,
)
_FILE = re.compile(r'\s*\.file\s+(\d+)\s+"([^"]*)"[^\n]*')
_HEADER = re.compile(r"\s*\.(?:version|target|address_size)[^\n]*")
_FUNCTION = re.compile(
    rf"\s*(?P<linkage>(?:\.(?:visible|extern|weak|common)\s+)*)\.(?P<kind>entry|func)\b\s*"
    rf"(?:\.attribute\([^)]*\)\s*)?(?:\((?P<returns>[^)]*)\)\s*)?"
    rf"(?P<name>{NAME})\s*(?:\((?P<params>[^)]*)\))?(?P<directives>[^{{;]*)(?P<end>[{{;])"
)
_ALIAS = re.compile(rf"\s*\.alias\s+({NAME})\s*,\s*({NAME})\s*;")
_DECLARATION = re.compile(r"\s*(\.[^;]*);")
_QUALIFIER = re.compile(r"\.(\w+)(?:\s*\([^)]*\))?(?:\s+(\d+)(?=\s))?")
_DECLARATOR = re.compile(rf"\s*({NAME})\s*(?:<(\d+)>)?((?:\s*\[\s*\w*\s*\])*)\s*(=)?\s*")
_ARGUMENT = re.compile(r"\s*(\{[^}]*\}|\[[^\]]*\](?:\s*\+?)?|\([^)]*\)|[^,{\[(]+)\s*(?:,|$)")
_DIMENSION = re.compile(r"\[\s*(\w*)\s*\]")
_LIMIT = re.compile(r"\.(maxntid|reqntid|reqnctapercluster|maxclusterrank)\s+([\d,\s]+)")
_SPACES = frozenset({"global", "const", "shared", "local", "param", "reg", "tex"})
_OPAQUE = frozenset({"texref", "samplerref", "surfref"})


def parse(text: str) -> Module:
    """Read a PTX module; `CompileError` names the first line that is not PTX."""
    return _Parser(_NOISE.sub(_denoise, text)).module()


def _denoise(match: re.Match[str]) -> str:
    found = match[0]
    return found if found[0] == '"' else "\n" * found.count("\n") or " "


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.functions: dict[str, Function] = {}
        self.variables: dict[str, Variable] = {}
        self.files: dict[int, str] = {}
        self.aliases: dict[str, str] = {}

    def module(self) -> Module:
        end = len(self.text.rstrip())
        while self.at < end:
            if match := _HEADER.match(self.text, self.at) or _FILE.match(self.text, self.at):
                if match.re is _FILE:
                    self.files[int(match[1])] = match[2]
            elif match := _FUNCTION.match(self.text, self.at):
                self.at = match.end()
                self._function(match)
                continue
            elif match := _ALIAS.match(self.text, self.at):
                self.aliases[match[1]] = match[2]
            elif match := _DECLARATION.match(self.text, self.at):
                for variable in self.declare(match[1]):
                    self.variables[variable.name] = variable
            else:
                raise self.error()
            self.at = match.end()
        return Module(self.functions, self.variables, self.files, self.aliases)

    def error(self) -> CompileError:
        """What to raise where the text is not PTX."""
        rest = self.text[self.at :].lstrip()
        line = self.text.count("\n", 0, len(self.text) - len(rest)) + 1
        rest = rest.partition("\n")[0].rstrip()[:60]
        return CompileError(f"PTX line {line}: cannot read {rest!r}")

    def _function(self, match: re.Match[str]) -> None:
        name = match["name"]
        entry = match["kind"] == "entry"
        signature = (name, entry, self.params(match["returns"]), self.params(match["params"]))
        if match["end"] == ";":
            self.functions.setdefault(name, Function(*signature))
            return
        limits = {
            key: tuple(int(n) for n in values.split(",") if n.strip())
            for key, values in _LIMIT.findall(match["directives"])
        }
        body = _Body(self)
        body.read()
        self.functions[name] = Function(
            *signature,
            tuple(body.code),
            body.registers,
            tuple(body.variables),
            body.tables,
            body.prototypes,
            limits,
        )

    def params(self, text: str | None) -> tuple[Variable, ...]:
        if not text or not text.strip():
            return ()
        return tuple(v for part in text.split(",") for v in self.declare(part))

    def declare(self, text: str) -> list[Variable]:
        """The variables of one declaration, such as ``.shared .align 4 .b8 tile[1024]``."""
        text = text.strip()
        at, space, kind, align, vector, extern, ptr = 0, "", "", 0, 1, False, False
        while match := _QUALIFIER.match(text, at):
            word, value = match.groups()
            at = match.end()
            while at < len(text) and text[at].isspace():
                at += 1
            if word in _SPACES:
                # ".ptr .global" in a parameter speaks of what is pointed to
                space = space if ptr else word
            elif word == "align":
                align = align if ptr else int(value)
            elif word in SIZES:
                kind = word
            elif word in {"v2", "v4"}:
                vector = int(word[1])
            elif word == "extern":
                extern = True
            elif word == "ptr":
                ptr = True
            elif word in _OPAQUE:
                raise UnsupportedError(f"sim cannot run textures and surfaces (.{word})")
            elif word == "pragma":
                return []
        if not kind:
            if not text.lstrip().startswith("."):
                raise self.error()
            return []
        found: list[Variable] = []
        while at < len(text) and (match := _DECLARATOR.match(text, at)):
            name, many, dimensions, equals = match.groups()
            at = match.end()
            sizes = _DIMENSION.findall(dimensions)
            counts = [int(size, 0) if size else 0 for size in sizes]
            init: tuple[int | Float | Reloc, ...] = ()
            if equals:
                end = text.find("}", at) if text[at] == "{" else text.find(",", at)
                while text[at] == "{" and text.count("{", at, end) > text.count("}", at, end) + 1:
                    end = text.find("}", end + 1)
                end = len(text) if end < 0 else end
                init = initial_values(text[at:end], byte=SIZES[kind] == 1)
                at = end + 1
            if counts and not counts[0] and init:
                counts[0] = -(-len(init) // (prod(counts[1:]) * vector))
            shape = (space, kind, prod(counts) * vector, align or SIZES[kind] * vector)
            names = [name] if many is None else [f"{name}{i}" for i in range(int(many))]
            found += [Variable(one, *shape, init, not counts, extern) for one in names]
            while at < len(text) and (text[at].isspace() or text[at] in ",}"):
                at += 1
        return found


class _Body:
    """The statements of one function, its nested scopes flattened by renaming."""

    def __init__(self, parser: _Parser) -> None:
        self.parser = parser
        self.code: list[Instruction | Label] = []
        self.registers: dict[str, str] = {}
        self.variables: list[Variable] = []
        self.tables: dict[str, tuple[str, ...]] = {}
        self.prototypes: dict[str, Prototype] = {}
        self.renames: list[dict[str, str]] = []
        self.scopes = 0

    def read(self) -> None:
        text, at = self.parser.text, self.parser.at
        match_at, code = _STATEMENT.match, self.code
        line: Line | None = None
        label = ""
        while True:
            match = match_at(text, at)
            if match is None:
                self.parser.at = at
                raise self.parser.error()
            at = match.end()
            kind = match.lastgroup
            if kind == "args":
                op, mods, args = match.group("op", "mods", "args")
                guard = match["guard"]
                operands = tuple(map(operand, _ARGUMENT.findall(args))) if args.strip() else ()
                if self.renames:
                    operands = tuple(map(self._rename, operands))
                    guard = self._name(guard) if guard else guard
                code.append(
                    Instruction(op, modifiers(mods), operands, guard, match["not"] == "!", line)
                )
            elif kind == "line":
                line = Line(int(match["file"]), int(match["line"]))
            elif kind == "label":
                label = match["label"]
                code.append(Label(label))
            elif kind == "rest":
                self._directive(match["directive"], match["rest"], label)
            elif kind == "open":
                self.renames.append({})
            elif kind == "close":
                if not self.renames:
                    break
                self.renames.pop()
        self.parser.at = at

    def _directive(self, word: str, rest: str, label: str) -> None:
        if word == "reg":
            for variable in self.parser.declare(f".reg {rest}"):
                self.registers[self._declared(variable.name)] = variable.type
        elif word == "branchtargets":
            self.tables[label] = tuple(part.strip() for part in rest.split(","))
        elif word == "callprototype":
            match = re.match(r"\s*(?:\(([^)]*)\))?\s*_\s*(?:\(([^)]*)\))?", rest)
            assert match is not None
            self.prototypes[label] = Prototype(
                self.parser.params(match[1]), self.parser.params(match[2])
            )
        elif word in {"local", "shared", "param", "global", "const"}:
            for variable in self.parser.declare(f".{word} {rest}"):
                self.variables.append(variable._replace(name=self._declared(variable.name)))

    def _declared(self, name: str) -> str:
        """The flat name of something declared here: its own unless a nested scope hides another."""
        if not self.renames:
            return name
        self.scopes += 1
        flat = f"{name}.{self.scopes}"
        self.renames[-1][name] = flat
        return flat

    def _name(self, name: str) -> str:
        for scope in reversed(self.renames):
            if name in scope:
                return scope[name]
        return name

    def _rename(self, operand: Operand) -> Operand:
        match operand:
            case str():
                return self._name(operand)
            case Address(base, offset) if base is not None:
                return Address(self._name(base), offset)
            case Not(name):
                return Not(self._name(name))
            case Pair(first, second):
                return Pair(self._name(first), self._name(second))
            case Group(names):
                return Group(tuple(map(self._name, names)))
            case Vector(parts):
                return Vector(tuple(self._name(x) if isinstance(x, str) else x for x in parts))
            case Float() | Address() | int():
                return operand
