"""Where the cycles of a replay went: by kind of wait, by source line."""

import numpy as np

from gevolve.device.base import Array
from gevolve.device.sim.timing.code import ROLES, Code

KINDS = ("issue", "pipe", "latency", "fetch", "shared", "memory", "contention", "barriers", "idle")
"""What a scheduler did with a cycle.

``issue``: an instruction left. ``pipe``: one was ready and its unit was busy. ``latency``: the oldest
warp waited for a result of arithmetic. ``fetch``: for its code. ``shared``: for shared memory.
``memory``: for data. ``contention``: for its turn, at the load/store unit, at a bank or at a slice.
``barriers``: for other warps. ``idle``: the SM had no warp left.
"""
_FIELDS = ("issued", "waited", "stuck", "starved", "delay", "contended")


class Counters:
    """What the runtime counts for each instruction."""

    def __init__(self, n: int) -> None:
        self._arrays = {name: np.zeros(max(n, 1), np.uint64) for name in _FIELDS}
        self.idle = 0

    def addresses(self) -> dict[str, int]:
        return {name: array.ctypes.data for name, array in self._arrays.items()}

    def cycles(self, code: Code) -> dict[str, Array]:
        """Cycles of schedulers by kind, for each instruction; ``idle`` belongs to none."""
        counted = {
            name: array[: len(code.ops)].astype(float) for name, array in self._arrays.items()
        }
        role = code.ops["role"]
        memory = (role == ROLES.index("memory")) | (role == ROLES.index("parameter"))
        barrier = role == ROLES.index("barrier")
        shared = code.shared
        waited, stuck = counted["waited"], counted["stuck"]
        queued = np.divide(
            counted["contended"],
            counted["delay"],
            out=np.zeros_like(waited),
            where=counted["delay"] > 0,
        ).clip(0, 1)
        return {
            "issue": counted["issued"],
            "pipe": np.where(memory, 0, stuck),
            "latency": np.where(memory | barrier, 0, waited),
            "fetch": counted["starved"],
            "shared": np.where(memory & shared, waited * (1 - queued), 0),
            "memory": np.where(memory & ~shared, waited * (1 - queued), 0),
            "contention": np.where(memory, waited * queued + stuck, 0),
            "barriers": np.where(barrier, waited, 0),
            "idle": np.array([float(self.idle)]),
        }


def total(spent: dict[str, Array]) -> dict[str, float]:
    """Cycles of schedulers by kind."""
    return {kind: float(spent[kind].sum()) for kind in KINDS}


def by_line(
    spent: dict[str, Array], code: Code, files: dict[int, str], scale: float
) -> dict[str, dict[str, float]]:
    """Cycles by source line and kind, in the order of the lines; kinds that are nothing are left out."""
    lines = sorted(set(code.lines), key=lambda at: (str(at[0]), at[1]))
    place = {line: index for index, line in enumerate(lines)}
    which = np.array([place[line] for line in code.lines], np.intp)
    table: dict[str, dict[str, float]] = {}
    sums = {
        kind: np.bincount(which, spent[kind], len(lines)) * scale
        for kind in KINDS
        if kind != "idle"
    }
    for (file, line), index in place.items():
        row = {kind: float(values[index]) for kind, values in sums.items() if values[index]}
        if row:
            name = file if isinstance(file, str) else files.get(file, file or "?")
            table[f"{name}:{line}"] = row
    return table
