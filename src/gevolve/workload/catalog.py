"""The workloads that have a name: those of the suite, which the project measures itself on.

A name is ``GROUP/NAME``. Only names are here; `gevolve.workload.locate.locate` imports the module of a name.
"""

GROUPS: dict[str, dict[str, str]] = {
    "papers": {
        "backprop": "a layer of a neural network: forward pass and weight update",
        "bfs": "breadth-first search, two kernels for each level",
        "btree": "look-ups of keys and of ranges in a B+ tree",
        "cfd": "air around a body: Euler equations by finite volumes, four kernels",
        "gaussian": "linear equations by Gaussian elimination",
        "tracking": "points of a heart's wall followed through images, by template matching",
        "hotspot": "temperature of a chip, several steps a launch in tiles",
        "hotspot3d": "temperature of a chip of several layers",
        "kmeans": "each point to its nearest centre",
        "lavamd": "forces between particles in neighbouring boxes, in double precision",
        "lud": "LU decomposition, block by block",
        "nn": "distances of many records from a place",
        "nw": "global alignment of two sequences along the diagonals",
        "particlefilter": "a target followed by a particle filter, in double precision",
        "pathfinder": "cheapest paths through a grid, several rows a launch",
        "srad": "speckles removed by anisotropic diffusion, six kernels",
        "streamcluster": "what a new centre would save, point by point",
        "svm": "training of a support vector machine on breast-cancer data",
        "svm-a9a": "the same on a9a (GEVOLVE_DATA)",
        "svm-mnist": "the same on MNIST (GEVOLVE_DATA)",
        "resnet18": "classes of CIFAR-10 images (GEVOLVE_DATA) by a trained ResNet18, layer by layer",
        "alignment": "local alignment of DNA, a warp for each pair, by shuffles",
        "lung": "an agent-based model of an infection in lung tissue",
        "spmv": "sparse matrix times vector, by threads and by warps",
        "nbody": "stars that attract each other, all pairs",
        "conv2d": "a picture filtered by a small window",
        "transpose": "a matrix transposed, straight and through shared memory",
        "scan": "running sums of a long vector",
    },
    "tuned": {
        "hotspot": "2-D heat stencil, several time steps a launch in shared-memory tiles",
        "pathfinder": "dynamic programming over the rows of a grid, double-buffered in shared memory",
        "gemm": "matrix product, tiled in shared memory and blocked in registers",
        "reduction": "sum of a vector by warp shuffles, in two stages",
        "histogram": "byte counts with shared atomics per warp and global atomics per block",
        "bfs": "breadth-first search, two kernels in a host loop that reads a flag",
    },
    "models": {
        "2fcnet": "training of two dense layers by SGD, on MNIST (GEVOLVE_DATA) or 8x8 digits",
        "2fcnet-paper": "the same in one pass at a rate that is too small, as in the paper",
        "mobilenet": "prediction of CIFAR-10 classes (GEVOLVE_DATA) by a MobileNet of 17 blocks",
        "mobilenet-tiny": "the same by a MobileNet of seven blocks",
        "mobilenet-small": "prediction of 8x8 digits by a MobileNet of three blocks",
        "resnet18": "prediction of CIFAR-10 classes (GEVOLVE_DATA) by the ResNet18 of papers/resnet18",
    },
}
"""What each workload is, in one line, by group and by name; of two with one name the first is meant."""


def _group(group: str) -> dict[str, str]:
    return {f"{group}/{name}": line for name, line in GROUPS[group].items()}


PAPERS, TUNED, MODELS = map(_group, ("papers", "tuned", "models"))
SUITE: dict[str, str] = PAPERS | TUNED | MODELS
"""What each workload is, in one line, by its full name."""

_MODULES = {
    "2fcnet": "twofcnet",
    "2fcnet-paper": "twofcnet_paper",
}  # no module's name can begin with a digit


def suite() -> dict[str, str]:
    """The workloads that come with gevolve: what each is, in one line, by name."""
    return dict(SUITE)


def full_name(name: str) -> str | None:
    """The full name of a workload of the suite, whose group may be left out; None if there is none."""
    if name in SUITE:
        return name
    return next(
        (full for full in SUITE if name in (full.partition("/")[2], _module(full).split(".")[-1])),
        None,
    )


def name_of(module: str) -> str | None:
    """The name of the workload in this module; None if it is not of the suite."""
    return next((name for name in SUITE if _module(name) == module), None)


def module_of(name: str) -> str | None:
    """The module of the workload of this name, or None; a module's own name will do too."""
    known = full_name(name) or name_of(name)
    return known and _module(known)


def _module(full: str) -> str:
    group, _, name = full.partition("/")
    return f"gevolve.suite.{group}.{_MODULES.get(name, name).replace('-', '_')}"
