"""Where the time of a kernel goes, before and after: cycles by kind of wait and by source line.

A device that models a named GPU knows this of every launch. The variant and the unedited program are
run once more, on the largest search case, and their launches added up by kernel. A run keeps the costs
of its best variant, so that a view of it need not run anything.
"""

import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Self

import msgspec

from gevolve.device.base import Gpu, Limits, Stopped, Usage
from gevolve.device.cost import KernelCost
from gevolve.device.registry import itemizes
from gevolve.errors import EvaluationError, GevolveError, OptionError, SourceError
from gevolve.ir.llvm.names import demangle
from gevolve.run.run import Run, opened
from gevolve.system.confine import confine
from gevolve.system.limited import limited

_KEPT = "costs"
_SECONDS = 600.0


class Costs(msgspec.Struct, frozen=True, kw_only=True):
    """The unedited program and a variant side by side, by kernel."""

    variant: str
    device: str
    before: dict[str, KernelCost]
    after: dict[str, KernelCost]

    def readable(self) -> Self:
        """The same, with kernels by their names in the source: ``gemm<16>``, not ``_Z4gemmILi16EE…``."""
        return msgspec.structs.replace(
            self,
            before={demangle(kernel): cost for kernel, cost in self.before.items()},
            after={demangle(kernel): cost for kernel, cost in self.after.items()},
        )

    def json(self) -> str:
        """As one JSON object."""
        return msgspec.json.encode(self).decode()


class KeptCosts(msgspec.Struct, frozen=True):
    """What a run keeps of the costs of a variant."""

    costs: Costs | None = None
    obstacle: str = ""
    """Why there are none."""


_NOT_KEPT = KeptCosts(obstacle="`gevolve show --cost` works them out")


def costs(run: Run | str | Path, variant: str | None = None) -> Costs:
    """The costs of a variant of a run, by default its best, beside those of the unedited program.

    If the run does not have them, its workload is run.
    """
    with opened(run) as mine:
        if variant is None:
            best = mine.summary().best
            variant = best.id if best else "v0"
        mine.variant(variant)
        return kept_costs(mine, variant).costs or _costs_apart(mine, variant)


def kept_costs(run: Run, variant: str) -> KeptCosts:
    """The costs of a variant as the run keeps them; nothing is run."""
    return run.store.get(_KEPT, dict[str, KeptCosts], {}).get(variant, _NOT_KEPT)


def keep_costs(run: Run) -> None:
    """Work out the costs of the best variant, if the device knows any, and keep them in the store."""
    best = run.summary().best if itemizes(run.config.device) else None
    if best is None or kept_costs(run, best.id) is not _NOT_KEPT:
        return
    try:
        found = KeptCosts(_costs_apart(run, best.id))
    except GevolveError as error:
        found = KeptCosts(obstacle=str(error))
    known = run.store.get(_KEPT, dict[str, KeptCosts], {})
    run.store.set(_KEPT, {**known, best.id: found})


def _costs_apart(run: Run, variant: str) -> Costs:
    """The costs of a variant, worked out in a confined fork: it may crash, hang or take all memory."""
    device = run.device
    device.check_cost()

    def work() -> bytes:
        confine(device.writes, device.sockets)
        return msgspec.msgpack.encode(_costs(run, variant))

    try:
        data = limited(
            work, variant, seconds=_SECONDS, ended="its run ended", late="it was not done"
        )
    except SourceError as why:
        raise EvaluationError(f"its costs cannot be worked out here ({why})") from None
    return msgspec.msgpack.decode(data, type=Costs)


def _costs(run: Run, variant: str) -> Costs:
    patch = run.variant(variant).patch
    program, workload, device = run.program, run.workload, run.device
    case = workload.cases("search")[-1]

    def measure(text: str, limits: Limits) -> tuple[dict[str, KernelCost], Limits]:
        """The costs of a program, and what one that is like it may use."""
        usage = Usage()

        def work(gpu: Gpu) -> None:
            nonlocal usage
            with redirect_stdout(sys.stderr):  # what the user's code prints is no result
                workload.run(gpu, case)
            usage = gpu.usage(timed=False)

        try:
            cost = device.cost(device.build(text), work, limits)
        except Stopped as why:
            raise EvaluationError(
                f"{variant} does not run to its end here ({why}); `gevolve validate` checks it"
            ) from None
        if cost is None or not cost.kernels:
            raise OptionError(
                f"{run.config.device} knows no cycles; start the run with --device sim:a100"
            )
        return _by_layer(cost.kernels, device.layers(text)), Limits.like(usage)

    before, limits = measure(program.text, Limits())
    after, _ = measure(program.apply(patch).text, limits)
    return Costs(variant=variant, device=run.config.device, before=before, after=after)


def _by_layer(
    kernels: Mapping[str, KernelCost], layers: Mapping[str, Mapping[str, float]]
) -> dict[str, KernelCost]:
    """The costs of kernels, parted among the operations of a model that each is launched for."""
    found = dict(kernels)
    for name in found.keys() & layers.keys():
        kinds = found[name].kinds
        lines = {
            layer: {kind: share * spent for kind, spent in kinds.items()}
            for layer, share in layers[name].items()
        }
        found[name] = msgspec.structs.replace(found[name], lines=lines)
    return found
