"""GPU kernels in LLVM-IR as a `Program`: load once, then apply patch after patch to it."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING

from gevolve.ir.llvm.codegen import terse
from gevolve.ir.llvm.draft import Draft
from gevolve.ir.llvm.edits import KINDS, Skipped, apply_edit
from gevolve.ir.llvm.index import Index
from gevolve.ir.llvm.locations import Locations
from gevolve.ir.llvm.model import Function, Instr, Module
from gevolve.ir.llvm.parse import parse
from gevolve.ir.llvm.sites import Sites
from gevolve.ir.llvm.themes import Drafted, contrast
from gevolve.ir.llvm.verified import verify
from gevolve.patch import Edit, Patch
from gevolve.program import Change, Profile, Variant

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np


class LlvmProgram:
    """A module of GPU kernels, with ids for all that edits can name."""

    def __init__(self, text: str, kernels: Sequence[str] = ()) -> None:
        """Take a module as LLVM prints it; edits stay within these kernels and what they call."""
        self._module: Module = parse(terse(text))
        self._index = Index(self._module)
        names = [function.name for function in self._index.functions]
        roots = (
            [names.index(kernel) for kernel in kernels]
            if kernels
            else [
                number for number, function in enumerate(self._index.functions) if function.kernel
            ]
        )
        self._scope = sorted(set[int]().union(*(self._index.called[root] for root in roots)))
        self.text = self._print(Draft(self._index))
        self.digest = hashlib.sha256(self.text.encode()).hexdigest()
        self._sites: tuple[Profile | None, Sites] | None = None

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(KINDS)

    @cached_property
    def locations(self) -> Locations:
        return Locations(self._module)

    @property
    def size(self) -> int:
        """How many instructions there are in the functions that edits may touch."""
        return sum(
            len(block.body) for n in self._scope for block in self._index.functions[n].blocks
        )

    def propose(self, kind: str, rng: np.random.Generator, profile: Profile | None) -> Edit | None:
        if self._sites is None or self._sites[0] is not profile:
            self._sites = (profile, Sites(self._index, self._scope, profile))
        args = KINDS[kind].draw(self._index, self._sites[1], rng)
        seed = int(rng.integers(1, 1 << 32))
        return None if args is None else Edit(kind, args, seed)

    def apply(self, patch: Patch) -> Variant:
        draft, skipped = self._draft(patch)
        return Variant(patch, self._print(draft), tuple(skipped))

    def _draft(self, patch: Patch) -> tuple[Draft, list[tuple[int, str]]]:
        draft = Draft(self._index)
        skipped: list[tuple[int, str]] = []
        for position, edit in enumerate(patch):
            try:
                apply_edit(draft, edit)
            except Skipped as why:
                skipped.append((position, str(why)))
        return draft, skipped

    def verify(self, text: str) -> str | None:
        return verify(text)

    def marked(self) -> str:
        def mark(block: str, lines: list[Instr]) -> str:
            at = next(i for i, instr in enumerate(lines) if instr.opcode != "phi")
            texts = [instr.text for instr in lines]
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
        )

    def describe(self, edit: Edit) -> str:
        kind = KINDS.get(edit.kind)
        if kind is None or len(edit.args) != kind.arity:
            return str(edit)
        return kind.sentence.format(*map(self._shown, edit.args))

    def contrast(self, before: Patch, after: Patch) -> Change | None:
        drafts = [self._draft(patch)[0] for patch in (before, after)]
        old, new = (Drafted(draft, self._print(draft)) for draft in drafts)
        return contrast(self._index, self.locations, old, new)

    def _shown(self, arg: str) -> str:
        """What an argument of an edit stands for."""
        instr = self._index.instr.get(arg)
        return arg if instr is None else f"{arg} `{_brief(instr)}`{self._place(instr)}"

    def _place(self, instr: Instr) -> str:
        """The source line of an instruction; of one that has none, of what it is computed for."""
        if line := self.locations.of(instr):
            return f" ({line})"
        seen, front = {instr.id}, [instr.id]
        while front:
            users = (user for id_ in front for user in self._index.users.get(id_, ()))
            front = list(dict.fromkeys(user for user in users if user not in seen))
            seen.update(front)
            for user in front:
                if line := self.locations.of(self._index.instr[user]):
                    return f" (for {line})"
        return ""

    def _print(self, draft: Draft) -> str:
        def body(block: str) -> str:
            if block not in draft.touched:
                return self._index.text[block]
            instrs = (draft.get(id_) for id_ in draft.body(block))
            return "\n".join(instr.text for instr in instrs if instr is not None)

        return self._join(lambda function: [body(block.id) for block in function.blocks])

    def _join(self, bodies: Callable[[Function], list[str]]) -> str:
        """The whole module, with these texts for the blocks of each function."""
        pieces: list[str] = []
        for chunk in self._module.chunks:
            if not isinstance(chunk, Function):
                pieces.append(chunk)
                continue
            pieces.append(chunk.header)
            for block, text in zip(chunk.blocks, bodies(chunk), strict=True):
                pieces += (f"{block.id}:", text)
            pieces.append("}")
        return "\n".join(pieces) + "\n"


def _brief(instr: Instr) -> str:
    """An instruction without its metadata and attributes."""
    return instr.text.strip().split(", !")[0]
