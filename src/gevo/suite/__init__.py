"""The workloads that the project measures itself on, by name."""

SUITE: dict[str, str] = {
    "hotspot": "2-D heat stencil, several time steps a launch in shared-memory tiles",
    "pathfinder": "dynamic programming over the rows of a grid, double-buffered in shared memory",
    "gemm": "matrix product, tiled in shared memory and blocked in registers",
    "reduction": "sum of a vector by warp shuffles, in two stages",
    "histogram": "byte counts with shared atomics per warp and global atomics per block",
    "bfs": "breadth-first search, two kernels in a host loop that reads a flag",
}
"""What each workload is, in one line. `gevo.find.find` makes the workload of a name."""
