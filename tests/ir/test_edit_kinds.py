"""An edit kind is a frozen dataclass: its fields are parsed, checked and printed in one way."""

from dataclasses import dataclass
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gevolve.errors import PatchError
from gevolve.ir.edit_kind import EditKind, field_types
from gevolve.ir.llvm.edits import EDIT_KINDS
from gevolve.patch import Edit, is_word


@dataclass(frozen=True)
class Every(EditKind):
    name = "every"
    word: str
    number: int
    share: float
    choice: Literal["fast", "exact", 8]

    @classmethod
    def draw(cls, sites, rng):
        return cls("i0", 1, 0.5, "fast")

    def apply(self, draft, seed):
        pass

    def describe(self, show):
        return f"every {show(self.word)}"


@given(
    st.builds(
        Every,
        st.text(min_size=1).filter(is_word),
        st.integers(),
        st.floats(allow_nan=False),
        st.sampled_from(["fast", "exact", 8]),
    ),
    st.integers(0, 2**32),
)
def test_fields_print_and_parse_back(every, seed):
    edit = every.edit(seed)
    assert Edit.parse(str(edit)) == edit
    assert Every.parse(edit.args) == every


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("copy i1 #1", "'copy i1 #1': copy has 1 field, not 2; expected 'copy <source> <before> #<seed>'"),
        ("delete i1 i2 i3 #ff", "'delete i1 i2 i3 #ff': delete has 3 fields, not 1"),
        ("operand i1 one i2 #1", "'operand i1 one i2 #1': operand: number must be a whole number, not 'one'"),
        ("operand i1 01 i2 #1", "must be a whole number, not '01'"),
        ("operand i1 1.0 i2 #1", "must be a whole number, not '1.0'"),
        ("bend i1 #1", "'bend i1 #1': kernels have no edit kind 'bend'; use one of copy, delete, "),
    ],
)  # fmt: skip
def test_a_wrong_number_or_type_of_fields_is_one_line(text, message):
    with pytest.raises(PatchError) as error:
        EDIT_KINDS.read(Edit.parse(text))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_choices_are_checked():
    with pytest.raises(PatchError, match="choice must be one of fast, exact, 8, not 'slow'"):
        Every.parse(("i0", "1", "0.5", "slow"))
    assert Every.parse(("i0", "1", "0.5", "8")).choice == 8


def test_what_is_not_one_word_cannot_be_in_a_patch():
    with pytest.raises(PatchError, match="'i0 i1' is not one word"):
        Every("i0 i1", 1, 0.5, "fast").edit(1)


def test_a_field_of_another_type_is_refused():
    @dataclass(frozen=True)
    class Listed(Every):
        many: list[str]

    with pytest.raises(
        TypeError, match=r"field 'many' is .*; it must be str, int, float or Literal"
    ):
        field_types(Listed)
