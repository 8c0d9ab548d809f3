"""Where the time of a kernel goes, before and after: cycles by kind of wait and by source line.

A device that models a named GPU knows this of every launch. The variant and the unedited program are
run once more, on the largest search case, and their launches added up by kernel.
"""

from pathlib import Path
from typing import Self

import msgspec

from gevolve.device.base import Gpu, Limits, Stopped, Usage
from gevolve.device.cost import KernelCost
from gevolve.errors import EvaluationError, OptionError
from gevolve.ir.llvm.names import demangle
from gevolve.run.run import Run, opened


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


def costs(run: Run | str | Path, variant: str | None = None) -> Costs:
    """The costs of a variant of a run, by default its best, beside those of the unedited program."""
    with opened(run) as mine:
        if variant is None:
            best = mine.summary().best
            variant = best.id if best else "v0"
        return _costs(mine, variant)


def _costs(run: Run, variant: str) -> Costs:
    patch = run.variant(variant).patch
    program, workload, device = run.program, run.workload, run.device
    case = workload.cases("search")[-1]

    def measure(text: str, limits: Limits) -> tuple[dict[str, KernelCost], Limits]:
        """The costs of a program, and what one that is like it may use."""
        usage = Usage()

        def work(gpu: Gpu) -> None:
            nonlocal usage
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
        return dict(cost.kernels), Limits.like(usage)

    before, limits = measure(program.text, Limits())
    after, _ = measure(program.apply(patch).text, limits)
    return Costs(variant=variant, device=run.config.device, before=before, after=after)
