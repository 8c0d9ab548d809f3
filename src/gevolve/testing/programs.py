"""What every `Program` must do, as a test suite: for authors of an IR or of edit kinds.

Subclass it in a test file and say where programs come from; pytest does the rest::

    class TestKernel(ProgramConformance):
        def load(self):
            return gevolve.ir.llvm.load("stencil.cu")

        def restore(self, text):
            return gevolve.ir.llvm.restore(text)

Edit kinds of installed packages are drawn as well, so the suite also tests those.
"""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from gevolve.errors import PatchError
from gevolve.patch import Edit, Patch
from gevolve.program import Program


class ProgramConformance:
    """The tests; a subclass defines `load` and `restore`."""

    __test__ = False
    proposals: ClassVar[int] = 6
    """How many edits of each kind are tried."""
    _loaded: ClassVar[Program]

    def __init_subclass__(cls) -> None:
        """Let pytest collect subclasses, unless one says `__test__ = False` as this class does."""
        cls.__test__ = cls.__dict__.get("__test__", True)

    def load(self) -> Program:
        """The program to test, fresh from its source."""
        raise NotImplementedError

    def restore(self, text: str) -> Program:
        """The program that `load` gave, from its text."""
        raise NotImplementedError

    @property
    def program(self) -> Program:
        """One program for all tests of a class: nothing may change it, and a test says so."""
        cls = type(self)
        if "_loaded" not in cls.__dict__:
            cls._loaded = self.load()
        return cls._loaded

    def test_loading_twice_gives_one_digest(self) -> None:
        again = self.load()
        assert again.digest == self.program.digest
        assert again.text == self.program.text
        assert len(bytes.fromhex(again.digest)) == 32

    def test_a_restored_program_is_the_same(self) -> None:
        again = self.restore(self.program.text)
        assert again.digest == self.program.digest
        assert again.text == self.program.text
        assert again.kinds == self.program.kinds

    def test_a_restored_program_has_the_same_ids(self) -> None:
        again = self.restore(self.program.text)
        assert list(_draw(again, self.proposals)) == list(_draw(self.program, self.proposals))
        patch = self._patch()
        assert again.apply(patch) == self.program.apply(patch)

    def test_the_unedited_program_is_valid(self) -> None:
        assert self.program.verify(self.program.text) is None
        assert self.program.verify(self.program.instrumented()) is None
        assert self.program.apply(Patch()).text == self.program.text

    def test_nonsense_is_rejected_in_one_line(self) -> None:
        why = self.program.verify("nonsense {")
        assert why
        assert "\n" not in why

    def test_kinds_are_names_and_some_edit_is_proposed(self) -> None:
        kinds = self.program.kinds
        assert kinds
        assert len({*kinds}) == len(kinds)
        assert list(_draw(self.program, self.proposals))

    def test_proposals_come_from_the_generator_alone(self) -> None:
        one, other = (list(_draw(self.program, self.proposals)) for _ in range(2))
        assert one == other
        assert all(edit.kind in self.program.kinds for edit in one)

    def test_patches_print_and_parse_back(self) -> None:
        patch = self._patch()
        assert Patch.parse(str(patch)) == patch

    def test_every_proposal_is_applied_and_valid(self) -> None:
        for edit in _draw(self.program, self.proposals):
            variant = self.program.apply(Patch((edit,)))
            assert variant.patch == Patch((edit,))
            assert variant.skipped == (), f"{edit} was proposed, but is skipped"
            assert self.program.verify(variant.text) is None, edit

    def test_apply_is_pure(self) -> None:
        before = self.program.text, self.program.digest
        patch = self._patch()
        first = self.program.apply(patch)
        self.program.apply(patch[: len(patch) // 2])
        assert self.program.apply(patch) == first
        assert (self.program.text, self.program.digest) == before
        assert self.program.apply(Patch()).text == before[0]

    def test_any_part_of_a_patch_in_any_order_is_valid(self) -> None:
        """Crossover cuts and joins patches: what an edit relied on may be gone."""
        patch = self._patch()
        for part in (patch[::2], patch[1::2], patch[::-1], patch + patch):
            variant = self.program.apply(part)
            assert self.program.verify(variant.text) is None, part
            positions = [position for position, _ in variant.skipped]
            assert positions == sorted({*positions})
            assert all(0 <= position < len(part) for position in positions)
            assert all(why and "\n" not in why for _, why in variant.skipped)

    def test_malformed_edits_are_patch_errors_in_one_line(self) -> None:
        good = next(_draw(self.program, self.proposals))
        for bad in (Edit("no-such-kind", (), 1), Edit(good.kind, (*good.args, "more"), good.seed)):
            message = self._refusal(Patch((good, bad)))
            assert str(bad) in message
            assert "\n" not in message

    def test_descriptions_are_one_line(self) -> None:
        for edit in _draw(self.program, self.proposals):
            change = self.program.describe(edit)
            assert change.sentence
            assert "\n" not in change.sentence
            assert all(line.rpartition(":")[2].isdecimal() for line in change.lines)
            assert change.line == (change.lines[0] if change.lines else "")

    def test_an_unknown_edit_is_described_by_its_text(self) -> None:
        edit = Edit("no-such-kind", ("i1",), 1)
        assert self.program.describe(edit).sentence == str(edit)

    def test_a_variant_does_not_differ_from_itself(self) -> None:
        patch = Patch((next(_draw(self.program, self.proposals)),))
        assert self.program.difference(Patch(), Patch()) is None
        assert self.program.difference(patch, patch) is None

    def _refusal(self, patch: Patch) -> str:
        """The message with which `apply` refuses a patch."""
        try:
            self.program.apply(patch)
        except PatchError as error:
            return str(error)
        raise AssertionError(f"'{patch}' is no patch of this program, but it was applied")

    def _patch(self) -> Patch:
        """A few edits of every kind, in mixed order."""
        edits = list(_draw(self.program, 2, seed=2))
        np.random.default_rng(3).shuffle(edits)  # pyright: ignore[reportArgumentType]  (lists can be shuffled)
        return Patch(tuple(edits))


def _draw(program: Program, count: int, seed: int = 1) -> Iterator[Edit]:
    """So many edits of each kind, fewer where the program offers fewer."""
    rng = np.random.default_rng(seed)
    for kind in program.kinds:
        for _ in range(count):
            edit = program.propose(kind, rng, None)
            if edit is not None:
                yield edit
