"""Text that is safe to print: names and messages come from files that strangers may have written."""

import re

_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, but not tab and newline
    "\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff"  # what changes the order, or is not seen
    "\ud800-\udfff]"  # halves of characters, which cannot be encoded
)
_SIGN = "\ufffd"


def printable(text: str) -> str:
    """The text with a sign in place of each character that a terminal might obey."""
    return _UNSAFE.sub(_SIGN, text)


def escaped(json: str) -> str:
    """JSON in which such characters are written as escapes; it means the same."""
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", json)
