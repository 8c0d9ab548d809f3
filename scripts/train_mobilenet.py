"""Train a small MobileNet of the suite on the CPU, and write the weights that the package ships.

    XLA_FLAGS=--xla_force_host_platform_device_count=2 GEVOLVE_DATA=FOLDER \
        python scripts/train_mobilenet.py mobilenet-tiny --minutes 80
    python scripts/train_mobilenet.py mobilenet-small --minutes 1

Each device of JAX takes its share of every batch; the flag makes two of a CPU. The learning rate
follows the share of the time that is used up, so training ends well however busy the machine is.
After each pass over the images the state goes to `NAME.state.npz` here, from which the same command
goes on. glibc's tunables `glibc.malloc.mmap_threshold=8589934592:glibc.malloc.trim_threshold=
8589934592:glibc.malloc.hugetlb=1` in GLIBC_TUNABLES save a third of the time: pages stay mapped.

SGD with Nesterov's momentum, label smoothing, random crops and mirror images. The first part of the
time takes crops of 3/4 of the side, which cost half as much. A thousand training images are kept
out to watch progress; no test image is looked at before the end.
"""

import argparse
import time
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec
from layers import depthwise, norm

from gevolve.suite.datasets import Images, cifar10, digits
from gevolve.suite.models import weights
from gevolve.suite.models.mobilenet_small import TRAINED
from gevolve.workload.base import Case
from gevolve.workload.locate import locate

BATCH, DECAY, MOMENTUM, KEEP, SMOOTH = 128, 2e-4, 0.9, 0.98, 0.1
WARM, CROPPED = 0.08, 0.62
"""The shares of the time in which the rate rises, and in which crops are small."""
CLASSES = 10


class Net(NamedTuple):
    """How wide each layer is."""

    stem: int
    blocks: tuple[tuple[int, int], ...]
    """For each block the width inside and the width that it hands on."""
    head: int
    rate: float
    mirror: bool


NETS = {
    "mobilenet-tiny": Net(
        24,
        ((72, 48), (96, 48), (96, 48), (96, 48), (144, 96), (288, 96), (288, 96)),
        256,
        0.25,
        mirror=True,
    ),
    "mobilenet-small": Net(16, ((32, 16), (48, 32), (64, 32)), 64, 0.1, mirror=False),
}


def initial(net: Net, channels: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random weights, in the tree that `gevolve.suite.models.network` takes, each with its norm."""

    def layer(*shape: int, scale: float = 1.0) -> dict[str, Any]:
        w = rng.standard_normal(shape) * np.sqrt(2 / np.prod(shape[:-1]))
        return {
            "w": w.astype(np.float32),
            "scale": np.full(shape[-1], scale, np.float32),
            "b": np.zeros(shape[-1], np.float32),
        }

    blocks: list[dict[str, Any]] = []
    width = net.stem
    for wide, narrow in net.blocks:
        scale = 0.5 if narrow == width else 1.0
        blocks.append(
            {
                "widen": layer(width, wide),
                "each": layer(3, 3, wide),
                "narrow": layer(wide, narrow, scale=scale),
            }
        )
        width = narrow
    out = layer(net.head, CLASSES)
    return {
        "stem": layer(4, 4, channels, net.stem),
        "blocks": blocks,
        "head": layer(width, net.head),
        "out": {"w": out["w"] * np.float32(0.1), "b": out["b"]},
    }


def statistics(tree: Any) -> Any:
    """The mean and variance that each layer has seen, to begin with."""
    if isinstance(tree, list):
        return [statistics(part) for part in tree]
    if "scale" in tree:
        return {"mean": np.zeros_like(tree["b"]), "variance": np.ones_like(tree["b"])}
    return {name: statistics(part) for name, part in tree.items() if name != "out"}


def forward(tree: Any, seen: Any, images: Any) -> tuple[Any, Any]:
    """The scores of a batch in training, and the statistics after it."""

    def normed(layer: Any, before: Any, y: Any, relu: bool = True) -> tuple[Any, Any]:
        y, mean, inverse = norm(y, layer["scale"], layer["b"], relu)
        found = jax.lax.stop_gradient({"mean": mean, "variance": 1 / inverse**2 - 1e-5})
        return y, jax.tree.map(lambda a, b: KEEP * a + (1 - KEEP) * b, before, found)

    after: dict[str, Any] = {"blocks": []}
    x, after["stem"] = normed(
        tree["stem"], seen["stem"], product(patches(images), tree["stem"]["w"])
    )
    for block, before in zip(tree["blocks"], seen["blocks"], strict=True):
        keeps = block["narrow"]["w"].shape[1] == x.shape[-1]
        new: dict[str, Any] = {}
        y, new["widen"] = normed(block["widen"], before["widen"], product(x, block["widen"]["w"]))
        y = depthwise(y, block["each"]["w"], 1 if keeps else 2)
        y, new["each"] = normed(block["each"], before["each"], y)
        y = product(y, block["narrow"]["w"])
        y, new["narrow"] = normed(block["narrow"], before["narrow"], y, relu=False)
        x = x + y if keeps else y
        after["blocks"].append(new)
    x, after["head"] = normed(tree["head"], seen["head"], product(x, tree["head"]["w"]))
    return x.mean((1, 2)) @ tree["out"]["w"] + tree["out"]["b"], after


def patches(x: Any) -> Any:
    """The 4x4 pixels around every second one: the stem is a product with these."""
    around = jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    _, h, w, _ = x.shape
    shifts = [around[:, i : i + h : 2, j : j + w : 2] for i in range(4) for j in range(4)]
    return jnp.concatenate(shifts, -1)


def product(x: Any, w: Any) -> Any:
    flat = x.reshape(-1, x.shape[-1]) @ w.reshape(-1, w.shape[-1])
    return flat.reshape(*x.shape[:-1], -1)


def loss(tree: Any, seen: Any, images: Any, labels: Any) -> tuple[Any, Any]:
    scores, after = forward(tree, seen, images)
    wanted = jax.nn.one_hot(labels, CLASSES) * (1 - SMOOTH) + SMOOTH / CLASSES
    return -(wanted * jax.nn.log_softmax(scores)).sum(-1).mean(), after


def step(state: Any, images: Any, labels: Any, rate: Any) -> tuple[Any, Any]:
    """One step of SGD on a batch, of which each device has a part."""
    tree, speed, seen = state
    (value, seen), slope = jax.value_and_grad(loss, has_aux=True)(tree, seen, images, labels)
    value, seen, slope = jax.lax.pmean((value, seen, slope), "devices")
    slope = jax.tree.map(lambda g, w: g + DECAY * w if w.ndim in (2, 4) else g, slope, tree)
    speed = jax.tree.map(lambda v, g: MOMENTUM * v + g, speed, slope)
    tree = jax.tree.map(lambda w, v, g: w - rate * (MOMENTUM * v + g), tree, speed, slope)
    return (tree, speed, seen), value


def fold(tree: Any, seen: Any) -> Any:
    """The weights for prediction: each layer with its normalisation in it."""
    if isinstance(tree, list):
        return [fold(*parts) for parts in zip(tree, seen, strict=True)]
    if "scale" in tree:
        a = tree["scale"] / np.sqrt(seen["variance"] + 1e-5)
        return {"w": tree["w"] * a, "b": tree["b"] - seen["mean"] * a}
    return {name: part if name == "out" else fold(part, seen[name]) for name, part in tree.items()}


def cut(
    images: Any, some: Any, size: int, rng: np.random.Generator, *, border: int, mirror: bool
) -> Any:
    """A random square of each image, which has a border already, half of them mirrored."""
    side = images.shape[1]
    margin = 0 if size == side - 2 * border else border  # small squares leave the border out
    corners = rng.integers(margin, side - size - margin + 1, (2, len(some)))
    rows, columns = corners[..., None] + np.arange(size)
    if mirror:
        columns = np.where(rng.random(len(some))[:, None] < 0.5, columns[:, ::-1], columns)
    return images[some[:, None, None], rows[:, :, None], columns[:, None, :]]


def rate_at(share: float, net: Net) -> float:
    if share < WARM:
        return net.rate * (0.1 + 0.9 * share / WARM)
    return net.rate * 0.5 * (1 + float(np.cos(np.pi * (share - WARM) / (1 - WARM))))


def error(workload: Any, folded: Any, images: Images) -> float:
    """The share of images that prediction as it ships gets wrong."""
    predict = jax.jit(workload.program())
    scores = predict(folded, workload.normal(images.images))
    return workload.error(scores, Case(labels=images.labels))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("name", choices=NETS)
    options.add_argument("--minutes", type=float, required=True)
    given = options.parse_args()
    net, state_file = NETS[given.name], Path(f"{given.name}.state.npz")
    workload: Any = locate(given.name)
    if given.name == "mobilenet-tiny":
        everything, border = cifar10(*(f"data_batch_{n}" for n in range(1, 6))), 4
    else:
        everything, border = digits().part(0, TRAINED), 1
    watched = everything.part(0, len(everything.labels) // 50)
    around = ((0, 0), (border, border), (border, border), (0, 0))
    images = np.pad(everything.images, around, "reflect" if border > 1 else "constant")
    labels, side = everything.labels.astype(np.int32), everything.images.shape[1]

    rng = np.random.default_rng(1)
    tree = initial(net, images.shape[-1], rng)
    state: Any = (tree, jax.tree.map(np.zeros_like, tree), statistics(tree))
    leaves, structure = jax.tree.flatten(state)
    used, passes = 0.0, 0
    if state_file.exists():
        with np.load(state_file, allow_pickle=False) as file:
            state = structure.unflatten([file[f"arr_{n}"] for n in range(len(leaves))])
            used, passes = float(file["used"]), int(file["passes"])

    mesh = jax.make_mesh((jax.device_count(),), ("devices",))
    whole, parts = PartitionSpec(), PartitionSpec("devices")
    sharded = partial(jax.shard_map, mesh=mesh, check_vma=False, out_specs=(whole, whole))
    stepped = jax.jit(sharded(step, in_specs=(whole, parts, parts, whole)), donate_argnums=0)
    state = jax.device_put(state, NamedSharding(mesh, whole))
    share, mark = used, time.monotonic()
    while share < 1:
        order = rng.permutation(np.arange(len(watched.labels), len(labels)))
        values: list[Any] = []
        for start in range(0, len(order) - BATCH + 1, BATCH):
            share = min(1.0, used + (time.monotonic() - mark) / (60 * given.minutes))
            some = order[start : start + BATCH]
            size = side * 3 // 4 if share < CROPPED and side > 8 else side
            batch = workload.normal(cut(images, some, size, rng, border=border, mirror=net.mirror))
            split = jax.device_put((batch, labels[some]), NamedSharding(mesh, parts))
            state, value = stepped(state, *split, np.float32(rate_at(share, net)))
            values.append(value.block_until_ready())
            if share >= 1:
                break
        passes += 1
        tree, _, seen = jax.tree.map(np.asarray, state)
        np.savez(
            state_file, *jax.tree.leaves(jax.tree.map(np.asarray, state)), used=share, passes=passes
        )
        wrong = error(workload, fold(tree, seen), watched)
        print(
            f"pass {passes}: {share:.1%} of the time, loss {np.mean(values):.3f},"
            f" error {wrong:.3f} on {len(watched.labels)} kept out",
            flush=True,
        )
    tree, _, seen = jax.tree.map(np.asarray, state)
    path = Path(weights.__file__).with_name(workload.trained)
    weights.save(path, fold(tree, seen))
    case = workload.data("held-out")
    scores = jax.jit(workload.program())(*workload.arguments(case))
    print(f"{path.name}: error {workload.error(scores, case):.4f} on the held-out images")


if __name__ == "__main__":
    main()
