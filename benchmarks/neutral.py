"""How many of 100 searches for nothing claim a gain, by kind of noise and variants that are measured.

Every variant is as fast as the unedited program; the ratios come with noise, and are measured as a
validation does. Beside it the same without the common spread, which shows what that is good for.
"""

import numpy as np

from benchmarks.synthetic.noise import NOISE, claims, pooled

SEARCHES = 100
VARIANTS = (1, 4, 16)


def main() -> None:
    print(f"of {SEARCHES} searches those that claim a gain; in brackets without the common spread")
    print(f"{'noise':26}" + "".join(f"{f'{n} variants':>14}" for n in VARIANTS))
    for kind, noise in NOISE.items():
        cells = [
            tuple(
                sum(
                    claims(noise, np.random.default_rng([seed, n]), n, floor=floor) > 0
                    for seed in range(SEARCHES)
                )
                for floor in (pooled, lambda _: 0.0)
            )
            for n in VARIANTS
        ]
        print(f"{kind:26}" + "".join(f"{f'{a} ({b})':>14}" for a, b in cells), flush=True)


if __name__ == "__main__":
    main()
