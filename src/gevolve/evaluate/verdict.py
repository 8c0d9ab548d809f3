"""The verdict on a variant: one word from a closed vocabulary, and what was measured."""

import signal
from enum import StrEnum

import msgspec

KILLS = 8
"""A variant whose process is killed from outside this many times in a row is judged for it."""


class Verdict(StrEnum):
    """What became of a variant. Only `OK` has objectives."""

    OK = "ok"
    INVALID = "invalid"
    """The IR's verifier rejected it."""
    COMPILE = "compile"
    """The back end could not make an artefact of it."""
    CRASH = "crash"
    """It touched memory that is not its own, trapped, or its host code raised."""
    TIMEOUT = "timeout"
    """It passed the wall-clock deadline."""
    FUEL = "fuel"
    """It ran many more loop iterations or launches than the unedited program."""
    MEMORY = "memory"
    """It used more memory than it may."""
    NONFINITE = "nonfinite"
    """A NaN or infinity where the reference has none."""
    WRONG = "wrong"
    """The error is above the tolerance."""
    INPUTS_CHANGED = "inputs-changed"
    """It wrote to an input that the unedited program leaves alone."""
    FLAKY = "flaky"
    """Two runs on the same case gave different outputs."""
    RACE = "race"
    """It has a data race that the unedited program does not have."""
    DIVERGENT_BARRIER = "divergent-barrier"
    """Some threads of a block wait at a barrier that others never reach."""
    STALE = "stale"
    """It reads by a read-only load what the same launch writes."""
    UNINITIALIZED = "uninitialised"
    """It uses a value that nothing has written."""
    SLOWER = "slower"
    """It is right on the large case, and takes longer there than the unedited program."""


class Evaluation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The verdict on one variant; `time` and `error` are None unless it is `ok`."""

    verdict: Verdict
    time: float | None = None
    error: float | None = None
    inexact: bool = False
    """Whether `error` is a difference from the unedited program's outputs, and above their rounding on these cases."""
    off: float = 0.0
    """The share of output elements that differ from the reference by more than a tenth."""
    detail: str = ""
    """One line for people: which case, which value, which signal."""
    work: tuple[float, ...] = ()
    """What was executed on all cases, kind by kind, where the device counts it; see `Usage`."""
    spread: float = 0.0
    """The relative uncertainty of `time`; 0 on a deterministic device."""
    unsure: str = ""
    """Why its time cannot be known, in one line; "" if it can."""
    traced: float = 0.0
    """What its trace gives for a time that is `unsure`; `time` is then no less than the unedited program's."""
    artefact: str = ""
    """SHA-256 of the artefact, if it was built."""
    fingerprint: str = ""
    """A hash of what the device's own compiler made of the artefact, if it has one."""
    gaps: float = 0.0
    """The time between launches, where the device knows it; `time` is without it."""
    skipped: int = 0
    """The number of edits that could not be applied."""
    seconds: dict[str, float] = msgspec.field(default_factory=dict[str, float])
    """Where the time of the evaluation went, by stage."""

    @property
    def ok(self) -> bool:
        return self.verdict is Verdict.OK

    @property
    def identity(self) -> str:
        """A hash of the code that runs: variants with the same one behave alike."""
        return self.fingerprint or self.artefact

    @property
    def reusable(self) -> bool:
        """Whether the same artefact would be judged the same again, on a deterministic device."""
        # A deadline missed, or a process killed, says as much of the machine as of the artefact.
        unsure = self.verdict is Verdict.TIMEOUT or _KILLED in self.detail
        return bool(self.artefact) and not unsure


def signal_name(number: int) -> str:
    """The name of a signal, such as ``SIGSEGV``."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


_KILLED = "SIGKILL, which gevolve did not send"


def killed_often(who: str = "") -> str:
    """What is to be said when a process is killed again and again, and by whom nobody knows."""
    said = f"{who} ended {KILLS} times by {_KILLED}" if who else f"{_KILLED}, {KILLS} times"
    return f"{said}; most likely memory runs out: free some, or use fewer workers"


def backoff(times: int) -> float:
    """Seconds to wait before a process that was killed so many times is started again."""
    return min(1.0, 0.01 * 2**times)
