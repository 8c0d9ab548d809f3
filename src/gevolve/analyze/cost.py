"""Where the time of a kernel goes, before and after: cycles by kind of wait and by source line.

A device that models a named GPU knows this of every launch. The variant and the unedited program are
run once more, on the largest search case, and their launches added up by kernel.
"""

from pathlib import Path

import msgspec

from gevolve.device.base import Gpu, Limits, Stopped, Usage
from gevolve.device.cost import KernelCost
from gevolve.device.registry import open_device
from gevolve.errors import EvaluationError, OptionError
from gevolve.ir.llvm import restore
from gevolve.run.config import read_config
from gevolve.run.loop import summarise
from gevolve.run.store import Store, parse_id
from gevolve.workload.locate import load_workload


class Costs(msgspec.Struct, frozen=True, kw_only=True):
    """The unedited program and a variant side by side, by kernel."""

    variant: str
    device: str
    before: dict[str, KernelCost]
    after: dict[str, KernelCost]

    def json(self) -> str:
        """As one JSON object."""
        return msgspec.json.encode(self).decode()


def costs(run: str | Path, variant: str | None = None) -> Costs:
    """The costs of a variant of a run, by default its best, beside those of the unedited program."""
    folder = Path(run)
    if variant is None:
        best = summarise(folder).best
        variant = best.id if best else "v0"
    with Store.open(folder, readonly=True) as store:
        return costs_in(store, variant)


def costs_in(store: Store, variant: str) -> Costs:
    """The same of a run that is open."""
    config = read_config(store)
    program = restore(store.program_text)
    patch = store.variant(parse_id(variant)).patch
    workload = load_workload(config.spec)
    device = open_device(config.device)
    case = workload.cases("search")[-1]

    def measure(text: str, limits: Limits) -> tuple[dict[str, KernelCost], Limits]:
        """The costs of a program, and what one that is like it may use."""
        usage = Usage()

        def run(gpu: Gpu) -> None:
            nonlocal usage
            workload.run(gpu, case)
            usage = gpu.usage(timed=False)

        try:
            cost = device.cost(device.build(text), run, limits)
        except Stopped as why:
            raise EvaluationError(
                f"{variant} does not run to its end here ({why}); `gevolve validate` checks it"
            ) from None
        if cost is None or not cost.kernels:
            raise OptionError(
                f"{config.device} knows no cycles; start the run with --device sim:p100"
            )
        return dict(cost.kernels), Limits.like(usage)

    before, limits = measure(program.text, Limits())
    after, _ = measure(program.apply(patch).text, limits)
    return Costs(variant=variant, device=config.device, before=before, after=after)
