"""The genome prints and parses back to itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gevolve.errors import PatchError
from gevolve.patch import Edit, Patch

words = st.text("abcdefghijklmnopqrstuvwxyz0123456789=.+-_%", min_size=1, max_size=12)
edits = st.builds(
    Edit,
    st.sampled_from(["copy", "delete", "scale-constant"]),
    st.lists(words, max_size=4).map(tuple),
    st.integers(0, 2**64),
)


@given(st.lists(edits, max_size=12).map(lambda found: Patch(tuple(found))))
def test_round_trip(patch):
    assert Patch.parse(str(patch)) == patch
    assert Patch.parse("\n".join(map(str, patch))) == patch
    assert patch[:2] + patch[2:] == patch


@given(st.text(max_size=40))
def test_parse_never_fails_otherwise(text):
    try:
        patch = Patch.parse(text)
    except PatchError:
        return
    assert Patch.parse(str(patch)) == patch


@pytest.mark.parametrize("text", ["copy", "copy i1", "COPY i1 #1", "copy i1 #xyz", "copy  #1 i2"])
def test_not_an_edit(text):
    with pytest.raises(PatchError, match="not an edit"):
        Patch.parse(text)
