"""A program of GPU kernels in LLVM-IR."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING

from gevolve.ir.edit_kind import Skipped
from gevolve.ir.editable import EditableProgram
from gevolve.ir.llvm import nowrap
from gevolve.ir.llvm.arguments import names_of
from gevolve.ir.llvm.codegen import terse
from gevolve.ir.llvm.difference import DraftedVariant, describe_difference
from gevolve.ir.llvm.draft import LlvmDraft
from gevolve.ir.llvm.edit_kind import LlvmEdit
from gevolve.ir.llvm.edits import EDIT_KINDS
from gevolve.ir.llvm.index import LlvmIndex
from gevolve.ir.llvm.locations import Location, Locations
from gevolve.ir.llvm.model import Block, Instr, LlvmFunction, LlvmModule
from gevolve.ir.llvm.names import demangle
from gevolve.ir.llvm.parse import parse
from gevolve.ir.llvm.reround import functions, rerounded, rounds_in_memory
from gevolve.ir.llvm.sites import LlvmSites
from gevolve.ir.llvm.source_form import SourceDraft, SourceForm
from gevolve.ir.llvm.verifier import verify
from gevolve.ir.llvm.words import noun
from gevolve.program import Change, Profile, Variant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gevolve.patch import Patch


class LlvmProgram(EditableProgram[LlvmSites, LlvmDraft]):
    """A module of GPU kernels, with ids for all that edits can name."""

    edit_kinds = EDIT_KINDS

    def __init__(self, text: str, kernels: Sequence[str] = ()) -> None:
        """Take a module as LLVM prints it; edits stay within these kernels and what they call."""
        self._module: LlvmModule = parse(terse(text))
        self._index = LlvmIndex(self._module)
        names = [function.name for function in self._index.functions]
        roots = (
            [names.index(kernel) for kernel in kernels]
            if kernels
            else [
                number for number, function in enumerate(self._index.functions) if function.kernel
            ]
        )
        self._scope = sorted(set[int]().union(*(self._index.reachable[root] for root in roots)))
        self.text = self._print(LlvmDraft(self._index))
        self.digest = hashlib.sha256(self.text.encode()).hexdigest()
        self._sites: tuple[Profile | None, LlvmSites] | None = None

    @cached_property
    def _arguments(self) -> dict[str, list[str]]:
        """The names that the arguments of functions have in the source."""
        return names_of(chunk for chunk in self._module.chunks if isinstance(chunk, str))

    @cached_property
    def locations(self) -> Locations:
        return Locations(self._module)

    @property
    def size(self) -> int:
        """How many instructions there are in the functions that edits may touch."""
        return sum(
            len(block.body) for n in self._scope for block in self._index.functions[n].blocks
        )

    def sites(self, profile: Profile | None) -> LlvmSites:
        if self._sites is None or self._sites[0] is not profile:
            sites = LlvmSites(self._index, self._scope, profile, self._lines)
            self._sites = (profile, sites)
        return self._sites[1]

    def apply(self, patch: Patch) -> Variant:
        draft = LlvmDraft(self._index)
        skipped = self.apply_edits(draft, patch)
        return Variant(patch, self._print(draft), skipped)

    def verify(self, text: str) -> str | None:
        return verify(text)

    def instrumented(self) -> str:
        watched = {id_: self._index.instr[id_] for id_ in nowrap.watched(self._index)}

        def mark(block: str, lines: list[Instr]) -> str:
            at = next(i for i, instr in enumerate(lines) if instr.opcode != "phi")
            texts = [
                "\n".join([instr.text, *(nowrap.watch(instr) if instr.id in watched else ())])
                for instr in lines
            ]
            texts.insert(at, f'  call void asm sideeffect "gevolve.mark {block};", ""()')
            return "\n".join(texts)

        scope = {self._index.functions[number].name for number in self._scope}
        return self._join(
            lambda function: [
                mark(block.id, list(block.body))
                if function.name in scope
                else self._index.text[block.id]
                for block in function.blocks
            ]
        ) + nowrap.watchers(watched.values())

    def rerounded(self, seed: int) -> str:
        def body(block: Block) -> str:
            return "\n".join(line for instr in block.body for line in rerounded(instr, seed))

        text = self._join(lambda function: [body(block) for block in function.blocks])
        if text == self.text and not any(map(rounds_in_memory, self._index.instr.values())):
            return text
        return text + functions(text)

    def difference(self, before: Patch, after: Patch) -> Change | None:
        old, new = (self._drafted(patch) for patch in (before, after))
        return describe_difference(self._index, self.locations, old, new)

    def source_form(self, patch: Patch, source: str, file: str) -> SourceForm:
        """The patch written into the source that the program was compiled from, as far as it can be."""
        edited = frozenset(word for edit in patch for word in edit.args)
        draft = SourceDraft(source, file, self._index, self.locations, edited)
        words: list[str] = []
        left: list[str] = []
        for edit in patch:
            read = self.edit_kinds.read(edit)
            assert isinstance(read, LlvmEdit)
            try:
                words.append(draft.attempt(read.rewrite))
            except Skipped as why:
                left.append(f"{self.describe(edit).sentence}: {why}")
        return SourceForm(source, file, draft.result(), draft.diff(), tuple(words), tuple(left))

    def _drafted(self, patch: Patch) -> DraftedVariant:
        draft = LlvmDraft(self._index)
        self.apply_edits(draft, patch)
        return DraftedVariant(draft, self._print(draft))

    def show(self, id_: str) -> tuple[str, str]:
        instr = self._index.instr.get(id_)
        if instr is None:
            return self._show_other(id_)
        line, relation = self._line(instr)
        if not line:
            return f"{id_} `{_without_metadata(instr)}`", line
        block = self._index.block_of[id_]
        dominance = self._index.dominance[self._index.function_of[block]]
        loop = any(dominance.dominates(head, block) for head in instr.blocks)
        words = noun(instr, self._index.instr.get, self._argument, loop=loop)
        return f"the {words} ({relation}{line})", line

    def _argument(self, id_: str) -> str:
        """The name that an argument has in the source; empty if that is not known."""
        function = (
            self._index.functions[self._index.function_of[id_]]
            if id_ in self._index.arg_type
            else None
        )
        if function is None:
            return ""
        names = self._arguments.get(function.name, ())
        number = [name for name, _ in function.args].index(id_)
        return names[number] if number < len(names) else ""

    def _show_other(self, id_: str) -> tuple[str, str]:
        """What an argument or a block stands for: the user knows its function, not its id."""
        owner = self._index.function_of.get(id_)
        if owner is None:
            return id_, ""
        function = self._index.functions[owner]
        spot = self.locations.function(function.header)
        line = str(Location(*spot[:2])) if spot else ""
        names = [name for name, _ in function.args]
        if id_ in names:
            known = self._argument(id_)
            words = f"`{known}`" if known else f"argument {names.index(id_) + 1}"
            return f"{words} of {demangle(function.name)}{f' ({line})' if line else ''}", line
        return (demangle(function.name) if id_ == function.blocks[0].id else id_), line

    def _line(self, instr: Instr) -> tuple[str, str]:
        """The source line of an instruction and how it stands to it.

        What the compiler has made or merged has none: then it is the line that it is "for", of what uses it, or
        "from", of what it uses.
        """
        if line := self.locations.of(instr):
            return str(line), ""
        users = self._nearest_line(instr.id, lambda id_: self._index.users.get(id_, ()))
        return (users, "for ") if users else (self._nearest_line(instr.id, self._used), "from ")

    def _used(self, id_: str) -> list[str]:
        """The instructions whose results an instruction uses."""
        found = (operand.local for operand in self._index.instr[id_].operands)
        return [one for one in found if one in self._index.instr]

    def _nearest_line(self, id_: str, following: Callable[[str], Iterable[str]]) -> str:
        seen, front = {id_}, [id_]
        while front:
            found = (one for id_ in front for one in following(id_))
            front = list(dict.fromkeys(one for one in found if one not in seen))
            seen.update(front)
            for one in front:
                if line := self.locations.of(self._index.instr[one]):
                    return str(line)
        return ""

    def _lines(self, instr: Instr) -> list[str]:
        """The source lines of an instruction: where it was written, and the calls that inlined it."""
        return [str(Location(file, line)) for file, line, _ in self.locations.spots(instr)]

    def _print(self, draft: LlvmDraft) -> str:
        def body(block: str) -> str:
            if block not in draft.touched:
                return self._index.text[block]
            instrs = (draft.get(id_) for id_ in draft.body(block))
            return "\n".join(instr.text for instr in instrs if instr is not None)

        return self._join(lambda function: [body(block.id) for block in function.blocks], draft)

    def _join(
        self, bodies: Callable[[LlvmFunction], list[str]], draft: LlvmDraft | None = None
    ) -> str:
        """The whole module, with these texts for the blocks of each function."""
        pieces: list[str] = []
        number = 0
        for chunk in self._module.chunks:
            if not isinstance(chunk, LlvmFunction):
                pieces.append(chunk)
                continue
            pieces.append(chunk.header if draft is None else draft.header(number))
            number += 1
            for block, text in zip(chunk.blocks, bodies(chunk), strict=True):
                pieces += (f"{block.id}:", text)
            pieces.append("}")
        pieces += draft.additions if draft else ()
        return "\n".join(pieces) + "\n"


def _without_metadata(instr: Instr) -> str:
    return instr.text.strip().split(", !")[0]
