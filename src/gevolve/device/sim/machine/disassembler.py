"""NVIDIA's disassembler: the authority on what a machine word means, and slow to start (0.27 s)."""

import re
import tempfile
from collections.abc import Iterable, Sequence
from functools import cache

from gevolve.device import nvidia
from gevolve.errors import DeviceError, UnsupportedError
from gevolve.system import tools

WHEEL = "nvidia-cuda-nvdisasm"
BYTES = 16
DEADLINE = 120.0

_LINE = re.compile(r"/\*([0-9a-f]+)\*/\s+(.*?)\s*;")
_COMPLAINT = re.compile(r"at address 0x([0-9a-f]+)|(Illegal instruction found)")
_SIBLINGS = {"sm_70": "SM75"}
"""Architectures that it no longer knows, and the one whose words theirs are."""

_GOOD = 0x000FC000000000000000000000007918
"""NOP: an instruction everywhere."""
_BAD = (1 << 128) - 1
"""An instruction nowhere."""


def disassemble(words: Sequence[int], arch: str, start: int = 0) -> list[str]:
    """The text of machine words that stand one after the other from address `start` on.

    `UnsupportedError` names the first word that is none.
    """
    texts = attempt(words, arch, start)
    for word, text in zip(words, texts, strict=True):
        if text is None:
            raise UnsupportedError(f"{word:#034x} is no instruction of {arch}")
    return [text for text in texts if text is not None]


def attempt(words: Sequence[int], arch: str, start: int = 0) -> list[str | None]:
    """As `disassemble`, with None for what is no instruction."""
    texts, log = _texts(words, arch, start)
    if texts is not None:
        return list(texts)
    told = _COMPLAINT.findall(log)
    bad = {(int(address, 16) - start) // BYTES for address, _ in told if address}
    if len(told) != 2 * len(bad):
        bad = _rejected(words, arch)
    rest, _ = _texts([_GOOD if n in bad else word for n, word in enumerate(words)], arch, start)
    if rest is None:
        raise UnsupportedError(f"NVIDIA's disassembler fails on words of {arch}")
    return [None if n in bad else text for n, text in enumerate(rest)]


def _texts(words: Sequence[int], arch: str, start: int) -> tuple[list[str | None] | None, str]:
    """Texts and complaints; if any is no instruction, the tool prints no text at all.

    Of a few words that are none it prints nothing and does not complain.
    """
    if not words:
        return [], ""
    done = _run(words, arch, start)
    if done.status:
        return None, done.errors
    found = {int(at, 16): text for at, text in _LINE.findall(done.text)}
    return [found.get(start + BYTES * n) for n in range(len(words))], ""


def _rejected(words: Sequence[int], arch: str) -> set[int]:
    """Which words are no instructions.

    A complaint is "at address …" and "Illegal instruction found"; for some words only the second. But
    all come in order, so a sentinel that is surely bad stands after each word and counts them.
    """
    done = _run([word for each in words for word in (each, _BAD)], arch, 0)
    bad: set[int] = set()
    after = 0  # the word that follows the last sentinel
    told = False
    for address, illegal in _COMPLAINT.findall(done.errors):
        if not illegal:
            n, sentinel = divmod(int(address, 16) // BYTES, 2)
            told = True
            if sentinel:
                after = n + 1
            else:
                bad.add(n)
        elif told:
            told = False
        else:
            bad.add(after)
    return bad


def _run(words: Iterable[int], arch: str, start: int) -> tools.Done:
    with tempfile.NamedTemporaryFile(prefix="gevolve-", suffix=".bin") as file:
        file.write(b"".join(word.to_bytes(BYTES, "little") for word in words))
        file.flush()
        model = _SIBLINGS.get(arch) or arch.upper().replace("_", "").replace("A", "a")
        command = [_tool(), "-b", model, "-raw", "-base", hex(start), file.name]
        try:
            return tools.run(command, seconds=DEADLINE)
        except tools.ToolTimeoutError as late:
            raise UnsupportedError(f"NVIDIA's disassembler fails: {late}") from None


@cache
def _tool() -> str:
    for path in reversed(nvidia.files("bin/nvdisasm")):
        return str(path)
    raise DeviceError(f"NVIDIA's disassembler is not installed; `pip install {WHEEL}`")
