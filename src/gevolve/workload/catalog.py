"""The workloads that have a name: those of the suite, which the project measures itself on.

Only names are here; `gevolve.workload.locate.locate` imports the module of a name.
"""

KERNELS: dict[str, str] = {
    "hotspot": "2-D heat stencil, several time steps a launch in shared-memory tiles",
    "pathfinder": "dynamic programming over the rows of a grid, double-buffered in shared memory",
    "gemm": "matrix product, tiled in shared memory and blocked in registers",
    "reduction": "sum of a vector by warp shuffles, in two stages",
    "histogram": "byte counts with shared atomics per warp and global atomics per block",
    "bfs": "breadth-first search, two kernels in a host loop that reads a flag",
}

PAPERS: dict[str, str] = {
    "papers/backprop": "a layer of a neural network: forward pass and weight update",
    "papers/bfs": "breadth-first search, two kernels for each level",
    "papers/btree": "look-ups of keys and of ranges in a B+ tree",
    "papers/cfd": "air around a body: Euler equations by finite volumes, four kernels",
    "papers/gaussian": "linear equations by Gaussian elimination",
    "papers/tracking": "points of a heart's wall followed through images, by template matching",
    "papers/hotspot": "temperature of a chip, several steps a launch in tiles",
    "papers/hotspot3d": "temperature of a chip of several layers",
    "papers/kmeans": "each point to its nearest centre",
    "papers/lavamd": "forces between particles in neighbouring boxes, in double precision",
    "papers/lud": "LU decomposition, block by block",
    "papers/nn": "distances of many records from a place",
    "papers/nw": "global alignment of two sequences along the diagonals",
    "papers/particlefilter": "a target followed by a particle filter, in double precision",
    "papers/pathfinder": "cheapest paths through a grid, several rows a launch",
    "papers/srad": "speckles removed by anisotropic diffusion, six kernels",
    "papers/streamcluster": "what a new centre would save, point by point",
    "papers/svm": "training of a support vector machine on breast-cancer data",
    "papers/svm-a9a": "the same on a9a (GEVOLVE_DATA)",
    "papers/svm-mnist": "the same on MNIST (GEVOLVE_DATA)",
    "papers/alignment": "local alignment of DNA, a warp for each pair, by shuffles",
    "papers/lung": "an agent-based model of an infection in lung tissue",
    "papers/spmv": "sparse matrix times vector, by threads and by warps",
    "papers/nbody": "stars that attract each other, all pairs",
    "papers/conv2d": "a picture filtered by a small window",
    "papers/transpose": "a matrix transposed, straight and through shared memory",
    "papers/scan": "running sums of a long vector",
}

MODELS: dict[str, str] = {
    "2fcnet": "training of two dense layers by SGD, on MNIST (GEVOLVE_DATA) or 8x8 digits",
    "mobilenet": "prediction of CIFAR-10 classes (GEVOLVE_DATA) by a trained MobileNet",
    "mobilenet-small": "prediction of 8x8 digits by a tiny MobileNet",
}

SUITE: dict[str, str] = KERNELS | PAPERS | MODELS
"""What each workload is, in one line."""

_MODULES = {"2fcnet": "twofcnet"}  # no module's name can begin with a digit


def suite() -> dict[str, str]:
    """The workloads that come with gevolve: what each is, in one line, by name."""
    return dict(SUITE)


def name_of(module: str) -> str | None:
    """The name of the workload in this module; None if it is not of the suite."""
    return next((name for name in SUITE if module_of(name) == module), None)


def module_of(name: str) -> str | None:
    """The module of the workload of this name, or None; a module's own name will do too."""
    for package, table in (("kernels", KERNELS), ("papers", PAPERS), ("models", MODELS)):
        for known in table:
            short = _MODULES.get(known, known).removeprefix(f"{package}/").replace("-", "_")
            module = f"gevolve.suite.{package}.{short}"
            if name in (known, short, module):
                return module
    return None
