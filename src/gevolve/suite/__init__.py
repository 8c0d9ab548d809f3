"""The workloads that the project measures itself on, by name."""

KERNELS: dict[str, str] = {
    "hotspot": "2-D heat stencil, several time steps a launch in shared-memory tiles",
    "pathfinder": "dynamic programming over the rows of a grid, double-buffered in shared memory",
    "gemm": "matrix product, tiled in shared memory and blocked in registers",
    "reduction": "sum of a vector by warp shuffles, in two stages",
    "histogram": "byte counts with shared atomics per warp and global atomics per block",
    "bfs": "breadth-first search, two kernels in a host loop that reads a flag",
}

MODELS: dict[str, str] = {
    "2fcnet": "training of two dense layers by SGD, on MNIST (GEVOLVE_DATA) or 8x8 digits",
    "mobilenet": "prediction of CIFAR-10 classes (GEVOLVE_DATA) by a trained MobileNet",
    "mobilenet-small": "prediction of 8x8 digits by a tiny MobileNet",
}

SUITE: dict[str, str] = KERNELS | MODELS
"""What each workload is, in one line. `gevolve.workload.locate.find` makes the workload of a name."""

_MODULES = {"2fcnet": "twofcnet"}  # no module's name can begin with a digit


def module_of(name: str) -> str | None:
    """The module of the workload of this name, or None; a module's own name will do too."""
    for package, table in (("kernels", KERNELS), ("models", MODELS)):
        for known in table:
            short = _MODULES.get(known, known).replace("-", "_")
            module = f"{__name__}.{package}.{short}"
            if name in (known, short, module):
                return module
    return None
