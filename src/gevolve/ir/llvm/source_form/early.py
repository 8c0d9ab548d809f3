"""How a load that is done earlier is written in CUDA C++: its value gets a name above a condition or a loop."""

import re

from gevolve.ir.edit_kind import Skipped
from gevolve.ir.llvm.source_form.draft import SourceDraft
from gevolve.ir.llvm.source_form.forms import element
from gevolve.ir.llvm.source_form.scan import Span, statement, statement_start, trimmed

_WORD = re.compile(r"(?<![.\w])(?<!->)[A-Za-z_]\w*(?!\s*(?:::|\w))")
_UPDATE = re.compile(r"([-+*/%&|^]|<<|>>)=")
_EFFECT = re.compile(r"\+\+|--|(?<![=<>!])=(?!=)")
_DEEP = 8
"""So often names are replaced by what they stand for."""


def above(source: SourceDraft, load: str, branch: str) -> str:
    """An element is read above the condition or the loop that a branch belongs to."""
    start = statement_start(source.code, source.place(branch))
    updated = _UPDATE.match(source.code, source.place(load))
    span = _updated(source, updated) if updated else element(source, load)
    between = source.code[start : span[0]]
    if start >= span[0] or _leaves(between):
        raise Skipped("the branch is not above it in the source")
    text = source.text[slice(*span)]
    early = unfolded(text, between)
    if updated is None:
        source.changes.compute_early(span, start, "" if early == text else early)
    else:
        name = source.changes.new_name()
        _, end = statement(source.code, updated.start())
        source.changes.replace(updated.span(), f"= {name} {updated[1]}")
        source.changes.wrap(trimmed(source.code, (updated.end(), end - 1)), "(", ")")
        source.changes.above(start, f"const auto {name} = {early};")
    return f"read `{' '.join(early.split())}` early, above {source.line(start)}"


def _updated(source: SourceDraft, operator: re.Match[str]) -> Span:
    """The element that an operator such as ``+=`` reads before it writes it."""
    end = trimmed(source.code, (0, operator.start()))[1]
    start, _ = statement(source.code, operator.start())
    if re.fullmatch(r"\w+(\[[^;{}]*\])+", source.code[start:end]) is None:
        raise Skipped("the load is no plain element of an array")
    return start, end


def _leaves(code: str) -> bool:
    """Whether a block that is open at the start of a stretch is closed in it."""
    deep = 0
    for mark in code:
        deep += (mark == "{") - (mark == "}")
        if deep < 0:
            return True
    return False


def unfolded(text: str, between: str) -> str:
    """An expression with what a stretch of code defines written out; `Skipped` if that code changes it otherwise."""
    for _ in range(_DEEP):
        names = [name for name in dict.fromkeys(_WORD.findall(text)) if _changes(name, between)]
        if not names:
            return text
        for name in names:
            value = _definition(name, between)
            text = re.sub(rf"(?<![.\w])(?<!->){name}\b", lambda _, value=value: f"({value})", text)
    raise Skipped("its address is computed on the way")


def _changes(name: str, code: str) -> bool:
    step = rf"(\+\+|--)\s*{name}\b|\b{name}\s*(\+\+|--)"
    put = rf"\b{name}\s*([-+*/%&|^]|<<|>>)?=(?!=)"
    return re.search(f"{step}|{put}", code) is not None


def _definition(name: str, code: str) -> str:
    """What a name that is defined once, and not changed, stands for."""
    found = re.search(
        rf"\b(?:int|unsigned|long|short|size_t|float|double|auto|\w+_t)\s+{name}\s*=\s*([^;{{}}]+);",
        code,
    )
    if (
        found is None
        or "," in found[1]
        or _EFFECT.search(found[1])
        or _changes(name, code.replace(found[0], ""))
    ):
        raise Skipped(f"{name} changes on the way")
    return found[1].strip()
