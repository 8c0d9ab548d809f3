import json

from hypothesis import given
from hypothesis import strategies as st

from gevolve.system.text import escaped, printable


@given(st.text())
def test_nothing_is_left_that_a_terminal_obeys(text):
    safe = printable(text)
    assert len(safe) == len(text)
    assert all(c in "\n\t" or ord(c) >= 32 for c in safe)
    assert not any(0x7F <= ord(c) <= 0x9F for c in safe)
    safe.encode()
    assert printable(safe) == safe


def test_ordinary_text_is_as_it_was():
    text = "naïve — 漢字 🙂\n\tv17 1.21x ±0.3%"
    assert printable(text) == text


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_escaped_json_means_the_same(text):
    encoded = escaped(json.dumps([text], ensure_ascii=False))
    assert json.loads(encoded) == [text]
    assert not any(ord(c) < 32 or 0x7F <= ord(c) <= 0x9F for c in encoded)
