"""Make the breast-cancer data that the package ships from that of scikit-learn.

    pip install scikit-learn
    python scripts/make_breast_cancer.py

Shuffled once here, any part of it is like any other.
"""

from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer

found = load_breast_cancer()
order = np.random.default_rng(0).permutation(len(found.target))
np.savez_compressed(
    Path(__file__).parents[1] / "src/gevolve/suite/papers/breast_cancer.npz",
    rows=found.data[order].astype(np.float32),
    labels=found.target[order].astype(np.uint8),
)
