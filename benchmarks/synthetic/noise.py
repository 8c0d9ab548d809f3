"""Searches that find nothing: variants that are as fast as the unedited program, measured with noise."""

import numpy as np

from gevolve.analyze.interval import LEAST, MOST, estimate, pooled

NOISE = {
    "normal": lambda rng, n: rng.normal(0, 0.015, n),
    "small": lambda rng, n: rng.normal(0, 0.002, n),
    "heavy tails": lambda rng, n: rng.standard_t(2.5, n) * 0.01,
    "skewed": lambda rng, n: rng.exponential(0.012, n) - 0.012,
    "skewed the other way": lambda rng, n: 0.012 - rng.exponential(0.012, n),
    "a bias of each process": lambda rng, n: rng.choice([-0.02, 0.02], n) + rng.normal(0, 0.003, n),
    "rarely slow": lambda rng, n: (
        np.where(rng.random(n) < 0.1, 0.05, -0.05 / 9) + rng.normal(0, 0.004, n)
    ),
}


def claims(noise, rng, variants, ratio=1.0, floor=pooled):
    """How many variants of one search are called a gain, measured as a validation does."""
    samples = [list(noise(rng, LEAST)) for _ in range(variants + 1)]
    open_ = set(range(1, variants + 1))
    gains = 0
    while open_:
        ratios = [ratio * np.exp(sample) for sample in samples]
        least = floor(ratios)
        for n in sorted(open_):
            found = estimate(ratios[n], least)
            if found.settled or len(samples[n]) >= MOST:
                gains += found.high < 1
                open_.remove(n)
        for n in open_ | {0}:
            if len(samples[n]) < MOST:
                samples[n] += list(noise(rng, 1))
    return gains
