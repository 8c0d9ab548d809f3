"""Choices that an edit's repair makes, drawn from its seed: the same on every machine.

Every candidate gets a hash of (seed, purpose, candidate), and the lowest wins. The winner stays the
winner when other candidates come and go, so an edit does much the same in another patch as it did in
the one where it was found.
"""

import zlib
from collections.abc import Iterable
from functools import lru_cache


@lru_cache(1 << 16)
def _crc(name: str) -> int:
    return zlib.crc32(name.encode())


def seeded_hash(seed: int, purpose: str, candidate: str) -> int:
    """A number of 32 bits: the same everywhere, unrelated between seeds, purposes and candidates."""
    mixed = (_crc(candidate) ^ (seed * 0x9E3779B1) ^ _crc(purpose)) & 0xFFFFFFFF
    mixed = ((mixed ^ (mixed >> 16)) * 0x7FEB352D) & 0xFFFFFFFF
    mixed = ((mixed ^ (mixed >> 15)) * 0x846CA68B) & 0xFFFFFFFF
    return mixed ^ (mixed >> 16)


def seeded_choice(seed: int, purpose: str, candidates: Iterable[str]) -> str | None:
    """The candidate with the lowest hash; None if there is no candidate."""
    return min(candidates, key=lambda c: (seeded_hash(seed, purpose, c), c), default=None)
