"""NVIDIA's disassembler: the authority on what a machine word means, and slow to start (0.27 s)."""

import re
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache

from gevolve.device import nvidia
from gevolve.errors import DeviceError, UnsupportedError

WHEEL = "nvidia-cuda-nvdisasm"
BYTES = 16

_LINE = re.compile(r"/\*([0-9a-f]+)\*/\s+(.*?)\s*;")
_REJECTED = re.compile(r"at address 0x([0-9a-f]+)")
_SIBLINGS = {"sm_70": "SM75", "sm_72": "SM75"}
"""Architectures that it no longer knows, and the one whose words theirs are."""


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
    if not words:
        return []
    done = _run(b"".join(word.to_bytes(BYTES, "little") for word in words), arch, start)
    if not done.returncode:
        texts = {int(at, 16): text for at, text in _LINE.findall(done.stdout)}
        return [texts.get(start + BYTES * n) for n in range(len(words))]
    bad = {(int(at, 16) - start) // BYTES for at in _REJECTED.findall(done.stderr)}
    if not bad:
        if len(words) == 1:
            return [None]
        middle = len(words) // 2
        return [
            *attempt(words[:middle], arch, start),
            *attempt(words[middle:], arch, start + BYTES * middle),
        ]
    # The tool prints nothing if one word is bad; a word that is surely good keeps the others' place.
    filler = 0x000FC000000000000000000000007918
    return [
        None if n in bad else text
        for n, text in enumerate(
            attempt([filler if n in bad else word for n, word in enumerate(words)], arch, start)
        )
    ]


def _run(data: bytes, arch: str, start: int) -> subprocess.CompletedProcess[str]:
    with tempfile.NamedTemporaryFile(prefix="gevolve-", suffix=".bin") as file:
        file.write(data)
        file.flush()
        model = _SIBLINGS.get(arch) or arch.upper().replace("_", "").replace("A", "a")
        return subprocess.run(
            [_tool(), "-b", model, "-raw", "-base", hex(start), file.name],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120.0,
            check=False,
        )


@cache
def _tool() -> str:
    for path in reversed(nvidia.files("bin/nvdisasm")):
        return str(path)
    raise DeviceError(f"NVIDIA's disassembler is not installed; `pip install {WHEEL}`")
