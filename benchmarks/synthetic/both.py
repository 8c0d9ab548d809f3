"""Variants of a workload, each run as PTX and as machine code."""

import os
import re
import signal
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

import msgspec
import numpy as np

from gevolve.device.base import UNSURE, Limits, Stopped
from gevolve.device.sim import Sim
from gevolve.errors import GevolveError
from gevolve.evaluate.protocol import named_arrays
from gevolve.patch import Patch
from gevolve.workload.base import Array
from gevolve.workload.locate import locate

SECONDS = 60
ALIKE = ("same outputs", "stopped alike")
CAUGHT = "undefined, and caught"
"""What a variant that races, say, does one way tells nothing about the other; no such variant passes."""
_FREE = re.compile(rb"(?<![.\w])(add|sub|mul)\.((?:ftz\.)?(?:sat\.)?f(?:32|64))\b")


class Outcome(msgspec.Struct, frozen=True):
    """One run."""

    stopped: str = ""
    """The verdict, if the device stopped it."""
    why: str = ""
    time: float = 0.0
    work: tuple[float, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.stopped


class Pair(msgspec.Struct, frozen=True):
    """A variant both ways."""

    patch: str
    ptx: Outcome
    machine: Outcome
    unlike: str = ""
    """Where outputs are not the same bit for bit."""
    fingerprint: str = ""
    hazard: str = ""
    """What the checks stop it for, if the two differ: it races, say, and may give anything."""

    @property
    def agreement(self) -> str:
        if self.hazard:
            return CAUGHT
        if not self.ptx.ok and not self.machine.ok:
            same = self.ptx.stopped == self.machine.stopped
            return "stopped alike" if same else "stopped otherwise"
        if self.ptx.ok and self.machine.ok:
            return "other outputs" if self.unlike else "same outputs"
        return "stopped one way only"

    @property
    def difference(self) -> str:
        """How the two differ, in one line."""
        ways = (
            (one.stopped and f"{one.stopped}: {one.why}") or "runs"
            for one in (self.ptx, self.machine)
        )
        return self.hazard or self.unlike or "PTX {}; machine code {}".format(*ways)


def unlike(want: Mapping[str, Array], got: Mapping[str, Array]) -> str:
    """Where two sets of outputs differ; any NaN is like any other."""
    for name, one in want.items():
        other = got[name]
        equal = np.isclose(one, other, rtol=0, atol=0, equal_nan=one.dtype.kind in "fc")
        if not np.all(equal):
            at = int(np.flatnonzero(~equal.reshape(-1))[0])
            values = one.reshape(-1)[at], other.reshape(-1)[at]
            return f"{np.count_nonzero(~equal)} of {one.size}: [{at}] is {values[0]} as PTX, {values[1]}"
    return ""


def exact(ptx: bytes) -> bytes:
    """PTX whose products and sums are rounded one by one; else the assembler may fuse two."""
    return _FREE.sub(rb"\1.rn.\2", ptx)


def run(
    device: Sim, ptx: bytes, workload: Any, case: Any, limits: Limits, check: str | None = None
) -> tuple[Outcome, dict[str, Array]]:
    """Run a workload on an artefact; whatever stops it is an outcome."""
    try:
        with closing(device.open(ptx, limits, check=check)) as gpu:
            outputs = named_arrays(workload.run(gpu, case))
            used = gpu.usage()
            hazard = next((h for h in used.hazards if check and h.kind != UNSURE), None)
            if hazard is not None:
                return Outcome(hazard.kind, f"{hazard.kernel}: {hazard.detail}"), {}
            return Outcome(time=used.time, work=used.work), outputs
    except Stopped as stopped:
        return Outcome(stopped.verdict, str(stopped)), {}
    except GevolveError as error:
        return Outcome(type(error).__name__, str(error)), {}
    except Exception as error:  # noqa: BLE001  (host code may raise anything on other outputs)
        return Outcome("host", repr(error)), {}


def pairs(name: str, machine: str, count: int, seed: int = 1) -> tuple[Pair, list[Pair]]:
    """The unedited program and some random variants of it; only those that can be built."""
    workload = locate(name)
    program = workload.load()
    case = workload.cases("search")[0]
    devices = Sim(), workload.device(machine)
    limits = Limits()

    def judge(patch: Patch) -> Pair | None:
        text = program.apply(patch).text
        if program.verify(text):
            return None
        ptx = exact(devices[0].build(text))
        (one, want), (other, got) = (run(d, ptx, workload, case, limits) for d in devices)
        fingerprint = devices[1].fingerprint(ptx) if other.ok else ""
        found = unlike(want, got) if one.ok and other.ok else ""
        pair = Pair(str(patch), one, other, found, fingerprint)
        if pair.agreement in ALIKE:
            return pair
        checked = (
            run(device, ptx, workload, case, limits, check)[0]
            for device in devices
            for check in Sim.checks[:2]
        )
        hazard = next((f"{o.stopped}: {o.why}" for o in checked if not o.ok), "")
        return msgspec.structs.replace(pair, hazard=hazard)

    unedited = apart(lambda: judge(Patch()))
    assert unedited is not None
    with closing(devices[0].open(exact(devices[0].build(program.text)), limits)) as gpu:
        workload.run(gpu, case)
        used = gpu.usage()
    limits = Limits(fuel=10 * used.fuel + 1000, launches=2 * used.launches + 10)
    rng = np.random.default_rng(seed)
    found: list[Pair] = []
    while len(found) < count:
        kinds = rng.choice(program.kinds, size=rng.integers(1, 4))
        edits = [program.propose(str(kind), rng, None) for kind in kinds]
        patch = Patch(tuple(edit for edit in edits if edit is not None))
        if (one := apart(lambda p=patch: judge(p))) is not None:
            found.append(one)
    return unedited, found


def apart(judge: Callable[[], Pair | None]) -> Pair | None:
    """What a function gives in a fork of this process, which a compiler may end; None if it does."""
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(reader)
        try:
            signal.alarm(SECONDS)
            with os.fdopen(writer, "wb") as file:
                file.write(msgspec.msgpack.encode(judge()))
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        data = file.read()
    os.waitpid(pid, 0)
    return msgspec.msgpack.decode(data, type=Pair | None) if data else None
