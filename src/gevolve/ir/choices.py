"""Choices that an edit's repair makes: drawn from its seed, and the same on every machine.

Every candidate gets a rank, a hash of (seed, purpose, candidate), and the lowest wins. The winner
stays the winner when other candidates come and go, so an edit does much the same in another patch
as it did in the one where it was found.
"""

import zlib
from collections.abc import Iterable
from functools import lru_cache


@lru_cache(1 << 16)
def _hash(name: str) -> int:
    return zlib.crc32(name.encode())


def rank(seed: int, purpose: str, candidate: str) -> int:
    """A number that orders candidates: the same everywhere, unrelated between seeds."""
    mixed = (_hash(candidate) ^ (seed * 0x9E3779B1) ^ _hash(purpose)) & 0xFFFFFFFF
    mixed = ((mixed ^ (mixed >> 16)) * 0x7FEB352D) & 0xFFFFFFFF
    mixed = ((mixed ^ (mixed >> 15)) * 0x846CA68B) & 0xFFFFFFFF
    return mixed ^ (mixed >> 16)


def choose(seed: int, purpose: str, candidates: Iterable[str]) -> str | None:
    """The candidate of the lowest rank; None if there is none."""
    return min(candidates, key=lambda c: (rank(seed, purpose, c), c), default=None)
