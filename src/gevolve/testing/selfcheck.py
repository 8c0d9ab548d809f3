"""Runs the suite's kernels on a GPU and on `sim`, and compares outputs and times.

``python -m gevolve.testing.selfcheck cuda:0`` prints a line for each kernel source, or for those that are
named after it. It is for someone who has a GPU at hand that nobody tested gevolve on.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, cast

import numpy as np

from gevolve.device.base import Array, Device, Handle, Limits, Stopped
from gevolve.device.cuda import Cuda
from gevolve.device.registry import open_device
from gevolve.errors import DeviceError, GevolveError
from gevolve.ir.llvm.names import demangle
from gevolve.suite import TUNED
from gevolve.workload.base import Case, Workload
from gevolve.workload.kernel import relative_error
from gevolve.workload.locate import locate

_REPEATS = 10
"""Runs in each of two halves, whose least times are compared."""


class WorkloadCheck(NamedTuple):
    """How one workload of the suite did."""

    workload: str
    resources: str
    microseconds: float
    """The least time of all launches of one run."""
    noise: float
    """How far apart the least times of two equal halves are."""
    error: float
    """How far the outputs are from those on `sim`."""

    @property
    def good(self) -> bool:
        return self.error < 1e-3


def check(device: Cuda, names: Iterable[str] = TUNED) -> Iterator[WorkloadCheck]:
    """Run these workloads of the suite, each on one of its search cases."""
    sim = open_device("sim")
    for name in names:
        workload = locate(name)
        artefact = device.build(workload.load().text)
        case = workload.cases("search")[-1]
        device.prepare(artefact, ())
        want, _ = _run(sim, artefact, workload, case)
        got, _ = _run(device, artefact, workload, case)
        halves: tuple[list[float], list[float]] = ([], [])
        for turn in range(2 * _REPEATS):
            halves[turn % 2].append(_run(device, artefact, workload, case)[1])
        one, other = map(min, halves)
        yield WorkloadCheck(
            workload=name,
            resources=_resources(device, artefact),
            microseconds=1e6 * min(one, other),
            noise=abs(one / other - 1),
            error=max(relative_error(mine, yours) for mine, yours in zip(got, want, strict=True)),
        )


def _run(
    device: Device, artefact: bytes, workload: Workload, case: Case
) -> tuple[list[Array], float]:
    """The outputs and the time of one run."""
    handle: Handle = device.open(artefact, Limits())
    try:
        outputs: Any = workload.run(handle, case)
        time = handle.usage().time
    finally:
        handle.close()
    return _arrays(outputs), time


def _arrays(outputs: Any) -> list[Array]:
    if isinstance(outputs, Mapping):
        return [np.asarray(one) for one in cast("Mapping[str, Any]", outputs).values()]
    several = cast("tuple[Any, ...]", outputs if isinstance(outputs, tuple) else (outputs,))
    return [np.asarray(one) for one in several]


def _resources(device: Cuda, artefact: bytes) -> str:
    """The registers of each kernel, such as ``expand 22, advance 14``."""
    return ", ".join(
        f"{demangle(name)} {one.registers}"
        + f" (spills {one.spill_stores} B)" * bool(one.spill_stores)
        for name, one in device.resources(artefact).items()
    )


def main(arguments: list[str]) -> int:
    """Print a line for each workload; 0 if all is well."""
    well = True
    try:
        device = open_device(arguments[0] if arguments else "cuda:0")
        if not isinstance(device, Cuda):
            raise DeviceError(f"{device.name} is no NVIDIA GPU; give cuda:0")
        print(f"{'workload':12} {'time':>10} {'noise':>7} {'error':>8}  registers")
        for line in check(device, arguments[1:] or TUNED):
            well &= line.good
            print(
                f"{line.workload:12} {line.microseconds:7.1f} us {line.noise:7.1%} {line.error:8.1g}"
                f"  {line.resources}" + "  WRONG" * (not line.good)
            )
    except (GevolveError, Stopped) as error:
        print(f"gevolve: {error}", file=sys.stderr)
        return 2
    print("all kernels do on this GPU what they do on sim" if well else "some kernels are wrong")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
