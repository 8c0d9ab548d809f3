"""What must be alike on all nodes: versions of packages, and the CPU that host code is made for.

Ray sends `describe` by value to nodes that may have another gevolve or none. So this module imports
nothing but the standard library.
"""

import hashlib
import importlib
import importlib.metadata
import importlib.util
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path

CPU = "CPU"


def describe(packages: Sequence[str]) -> dict[str, str]:
    """The versions of Python and of these packages, and the CPU, as this process finds them."""
    found = {"Python": platform.python_version(), CPU: _cpu()}
    for name in packages:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = ""
    if found.get("gevolve"):
        found["gevolve"] += f" ({_source_digest()})"
    return found


def _cpu() -> str:
    """The CPU as LLVM sees it: its name, and a digest of all that it can do."""
    try:
        binding = importlib.import_module("llvmlite.binding")  # a node may lack it
        features = binding.get_host_cpu_features().flatten()
        return (
            f"{binding.get_host_cpu_name()} ({hashlib.sha256(features.encode()).hexdigest()[:8]})"
        )
    except ImportError:
        return platform.machine()


def _source_digest() -> str:
    """Of gevolve's own code, whose version may lag behind."""
    spec = importlib.util.find_spec("gevolve")
    total = hashlib.sha256()
    for folder in (spec and spec.submodule_search_locations) or ():
        for file in sorted(Path(folder).rglob("*.py")):
            total.update(file.read_bytes())
    return total.hexdigest()[:8]


def difference(mine: Mapping[str, str], its: Mapping[str, str]) -> str:
    """How a node differs from this one, in a few words; "" if it does not."""
    return ", ".join(
        f"{name} {its[name]} instead of {mine[name]}" if its.get(name) else f"no {name}"
        for name in mine
        if its.get(name) != mine[name]
    )
