"""How closely the programs of the suite agree with their references, which are computed otherwise."""

import numpy as np

from gevolve.workload.error import rough_error

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
    "papers.tracking": 1e-4,
    "papers.nn": 1e-6,
}


def agrees(workload, got, want):
    """Whether outputs are as near to the reference as other rounding would leave them."""
    name = ".".join(type(workload).__module__.split(".")[-2:])
    limit = CLOSE.get(name, 1e-5) if workload.rounding is None else workload.rounding
    if not workload.elementwise:
        return workload.measure(got, want, None) <= limit
    return all(
        np.all(np.isfinite(array)) and rough_error(array, want[key]) <= limit
        for key, array in got.items()
    )
