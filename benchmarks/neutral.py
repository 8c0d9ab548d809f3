"""How many of 100 searches for nothing claim a gain, by kind of noise and variants that are measured.

Every variant is as fast as the unedited program; the ratios come with noise, and are measured as a
validation does. Beside it the same without the common spread, which shows what that is good for.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "analyze"))

import neutral

SEARCHES = 100
VARIANTS = (1, 4, 16)


def main() -> None:
    print(f"of {SEARCHES} searches those that claim a gain; in brackets without the common spread")
    print(f"{'noise':26}" + "".join(f"{f'{n} variants':>14}" for n in VARIANTS))
    for kind, noise in neutral.NOISE.items():
        cells = [
            tuple(
                sum(
                    neutral.claims(noise, np.random.default_rng([seed, n]), n, floor=floor) > 0
                    for seed in range(SEARCHES)
                )
                for floor in (neutral.pooled, lambda _: 0.0)
            )
            for n in VARIANTS
        ]
        print(f"{kind:26}" + "".join(f"{f'{a} ({b})':>14}" for a, b in cells), flush=True)


if __name__ == "__main__":
    main()
