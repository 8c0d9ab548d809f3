"""Weights of a network in a file: a tree of arrays in an npz, each under its path in the tree."""

from pathlib import Path
from typing import Any

import numpy as np


def load(path: Path) -> dict[str, Any]:
    """The tree of a file, in single precision; numbers in a path are places in a list."""
    tree: dict[str, Any] = {}
    with np.load(path, allow_pickle=False) as file:
        for name in file.files:
            *above, last = name.split("/")
            node = tree
            for part in above:
                node = node.setdefault(part, {})
            node[last] = np.asarray(file[name], np.float32)
    return _lists(tree)


def save(path: Path, tree: dict[str, Any]) -> None:
    """Write a tree in half precision, which is what the shipped weights have."""
    flat: dict[str, Any] = {k: np.asarray(v, np.float16) for k, v in _flat(tree, "").items()}
    np.savez_compressed(path, **flat)


def _flat(node: Any, path: str) -> dict[str, Any]:
    if not isinstance(node, dict | list):
        return {path[1:]: node}
    pairs: Any = node.items() if isinstance(node, dict) else enumerate(node)  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType, reportUnknownArgumentType]
    return {k: v for key, part in pairs for k, v in _flat(part, f"{path}/{key}").items()}


def _lists(node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    parts: dict[str, Any] = {key: _lists(part) for key, part in node.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if all(key.isdigit() for key in parts):
        return [parts[str(index)] for index in range(len(parts))]
    return parts
