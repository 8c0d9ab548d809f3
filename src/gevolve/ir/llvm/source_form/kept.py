"""How a value that is kept in a register is written in CUDA C++: a variable beside an element of an array."""

import re
from collections.abc import Iterable, Sequence

from gevolve.ir.edit_kind import Skipped
from gevolve.ir.llvm.addresses import is_access, value_type
from gevolve.ir.llvm.model import Instr
from gevolve.ir.llvm.source_form.draft import SourceDraft
from gevolve.ir.llvm.source_form.early import unfolded
from gevolve.ir.llvm.source_form.forms import element
from gevolve.ir.llvm.source_form.scan import (
    Span,
    opening,
    postfix_start,
    statement,
    statement_start,
    trimmed,
)

_UPDATE = re.compile(r"([-+*/%&|^]|<<|>>)=")
_ASSIGN = re.compile(r"=(?!=)")
_HEAD = re.compile(r"\b(if|for|while|switch|catch)\s*$")
_TYPE = r"((?:(?:unsigned|signed|long|short|int|char|bool|float|double)\s+)*(?:unsigned|long|short|int|char|bool|float|double|size_t|\w+_t))"
_PLAIN = {"float": "float", "double": "double"}
"""What values are called that have one name only."""


def kept(
    source: SourceDraft, noted: Sequence[Instr], later: Sequence[Instr], *, every: bool
) -> str:
    """What some accesses of an address load or store is kept in a variable, which others take instead of loading.

    `every` says that these are all its accesses, so that the variable has its value after the first.
    """
    _require_alone(source, [*noted, *later])
    text, kind = _text(source, later[0]), _type(source, later[0])
    body = _function(source.code, source.place(later[0].id))
    if any(_function(source.code, source.place(one.id)) != body for one in (*noted, *later)):
        raise Skipped("its accesses are in several functions of the source")
    if not every:
        _require_unwritten(source, noted[0], later)
    name = _variable(source, [*noted, *later])
    if _rewrite(source, noted, later, name, every=every):
        source.changes.declare(body + 1, f"{kind} {name};")
    first = source.line(source.place(noted[0].id))
    return f"keep `{text}` of {first} in a variable, and do not load it again ({_lines(source, later)})"


def kept_in_loop(source: SourceDraft, accesses: Sequence[Instr], first: Instr, latch: str) -> str:
    """What a loop loads and stores at one address is in a variable, which is loaded above the loop."""
    _require_alone(source, accesses)
    start, span = statement_start(source.code, source.place(latch)), _element(source, first)
    if span[0] < start:
        raise Skipped("the loop is not above it in the source")
    above = unfolded(source.text[slice(*span)], source.code[start : span[0]])
    text, kind, name = _text(source, first), _type(source, first), _variable(source, accesses)
    noted = [one for one in accesses if one.opcode == "store"]
    later = [one for one in accesses if one.opcode == "load"]
    if _rewrite(source, noted, later, name, every=True):
        source.changes.above(start, f"{kind} {name} = {above};")
    return f"keep `{text}` in a variable while the loop of {source.line(start)} runs"


def _variable(source: SourceDraft, accesses: Iterable[Instr]) -> str:
    """The variable for what some accesses work on: one that other edits have made for them, or a new one."""
    places = (source.place(one.id) for one in accesses)
    known = {source.kept[at][0] for at in places if at in source.kept}
    if len(known) > 1:
        raise Skipped("two edits keep it in different variables")
    return known.pop() if known else source.changes.new_name("kept")


def _rewrite(
    source: SourceDraft, noted: Sequence[Instr], later: Sequence[Instr], name: str, *, every: bool
) -> bool:
    """Let stores and the noted loads set the variable, and the later loads be it; whether it is a new one."""
    taken = {source.place(one.id) for one in later}
    loads = {source.place(one.id) for one in noted if one.opcode == "load"}
    places = {source.place(one.id): one for one in (*noted, *later)}
    if any(source.kept.get(at, (name, True)) != (name, True) for at in taken):
        raise Skipped("another edit keeps it otherwise")
    new = all(known != name for known, _ in source.kept.values())
    for at, one in places.items():
        if at in source.kept:
            continue
        span = _element(source, one)
        if update := _UPDATE.match(source.code, at):
            _, end = statement(source.code, at)
            known = at in taken or (every and at not in loads)
            before = name if known else source.text[slice(*span)]
            source.changes.replace(update.span(), f"= {name} = {before} {update[1]}")
            source.changes.wrap(trimmed(source.code, (update.end(), end - 1)), "(", ")")
        elif assign := _ASSIGN.match(source.code, at):
            source.changes.replace((assign.end(), assign.end()), f" {name} =")
        elif at in taken:
            for same in _same(source, span):
                source.changes.replace(same, name)
        else:
            source.changes.wrap(span, f"({name} = ", ")")
        source.kept[at] = (name, at in taken)
    return new


def _require_unwritten(source: SourceDraft, noted: Instr, later: Iterable[Instr]) -> None:
    """Of two loads that the compiler made one, the place of one is known: the other may come after a store."""
    begin = _element(source, noted)[1]
    if _UPDATE.match(source.code, source.place(noted.id)) or noted.opcode == "store":
        begin = statement(source.code, begin)[1]
    element = re.escape(source.code[slice(*_element(source, noted))])
    for one in later:
        between = source.code[begin : _element(source, one)[0]]
        if re.search(rf"{element}\s*(([-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)", between):
            raise Skipped("it is written in between in the source")


def _text(source: SourceDraft, access: Instr) -> str:
    return " ".join(source.text[slice(*_element(source, access))].split())


def _element(source: SourceDraft, access: Instr) -> Span:
    """The element that an access works on."""
    at = source.place(access.id)
    if not (_UPDATE.match(source.code, at) or _ASSIGN.match(source.code, at)):
        return element(source, access.id)
    end = trimmed(source.code, (0, at))[1]
    start = postfix_start(source.code, end)
    while member := re.search(r"(\.|->)\s*$", source.code[:start]):
        start = postfix_start(source.code, member.start())
    if statement(source.code, at)[0] != start:
        raise Skipped("what is stored is no plain statement")
    return start, end


def _same(source: SourceDraft, span: Span) -> list[Span]:
    """An element, and the same one elsewhere in its statement, of which the compiler has made one load."""
    text = source.text[slice(*span)]
    try:
        start, end = statement(source.code, span[0])
    except Skipped:
        return [span]
    places = re.finditer(
        rf"(?<![\w.>]){re.escape(text)}(?!\s*[\[.(]|\s*[-+*/%&|^]?=(?!=))", source.text[start:end]
    )
    spans = [(start + found.start(), start + found.end()) for found in places]
    return spans if span in spans else [span]


def _require_alone(source: SourceDraft, accesses: Sequence[Instr]) -> None:
    """An access of the source may be several of the program, of which an edit changes some."""
    places = {source.place(one.id) for one in accesses}
    own = {one.id for one in accesses} | source.edited
    for other in source.index.instr.values():
        if is_access(other) and other.id not in own:
            try:
                at = source.place(other.id)
            except Skipped:
                continue
            if at in places:
                raise Skipped("its access stands for several of the program")


def _type(source: SourceDraft, access: Instr) -> str:
    """The type of an element, as its array is declared."""
    start, end = _element(source, access)
    if value_type(access) in _PLAIN:
        return _PLAIN[value_type(access)]
    name = re.match(r"\w+", source.code[start:end])
    if name is None or not source.code[start:end].endswith("]"):
        raise Skipped("the type of its element is not plain")
    declared = list(
        re.finditer(
            rf"\b{_TYPE}\s*(?:\*\s*)?(?:__restrict__\s+|const\s+)?{name[0]}\s*[\[,);]",
            source.code[:start],
        )
    )
    if not declared:
        raise Skipped("its array is not declared plainly")
    return " ".join(declared[-1][1].split())


def _function(code: str, at: int) -> int:
    """The brace that opens the body of the function that an offset is in."""
    found, place = -1, at
    while place > 0:
        mark = code[place - 1]
        if mark in ")]}":
            place = opening(code, place - 1)
            continue
        place -= 1
        if mark == "{":
            end = trimmed(code, (0, place))[1]
            if end and code[end - 1] == ")" and not _HEAD.search(code[: opening(code, end - 1)]):
                found = place
    if found < 0:
        raise Skipped("it is in no plain function")
    return found


def _lines(source: SourceDraft, accesses: Iterable[Instr]) -> str:
    lines = sorted({source.place(one.id) for one in accesses})
    return ", ".join(dict.fromkeys(source.line(at) for at in lines))
