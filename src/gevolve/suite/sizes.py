"""Sizes of cases, drawn so that the cases of one split differ from each other."""

import numpy as np


def draw(rng: np.random.Generator, span: tuple[int, int]) -> int:
    """An integer between the two ends, as likely to be among the small as among the large ones."""
    low, high = span
    return round(low * (high / low) ** rng.random())
