"""The runs that a variant has to make on a split, in the order that finds faults soonest."""

from gevolve.device.base import Device
from gevolve.evaluate.child.main import Problem
from gevolve.evaluate.protocol import CaseRun
from gevolve.evaluate.worker import growing
from gevolve.evaluate.worker.baseline import Unedited
from gevolve.evaluate.worker.checks import REPORTED
from gevolve.workload.base import Split


def runs(problem: Problem, split: Split, unedited: Unedited) -> list[CaseRun]:
    """Each case, watched, and with other poisons; then in other orders of threads.

    A check comes before another poison, because it tells what is wrong and where. A case in parts is run
    portion by portion, and its time is asked for when all of it was right.
    """
    device, plan = problem.device, list[CaseRun]()
    for case, expected in enumerate(unedited.expected):
        plan += growing.planned(problem, split, case, expected.limits)
        plan += unedited.checks.runs(case, first=True)
        for poison in range(1, _poisons(device, split, unedited, case)):
            timed = (
                (case, poison) == (0, 1) and device.deterministic and not _told(device, unedited)
            )
            plan.append(CaseRun(case, expected.limits, poison=poison, timed=timed))
    for case in range(len(unedited.expected)):
        plan += unedited.checks.runs(case, first=False)
    return plan


def _poisons(device: Device, split: Split, unedited: Unedited, case: int) -> int:
    """How many poisons a case is run with.

    In a search two will do, on the smallest case, where a check tells whether anything depends on what is
    in empty memory; and one where nothing can. What is reported is run again in any case.
    """
    if split in REPORTED:
        return device.poisons
    if case or not device.sees_empty:
        return 1
    few = split == "large" or _told(device, unedited)
    return min(2, device.poisons) if few else device.poisons


def _told(device: Device, unedited: Unedited) -> bool:
    """Whether a check tells of everything that depends on what is in empty memory."""
    return bool(device.on_doubt) and device.on_doubt <= unedited.checks.by_name.keys()
