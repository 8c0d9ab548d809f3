"""Whether the unedited kernels of the suite do what their references say, on random cases, without a hazard.

    python -m benchmarks.cases [NAME …]

GEVOLVE_BENCH_CASES sets how many cases of each workload, a hundred by default: as many of the search's sizes as of the
held-out ones. A workload whose data is not there is left out.
"""

import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

from gevolve.device.base import Limits, Stopped
from gevolve.device.registry import open_device
from gevolve.errors import WorkloadError
from gevolve.results.plan import select
from gevolve.suite.svm import EPS, SvmWorkload
from gevolve.workload.base import Array, Case
from gevolve.workload.error import rough_error
from gevolve.workload.kernel import KernelWorkload
from gevolve.workload.locate import locate

CASES = int(os.environ.get("GEVOLVE_BENCH_CASES", "100"))
SEED = 0xCA5E
CLOSE = {
    "tuned.hotspot": 2e-6,
    "tuned.reduction": 2e-6,
    "tuned.gemm": 5e-6,
    "papers.hotspot": 2e-6,
    "papers.hotspot3d": 2e-6,
    "papers.lavamd": 1e-9,
    "papers.particlefilter": 1e-9,
    "papers.nbody": 2e-5,
    "papers.srad": 2e-5,
    "papers.gaussian": 2e-5,
    "papers.lud": 2e-5,
    "papers.cfd": 2e-5,
    "papers.streamcluster": 3e-5,
    "papers.tracking": 1e-4,
    "papers.nn": 1e-6,
}
"""How far outputs may be from a reference that is computed otherwise; else 1e-5."""
MARGIN = 0.01
"""A support vector with less than this part of C may be one of only one of two machines."""


def draw(workload: KernelWorkload, count: int) -> Iterator[Case]:
    """Cases that no run ever uses: their seeds are of another kind."""
    for number in range(count):
        rng = np.random.default_rng([SEED, number])
        yield workload.case(rng, "held-out" if number % 2 else "search")


def faults(name: str, count: int) -> list[str]:
    """What is wrong with a workload on so many cases; nothing, if all is well."""
    workload: Any = locate(name)
    device = open_device("sim")
    artefact = device.build(workload.load().text)
    found: dict[str, None] = {}
    for number, case in enumerate(draw(workload, count)):
        gpu: Any = device.open(artefact, Limits(), check="hazards")
        try:
            got = _named(workload.run(gpu, case))
            hazards = gpu.usage(timed=False).hazards
        finally:
            gpu.close()
        found |= dict.fromkeys(str(hazard) for hazard in hazards)
        judge = _svm if isinstance(workload, SvmWorkload) else _disagreement
        if words := judge(workload, got, case):
            found[f"case {number}: {words}"] = None
    return list(found)


def agrees(workload: Any, got: dict[str, Array], want: dict[str, Array]) -> bool:
    """Whether outputs are as near to the reference as other rounding would leave them."""
    name = ".".join(type(workload).__module__.split(".")[-2:])
    limit = CLOSE.get(name, 1e-5) if workload.rounding is None else workload.rounding
    if not workload.elementwise:
        return workload.measure(got, want, None) <= limit
    return all(
        np.all(np.isfinite(array)) and rough_error(array, want[key]) <= limit
        for key, array in got.items()
    )


def _disagreement(workload: Any, got: dict[str, Array], case: Case) -> str:
    """How outputs differ from the reference; nothing, if only by rounding."""
    if workload.reference is None:  # labels say what is right
        return "" if all(np.all(np.isfinite(array)) for array in got.values()) else "not finite"
    want = _named(workload.reference(case))
    form = {key: (array.shape, array.dtype) for key, array in want.items()}
    if {key: (array.shape, array.dtype) for key, array in got.items()} != form:
        return "outputs of another form than the reference's"
    if agrees(workload, got, want):
        return ""
    return f"differs by {max(rough_error(got[key], want[key]) for key in want):.3g}"


def _svm(_workload: Any, got: dict[str, Array], case: Case) -> str:
    """How a trained machine differs from scikit-learn's."""
    from sklearn.svm import SVC  # noqa: PLC0415  (to import it takes a second, and few need it)

    theirs: Any = SVC(C=case.c, gamma=case.gamma, tol=EPS).fit(case.x.T, case.y)
    alpha = np.zeros(case.y.size)
    alpha[theirs.support_] = np.abs(theirs.dual_coef_[0])
    other = (alpha > 0) != (got["alpha"] > 0)
    if np.any(np.maximum(alpha, got["alpha"])[other] > MARGIN * case.c):
        return f"{np.count_nonzero(other)} support vectors are others than scikit-learn's"
    off = float(np.max(np.abs(got["decisions"] - theirs.decision_function(case.z.T))))
    return f"decisions differ by {off:.3g}" if off > 10 * EPS else ""


def _named(outputs: Any) -> dict[str, Array]:
    return outputs if isinstance(outputs, dict) else {"out": outputs}


def judged(name: str) -> tuple[str, list[str], float]:
    """A workload, what is wrong with it, and the seconds that it took."""
    began = time.perf_counter()
    try:
        found = faults(name, CASES)
    except WorkloadError as error:
        return name, [f"left out: {error}"], 0.0
    except Stopped as error:
        found = [f"{error.verdict}: {error}"]
    return name, found, time.perf_counter() - began


def main(*names: str) -> None:
    kernels = [one for one in select(names or ("papers", "tuned")) if not one.startswith("models/")]
    well = True
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for name, found, seconds in pool.map(judged, kernels):
            print(f"{name:24} {seconds:7.1f} s  {'; '.join(found) or 'all well'}", flush=True)
            well &= not found or found[0].startswith("left out")
    print(f"{CASES} cases of each: {'all well' if well else 'something is wrong'}")
    if not well:
        sys.exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
