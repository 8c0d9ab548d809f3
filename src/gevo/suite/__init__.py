"""The workloads that the project measures itself on, by name."""

from importlib import import_module

from gevo.errors import WorkloadError
from gevo.workload import KernelWorkload

SUITE: dict[str, str] = {
    "hotspot": "2-D heat stencil, several time steps a launch in shared-memory tiles",
    "pathfinder": "dynamic programming over the rows of a grid, double-buffered in shared memory",
    "gemm": "matrix product, tiled in shared memory and blocked in registers",
    "reduction": "sum of a vector by warp shuffles, in two stages",
    "histogram": "byte counts with shared atomics per warp and global atomics per block",
    "bfs": "breadth-first search, two kernels in a host loop that reads a flag",
}
"""What each workload is, in one line."""


def suite_workload(name: str) -> KernelWorkload:
    """The workload of this name."""
    if name not in SUITE:
        raise WorkloadError(f"no workload {name!r} in the suite; it has {', '.join(SUITE)}")
    module = import_module(f"gevo.suite.kernels.{name}")
    return getattr(module, name.capitalize())()
