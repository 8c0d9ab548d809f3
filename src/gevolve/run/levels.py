"""A search of two levels: first the graph of a model, then the hottest kernels of the best variant found.

Both are one run with one store and one front. The second search begins at the fastest variant of the first,
where its kernels are read; each of its patches is that variant's, and then edits of kernels.
"""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from gevolve.device.base import Limits, Stopped
from gevolve.device.cost import KernelCode
from gevolve.device.registry import shows_kernels
from gevolve.errors import EvaluationError, OptionError
from gevolve.ir.levels import PREFIX
from gevolve.search import Problem, search_kind
from gevolve.search.based import BasedSearch
from gevolve.system.confine import confine
from gevolve.system.limited import limited

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gevolve.patch import Patch
    from gevolve.run.run import Run
    from gevolve.run.store import Generation
    from gevolve.search import Settings

GRAPH_SHARE = 0.5
"""The part of the budget after which kernels are searched, at the end of a generation."""
MOST = 8
"""Kernels that are edited, the hottest ones."""
COOL = 0.01
"""A kernel with less than this share of the cycles is not edited."""
_NAME = "kernels"
_SECONDS = 600.0


class KernelStage(msgspec.Struct, frozen=True):
    """Where the search of kernels began."""

    base: int
    """The variant that it began at."""
    first: int
    """Its first generation."""
    kernels: dict[str, KernelCode]
    """All kernels of that variant, by name."""

    @property
    def hottest(self) -> dict[str, float]:
        """The share of the cycles of each kernel that is edited."""
        total = sum(one.cycles for one in self.kernels.values()) or 1.0
        shares = {name: one.cycles / total for name, one in self.kernels.items()}
        order = sorted(shares, key=lambda name: (-shares[name], name))
        return {name: shares[name] for name in order[:MOST] if shares[name] >= COOL}


def read_stage(run: Run) -> KernelStage | None:
    """Where the search of kernels began, if it did."""
    nothing = KernelStage(-1, 0, {})
    stage = run.store.get(_NAME, KernelStage, nothing)
    return None if stage.base < 0 else stage


def is_wanted(run: Run) -> bool:
    """Whether kernels are to be searched and are not yet."""
    return "kernels" in run.config.levels and read_stage(run) is None


def is_due(run: Run, generation: int, seconds: float) -> bool:
    """Whether kernels are to be searched from this generation on, after so much time.

    Only evaluations of generations that are over count: a run that was stopped in the middle of one must go through
    with it first, as it would have done.
    """
    if not is_wanted(run):
        return False
    evals, most = run.config.budget
    over = run.store.count(until=generation) - 1
    spent = over >= GRAPH_SHARE * evals or seconds >= GRAPH_SHARE * most
    return spent or "graph" not in run.config.levels


def begin(run: Run, base: int, generation: int) -> KernelStage:
    """Begin to search the kernels of a variant."""
    stage = KernelStage(base, generation, _kernels_of(run, run.store.variant(base).patch))
    if not stage.hottest:
        raise OptionError(
            f"--levels has kernels, and {run.config.device} makes none that can be edited of this program;"
            " use an iree device, such as iree:a100"
        )
    run.store.set(_NAME, stage)
    run.know_kernels()
    return stage


def kernel_search(run: Run, stage: KernelStage, last: Generation | None) -> BasedSearch:
    """The search of kernels, new or from where it was."""
    from gevolve.ir.kernels import Kernels  # noqa: PLC0415  (LLVM loads when kernels are searched)

    base = run.store.variant(stage.base)
    texts = {name: one.llvm for name, one in stage.kernels.items()}
    problem = Problem(
        program=Kernels(texts, stage.hottest),
        profile=None,
        unedited=base.evaluation,
        seed=run.config.seed,
    )
    settings = level_settings(run.settings, kernels=True)
    algorithm = search_kind(run.config.search, settings)
    if last is None or last.number <= stage.first:
        return BasedSearch.start(algorithm, problem, settings, base.patch)
    judged = (
        (row.patch, row.evaluation)
        for row in run.store.evaluations(until=last.number)
        if row.generation >= stage.first
    )
    return BasedSearch.restore(algorithm, problem, settings, base.patch, last.state, judged)


def level_settings(settings: Settings, *, kernels: bool) -> Settings:
    """The settings of one level: of the edit kinds that they name, those that it has."""

    def fits(name: str) -> bool:
        return name == "paper" or name.removeprefix("-").startswith(PREFIX) is kernels

    return replace(settings, edits=tuple(filter(fits, settings.edits)))


def check_levels(levels: Sequence[str], device: str) -> None:
    """Raise `OptionError` if a device has not all of these levels."""
    if "kernels" in levels and not shows_kernels(device):
        raise OptionError(
            f"--levels has kernels, and {device} shows none of a model; use --device iree:a100"
        )


def _kernels_of(run: Run, patch: Patch) -> dict[str, KernelCode]:
    """The kernels of a variant, in a confined fork: it may crash, hang or take all memory."""
    device, workload = run.device, run.workload
    device.check_cost()

    def work() -> bytes:
        confine(device.writes, device.sockets)
        artefact = device.build(run.program.apply(patch).text)
        case = workload.cases("search")[0]
        part = workload.some(case, [0]) if workload.parts(case) > 1 else case

        def once(handle: Any) -> None:
            with redirect_stdout(sys.stderr):  # what the user's code prints is no result
                workload.run(handle, part)

        try:
            return msgspec.msgpack.encode(device.kernels(artefact, once, Limits()))
        except Stopped as why:
            raise EvaluationError(
                f"the kernels of the best variant cannot be had ({why})"
            ) from None

    data = limited(work, "its kernels", seconds=_SECONDS, ended="the run ended", late="not done")
    return msgspec.msgpack.decode(data, type=dict[str, KernelCode])
