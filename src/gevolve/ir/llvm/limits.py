"""``__maxnreg__``: clang knows no such attribute, so the header makes it an annotation, which is read here."""

import re

from gevolve.ir.llvm.cursor import split_after_parameters

_LIST = re.compile(r"^@llvm\.global\.annotations = .*\n", re.MULTILINE)
_ENTRY = re.compile(
    r'\{ ptr @("(?:[^"\\]|\\.)*"|[\w.$-]+), ptr @([\w.$-]+), .*?, ptr @([\w.$-]+) \}'
)
_TEXT = re.compile(r'^@([\w.$-]+) = .* c"gevolve\.maxnreg\\00"', re.MULTILINE)
_NUMBER = re.compile(r"^@([\w.$-]+) = .* \{ i32 (\d+) \}, section", re.MULTILINE)
_METADATA = re.compile(r'^@.*, section "llvm\.metadata".*\n', re.MULTILINE)


def with_limits(text: str) -> str:
    """The module with the limits of registers as attributes of its kernels, and without annotations."""
    entries = _LIST.search(text)
    notes, numbers = set(_TEXT.findall(text)), dict(_NUMBER.findall(text))
    if entries is None or not notes:
        return text
    for function, note, number in _ENTRY.findall(entries[0]):
        if note in notes and number in numbers:
            define = re.compile(rf"^define\b.*@{re.escape(function)}\(.*$", re.MULTILINE)
            most = numbers[number]
            text = define.sub(lambda found, most=most: _limited(found[0], most), text)
    return _METADATA.sub("", text)


def _limited(header: str, most: str) -> str:
    before, after = split_after_parameters(header)
    return f'{before} "nvvm.maxnreg"="{most}"{after}'
