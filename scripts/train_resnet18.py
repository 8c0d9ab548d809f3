"""Train the ResNet18 of the suite on CIFAR-10, and write the weights that the package ships.

    pip install torch
    GEVOLVE_DATA=FOLDER python scripts/train_resnet18.py --minutes 40

PyTorch, which only this script needs, trains convolutions on a CPU in half the time that JAX takes.
The learning rate follows the share of the time that is used up, so training ends well however busy
the machine is. After each pass over the images the state goes to `resnet18.state.npz` here, from
which the same command goes on. glibc's tunables `glibc.malloc.mmap_threshold=8589934592:
glibc.malloc.trim_threshold=8589934592:glibc.malloc.hugetlb=1` in GLIBC_TUNABLES save a third of it.

SGD with Nesterov's momentum, label smoothing, random crops and mirror images; the first part of the
time takes crops of 3/4 of the side, which cost half as much. A thousand training images are kept out
to watch progress; no test image is looked at before the end.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from gevolve.suite.datasets import cifar10
from gevolve.suite.models import weights

WIDTH, CLASSES = 8, 10
BATCH, RATE, DECAY, MOMENTUM, SMOOTH = 128, 0.2, 1e-4, 0.9, 0.05
WARM, CROPPED = 0.1, 0.6
"""The shares of the time in which the rate rises, and in which crops are small."""
BORDER, WATCHED = 4, 1000
MEAN, SPREAD = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)
STATE = Path("resnet18.state.npz")
TRAINED = Path(weights.__file__).parents[1] / "papers" / "resnet18.npz"


class Layer(nn.Module):
    """A convolution and its normalization."""

    def __init__(self, inputs: int, outputs: int, side: int, stride: int) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(inputs, outputs, side, stride, side // 2, bias=False)
        self.norm = nn.BatchNorm2d(outputs)

    def forward(self, x: Any) -> Any:
        return self.norm(self.convolution(x))

    def tree(self) -> dict[str, Any]:
        norm = self.norm
        return {
            "w": self.convolution.weight,
            "scale": norm.weight,
            "b": norm.bias,
            "mean": norm.running_mean,
            "variance": norm.running_var,
        }


class Block(nn.Module):
    """Two layers, added to what came in; the first may halve the image and widen it."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.first = Layer(inputs, outputs, 3, stride)
        self.second = Layer(outputs, outputs, 3, 1)
        self.short = None if stride == 1 else Layer(inputs, outputs, 1, stride)

    def forward(self, x: Any) -> Any:
        y = self.second(torch.relu(self.first(x)))
        return torch.relu(y + (x if self.short is None else self.short(x)))

    def tree(self) -> dict[str, Any]:
        layers = {"first": self.first, "second": self.second, "short": self.short}
        return {name: layer.tree() for name, layer in layers.items() if layer is not None}


class ResNet18(nn.Module):
    """A ResNet of eighteen layers with weights, narrow, for images of 32x32."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = Layer(3, WIDTH, 3, 1)
        widths = [WIDTH << stage for stage in range(4) for _ in range(2)]
        before = [WIDTH, *widths[:-1]]
        pairs = zip(before, widths, strict=True)
        self.blocks = nn.ModuleList(Block(i, o, 1 if i == o else 2) for i, o in pairs)
        self.out = nn.Linear(widths[-1], CLASSES)

    def forward(self, x: Any) -> Any:
        x = nn.functional.max_pool2d(torch.relu(self.stem(x)), 3, 2, 1)
        for block in self.blocks:
            x = block(x)
        return self.out(x.mean((2, 3)))

    def tree(self) -> dict[str, Any]:
        """The weights as they ship."""
        blocks: Any = self.blocks
        return {
            "stem": self.stem.tree(),
            "blocks": [block.tree() for block in blocks],
            "out": {"w": self.out.weight, "b": self.out.bias},
        }


def batch(images: Any, some: Any, size: int, rng: np.random.Generator) -> torch.Tensor:
    """A random square of each image, half of them mirrored, as the network takes them."""
    side = images.shape[1]
    margin = 0 if size == side - 2 * BORDER else BORDER  # small squares leave the border out
    corners = rng.integers(margin, side - size - margin + 1, (2, len(some)))
    rows, columns = corners[..., None] + np.arange(size)
    columns = np.where(rng.random(len(some))[:, None] < 0.5, columns[:, ::-1], columns)
    return normal(images[some[:, None, None], rows[:, :, None], columns[:, None, :]])


def normal(images: Any) -> torch.Tensor:
    """Images as the network takes them; channels last is a layout that costs nothing here."""
    pixels = (images / np.float32(255) - np.float32(MEAN)) / np.float32(SPREAD)
    return torch.from_numpy(pixels.astype(np.float32)).permute(0, 3, 1, 2)


def rate_at(share: float) -> float:
    if share < WARM:
        return RATE * (0.1 + 0.9 * share / WARM)
    return RATE * 0.5 * (1 + float(np.cos(np.pi * (share - WARM) / (1 - WARM))))


@torch.no_grad()
def bordered(images: Any) -> Any:
    """Images with a border that mirrors them, which pieces may reach into."""
    around = ((0, 0), (BORDER, BORDER), (BORDER, BORDER), (0, 0))
    return np.pad(images, around, "reflect")


def descent(net: nn.Module, rate: float, momentum: float, decay: float) -> torch.optim.SGD:
    """Steps by the gradient, of weights with decay, of norms and biases without."""
    decayed = [p for p in net.parameters() if p.ndim > 1]
    others = [p for p in net.parameters() if p.ndim == 1]
    groups = [{"params": decayed, "weight_decay": decay}, {"params": others}]
    return torch.optim.SGD(groups, rate, momentum, nesterov=True)


def error(net: nn.Module, images: Any, labels: Any) -> float:
    """The share of images that the network gets wrong."""
    net.eval()
    chosen = [net(normal(images[at : at + 250])).argmax(1) for at in range(0, len(images), 250)]
    net.train()
    return float((torch.cat(chosen).numpy() != labels).mean())


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--minutes", type=float, required=True)
    options.add_argument("--threads", type=int, default=1)
    given = options.parse_args()
    torch.set_num_threads(given.threads)
    torch.manual_seed(1)
    rng = np.random.default_rng(1)
    everything = cifar10(*(f"data_batch_{n}" for n in range(1, 6)))
    images, labels = bordered(everything.images), everything.labels
    side = everything.images.shape[1]

    net = ResNet18().to(memory_format=torch.channels_last)
    optimizer = descent(net, RATE, MOMENTUM, DECAY)
    values = dict(net.state_dict())
    used, passes = 0.0, 0
    if STATE.exists():
        with np.load(STATE, allow_pickle=False) as file:
            net.load_state_dict({name: torch.from_numpy(file[name]) for name in values})
            used, passes = float(file["used"]), int(file["passes"])

    share, mark = used, time.monotonic()
    while share < 1:
        order = rng.permutation(np.arange(WATCHED, len(labels)))
        losses: list[float] = []
        for start in range(0, len(order) - BATCH + 1, BATCH):
            share = min(1.0, used + (time.monotonic() - mark) / (60 * given.minutes))
            for group in optimizer.param_groups:
                group["lr"] = rate_at(share)
            some = order[start : start + BATCH]
            size = side * 3 // 4 if share < CROPPED else side
            x, y = batch(images, some, size, rng), torch.from_numpy(labels[some].astype(np.int64))
            loss = nn.functional.cross_entropy(net(x), y, label_smoothing=SMOOTH)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            if share >= 1:
                break
        passes += 1
        arrays: dict[str, Any] = {name: value.numpy() for name, value in net.state_dict().items()}
        np.savez(STATE, used=share, passes=passes, **arrays)
        wrong = error(net, everything.images[:WATCHED], labels[:WATCHED])
        print(
            f"pass {passes}: {share:.1%} of the time, loss {np.mean(losses):.3f},"
            f" error {wrong:.3f} on {WATCHED} kept out",
            flush=True,
        )
    weights.save(TRAINED, plain(net.tree()))
    test = cifar10("test_batch")
    print(f"{TRAINED.name}: error {error(net, test.images, test.labels):.4f} on the test images")


def plain(node: Any) -> Any:
    """The same tree, of arrays instead of tensors."""
    if isinstance(node, dict):
        return {name: plain(part) for name, part in node.items()}
    if isinstance(node, list):
        return [plain(part) for part in node]
    return node.detach().numpy()


if __name__ == "__main__":
    main()
