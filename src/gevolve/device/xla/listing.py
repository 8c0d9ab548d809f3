"""The devices that JAX finds, without starting any of them in this process."""

import importlib.metadata
import importlib.util
import json
import sys

from gevolve.errors import GevolveError
from gevolve.system import tools

_DEADLINE = 60.0
"""Seconds that JAX may take to find its accelerators."""
_QUESTION = """
import json, jax
print(json.dumps([(d.platform, d.device_kind) for d in jax.local_devices() if d.platform != "cpu"]))
"""


def found_by_jax() -> list[tuple[str, str]]:
    """What follows ``xla:``, and a description of each; empty if JAX is not installed."""
    if importlib.util.find_spec("jax") is None:
        return []
    found = [("cpu", "StableHLO programs on this CPU; time is seconds on one thread")]
    numbers: dict[str, int] = {}
    for platform, kind in _accelerators():
        name = "tpu" if platform == "tpu" else "gpu"
        index = numbers[name] = numbers.get(name, -1) + 1
        found.append((f"{name}:{index}", f"the same on a {kind}"))
    return found


def _accelerators() -> list[tuple[str, str]]:
    """What a JAX of its own finds, which takes seconds: so only if it could find anything."""
    plugins = importlib.metadata.entry_points(group="jax_plugins")
    if not plugins and importlib.util.find_spec("libtpu") is None:
        return []
    try:
        answer = tools.run([sys.executable, "-c", _QUESTION], seconds=_DEADLINE)
        return json.loads(answer.text.splitlines()[-1]) if answer.status == 0 else []
    except (GevolveError, OSError, ValueError, IndexError):
        return []  # a driver that does not work is as good as none
