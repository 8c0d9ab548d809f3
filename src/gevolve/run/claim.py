"""The one rule for what is called a gain, and the words in which every view says it.

A search begins with our own build of the program. Where nvcc's is faster, a variant that only makes up
for that is no gain to anybody who has nvcc: so a gain is one against the better of both builds, on the
search cases and on those that the search never used; and only of what executes less of something.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gevolve.evaluate.verdict import Evaluation, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gevolve.patch import Patch
    from gevolve.run.findings import Interval, NvccBuild

LONGER = 0.02
"""By so much a variant may take longer on the large case than the unedited program ..."""
SPREADS = 3.0
"""... or by so many spreads, where times vary."""


def at_size(evaluation: Evaluation, unedited: Evaluation) -> Evaluation:
    """What became of a variant on the large case: if it is slower there, that is the verdict.

    What is searched on is small, so that it is quick; what saves time there and costs time at size helps nobody.
    """
    if not evaluation.ok or not evaluation.time or not unedited.time:
        return evaluation
    ratio = evaluation.time / unedited.time
    if ratio <= 1 + max(LONGER, SPREADS * evaluation.spread):
        return evaluation
    return Evaluation(
        verdict=Verdict.SLOWER,
        detail=f"it takes {ratio:.3g} of the unedited program's time on the large case",
        artefact=evaluation.artefact,
        fingerprint=evaluation.fingerprint,
        seconds=evaluation.seconds,
    )


def does_less(mine: Sequence[float], unedited: Sequence[float]) -> bool:
    """Whether a variant executes less of anything than the unedited program, as far as was counted.

    One that executes as many instructions, memory operations and barriers or more, and waits as long for
    them, may look faster for the order in which it does so; that alone is nothing to rely on.
    """
    if not mine or not unedited:
        return True
    return any(one < other for one, other in zip(mine, unedited, strict=True))


def launches_otherwise(patch: Patch) -> bool:
    """Whether a variant chooses a number of the host code: the same work, in other blocks, may well be faster."""
    return any(edit.kind == "parameter" for edit in patch)


def is_gain(
    ratio: float, interval: Interval | None, nvcc: float | None, nvcc_interval: Interval | None
) -> bool:
    """Whether a variant gains, by its ratios to our unedited build and to nvcc's, if there is one."""
    ours = interval is not None and max(ratio, interval.high) < 1
    return ours and (
        nvcc is None or (nvcc_interval is not None and max(nvcc, nvcc_interval.high) < 1)
    )


def words(interval: Interval, nvcc: Interval | None, build: NvccBuild) -> str:
    """How long a variant takes beside both builds of the unedited program."""
    ours = f"{interval.value:.4g}{_bounds(interval)} of the time of"
    if not (nvcc or build.why or build.version):  # a model, which nvcc cannot build
        return f"{ours} the unedited program"
    ours += " gevolve's unedited build"
    if nvcc is not None:
        return f"{ours}, {nvcc.value:.4g}{_bounds(nvcc)} of the time of nvcc's"
    return f"{ours}; nvcc's is not compared: {build.why or 'it was not run on those cases'}"


def _bounds(interval: Interval) -> str:
    if interval.low == interval.high:
        return ""
    return f" ({interval.low:.4g} to {interval.high:.4g})"
