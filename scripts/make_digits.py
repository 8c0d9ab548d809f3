"""Make the digits that the package ships from those of scikit-learn.

    pip install scikit-learn
    python scripts/make_digits.py

They come in the order of their writers; shuffled once here, any part of them is like any other.
"""

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

found = load_digits()
order = np.random.default_rng(0).permutation(len(found.target))
np.savez_compressed(
    Path(__file__).parents[1] / "src/gevolve/suite/models/digits.npz",
    images=found.images[order].astype(np.uint8),
    labels=found.target[order].astype(np.uint8),
)
