"""Data with labels: MNIST, CIFAR-10 and a9a where `GEVOLVE_DATA` has them; digits and breast cancer always.

Under the folder that `GEVOLVE_DATA` names, the files have their usual names, packed or not:

    mnist/train-images-idx3-ubyte.gz    and the other three
    cifar10/test_batch.bin.xz           and data_batch_1 to data_batch_5, in the binary layout
    a9a/a9a.gz                          in the layout of LIBSVM
"""

import gzip
import lzma
import os
import zlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gevolve.errors import WorkloadError, one_line
from gevolve.workload.base import Array

_VARIABLE = "GEVOLVE_DATA"
_UNPACK: dict[str, Callable[[bytes], bytes]] = {
    "": lambda raw: raw,
    ".gz": gzip.decompress,
    ".xz": lzma.decompress,
}


class Images(NamedTuple):
    """Images as bytes, [count, height, width, channels], and the class of each."""

    images: Array
    labels: Array

    def part(self, start: int, count: int) -> "Images":
        """Some of them, which must be there."""
        if start + count > len(self.labels):
            raise WorkloadError(
                f"{_VARIABLE}: {start + count} images are needed and there are {len(self.labels)};"
                " get the full data set"
            )
        return Images(self.images[start : start + count], self.labels[start : start + count])


class Table(NamedTuple):
    """Rows of numbers as floats, [count, features], and the class of each: 1 or -1."""

    rows: Array
    labels: Array


@lru_cache(1)
def breast_cancer() -> Table:
    """The 569 tumours that the package ships, in random order; features have mean 0 and deviation 1.

    `papers/breast_cancer.md` says where they are from.
    """
    path = Path(__file__).parent / "papers" / "breast_cancer.npz"
    with np.load(path, allow_pickle=False) as file:
        rows, labels = file["rows"].astype(np.float64), file["labels"]
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    return Table(rows.astype(np.float32), np.where(labels, 1, -1))


@lru_cache(1)
def mnist_parity() -> Table:
    """10,000 digits of MNIST as rows of pixels from 0 to 1; the class is whether they are even."""
    found = mnist("t10k")
    rows = found.images.reshape(len(found.labels), -1).astype(np.float32) / 255
    return Table(rows, np.where(found.labels % 2, -1, 1))


def a9a() -> Table:
    """The 32,561 people of a9a: 123 features that are 0 or 1."""
    return _a9a(_root())


@lru_cache(1)
def _a9a(root: Path) -> Table:
    text = _read(root, "a9a/a9a").decode("ascii", errors="replace")
    lines = [line for line in text.splitlines() if line.strip()]
    rows, labels = np.zeros((len(lines), 123), np.float32), np.zeros(len(lines), int)
    try:
        for number, line in enumerate(lines):
            label, *entries = line.split()
            labels[number] = int(label)
            for entry in entries:
                feature, _, value = entry.partition(":")
                rows[number, int(feature) - 1] = float(value)
    except (ValueError, IndexError):
        raise WorkloadError("a9a/a9a is not in LIBSVM's layout: get the file again") from None
    return Table(rows, labels)


@lru_cache(1)
def digits() -> Images:
    """The 1,797 handwritten digits of 8x8 pixels that the package ships, in random order.

    Pixels are 0 to 16. `digits.md` says where they are from.
    """
    with np.load(Path(__file__).parent / "models" / "digits.npz", allow_pickle=False) as file:
        return Images(file["images"][..., None], file["labels"])


def has_mnist() -> bool:
    """Whether `GEVOLVE_DATA` leads to MNIST."""
    return bool(os.environ.get(_VARIABLE)) and (_root() / "mnist").is_dir()


def mnist(part: str) -> Images:
    """MNIST; the part is ``train`` or ``t10k``."""
    return _mnist(_root(), part)


def cifar10(*batches: str) -> Images:
    """CIFAR-10; the batches are ``test_batch`` and ``data_batch_1`` to ``data_batch_5``."""
    return _cifar10(_root(), batches)


@lru_cache(2)
def _mnist(root: Path, part: str) -> Images:
    images = _idx(root, f"mnist/{part}-images-idx3-ubyte", 16).reshape(-1, 28, 28, 1)
    return Images(images, _idx(root, f"mnist/{part}-labels-idx1-ubyte", 8))


@lru_cache(1)
def _cifar10(root: Path, batches: tuple[str, ...]) -> Images:
    rows = np.concatenate([_rows(root, f"cifar10/{batch}.bin") for batch in batches])
    planes = rows[:, 1:].reshape(-1, 3, 32, 32)
    return Images(np.ascontiguousarray(planes.transpose(0, 2, 3, 1)), rows[:, 0])


def _rows(root: Path, name: str) -> Array:
    raw = np.frombuffer(_read(root, name), np.uint8)
    if not raw.size or raw.size % 3073:
        raise WorkloadError(
            f"{name} is not in CIFAR-10's binary layout: rows of a label and 3072 bytes"
        )
    return raw.reshape(-1, 3073)


def _idx(root: Path, name: str, header: int) -> Array:
    raw = _read(root, name)
    count = int.from_bytes(raw[4:8], "big")
    size = 28 * 28 if header == 16 else 1
    if not count or len(raw) != header + count * size:
        raise WorkloadError(f"{name} is not MNIST's: get the file again")
    return np.frombuffer(raw, np.uint8, offset=header)


def _read(root: Path, name: str) -> bytes:
    """The bytes of a data file, unpacked."""
    for suffix, unpack in _UNPACK.items():
        file = root / (name + suffix)
        if file.is_file():
            try:
                return unpack(file.read_bytes())
            except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
                raise WorkloadError(f"{file} cannot be read: {one_line(error)}") from error
    raise WorkloadError(
        f"{_VARIABLE} has no {name} (nor {name}.gz or .xz): put it under {root}, or set"
        f" {_VARIABLE} to the folder that holds it"
    )


def _root() -> Path:
    folder = os.environ.get(_VARIABLE)
    if not folder:
        raise WorkloadError(
            f"set {_VARIABLE} to a folder with mnist/, cifar10/ (test_batch.bin, of its binary version) or a9a/;"
            " svm, mobilenet-small and 2fcnet need no download"
        )
    return Path(folder)


def accuracy(scores: Any, labels: Array) -> float:
    """The share of images whose class has the highest score."""
    right: Array = np.argmax(scores, -1) == labels
    return np.count_nonzero(right) / right.size
