"""Train the deep MobileNet of the suite on CIFAR-10, and write the weights that the package ships.

    pip install torch
    GEVOLVE_DATA=FOLDER torchrun --nproc-per-node 2 scripts/train_deep_mobilenet.py --minutes 75

PyTorch, which only the training needs, takes half the time that JAX does on a CPU. The recipe is that
of `train_resnet18.py`: SGD with Nesterov's momentum, label smoothing, random crops and mirror images,
small crops first, a learning rate that follows the share of the time that is used up, and a state in
`mobilenet.state.npz` here after each pass, from which the same command goes on. A thousand training
images are kept out to watch progress; no test image is looked at before the end.

Each process trains on images of its own; every TOGETHER steps they go on from the mean of their weights
(local SGD), which is so seldom that none waits long for another that the machine was too busy for.

The network is grown, not trained from nothing: the blocks of `mobilenet-tiny` begin with its trained
weights, and to each of its two stages come further blocks, which do nothing at first. `--start` names
other weights to begin with, such as those that an earlier training of this network left.

Stochastic depth (G. Huang et al., 2016): in each step, each block that adds its input to its output is
left out with a probability of DROPPED, which falls to SELDOM in the second half of the time. That saves as much
of the time, and no block becomes one that all others lean on.

The mean of the weights over the last steps (each KEPT times the one before) is kept beside them; what ships
is whichever of the two gets more of the images right that were kept out. `finish_mobilenet.py` goes on from it.
"""

import argparse
import copy
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed
from torch import nn
from train_resnet18 import CLASSES, WATCHED, batch, bordered, descent, error, normal

from gevolve.suite.datasets import cifar10
from gevolve.suite.models import weights

STEM, HEAD = 24, 256
STAGES = (((72, 48), (96, 48), 8), ((144, 96), (288, 96), 7))
"""For each stage the widths, inside and handed on, of the block that halves the image, then those of the
blocks that add their input, and how many of these there are."""
BATCH, RATE, DECAY, MOMENTUM, SMOOTH = 128, 0.12, 4e-4, 0.9, 0.05
DROPPED, SELDOM = 0.25, 0.08
TOGETHER, KEPT = 16, 0.95
WARM, CROPPED = 0.05, 0.55
"""The shares of the time in which the rate rises, and in which crops are small."""
STATE = Path("mobilenet.state.npz")
TRAINED = Path(weights.__file__).with_name("mobilenet.npz")
TINY = TRAINED.with_name("mobilenet-tiny.npz")


class Layer(nn.Sequential):
    """A convolution and its normalization."""

    def __init__(
        self, inputs: int, outputs: int, side: int = 1, stride: int = 1, groups: int = 1
    ) -> None:
        around = (side - 1) // 2
        convolution = nn.Conv2d(inputs, outputs, side, stride, around, groups=groups, bias=False)
        super().__init__(convolution, nn.BatchNorm2d(outputs))

    def folded(self) -> tuple[Any, Any]:
        """The filters and the bias that do the same in prediction."""
        convolution: Any = self[0]
        norm: Any = self[1]
        scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
        w = convolution.weight * scale[:, None, None, None]
        return w.detach().numpy(), (norm.bias - norm.running_mean * scale).detach().numpy()

    @torch.no_grad()
    def take(self, trained: dict[str, Any], x: Any) -> Any:
        """Begin with folded weights: the norm undoes itself on the images given; what comes out."""
        convolution: Any = self[0]
        norm: Any = self[1]
        w = trained["w"]
        if w.ndim == 2:
            w = w[None, None]
        elif w.ndim == 3:
            w = w[:, :, None]
        convolution.weight.copy_(torch.from_numpy(w.transpose(3, 2, 0, 1).copy()))
        y = convolution(x)
        norm.running_mean.copy_(y.mean((0, 2, 3)))
        norm.running_var.copy_(y.var((0, 2, 3)))
        norm.weight.copy_(torch.sqrt(norm.running_var + norm.eps))
        norm.bias.copy_(norm.running_mean + torch.from_numpy(trained["b"]))
        return y + torch.from_numpy(trained["b"])[:, None, None]

    def tree(self) -> dict[str, Any]:
        """The weights in the form that `gevolve.suite.models.network` takes."""
        w, b = self.folded()
        w = w.transpose(2, 3, 1, 0)  # taps, inputs, outputs
        if w.shape[:2] == (1, 1):
            return {"w": w[0, 0], "b": b}
        return {"w": w[:, :, 0] if w.shape[2] == 1 else w, "b": b}


class Block(nn.Module):
    """Widen, convolve each channel alone, narrow; where the width stays, add what came in."""

    def __init__(self, inputs: int, inside: int, outputs: int) -> None:
        super().__init__()
        self.keeps = inputs == outputs
        self.dropped = 0.0
        self.left_out = False
        self.widen = Layer(inputs, inside)
        self.each = Layer(inside, inside, 3, 1 if self.keeps else 2, groups=inside)
        self.narrow = Layer(inside, outputs)
        if self.keeps:
            norm: Any = self.narrow[1]
            nn.init.zeros_(norm.weight)

    def forward(self, x: Any) -> Any:
        dropped = self.dropped if self.training and self.keeps else 0.0
        if self.left_out or (dropped and torch.rand(()) < dropped):
            return x
        y = torch.relu_(self.each(torch.relu_(self.widen(x))))
        y = self.narrow(y)
        return x + y / (1 - dropped) if self.keeps else y

    def take(self, trained: dict[str, Any], x: Any) -> Any:
        y = torch.relu(self.widen.take(trained["widen"], x))
        y = torch.relu(self.each.take(trained["each"], y))
        y = self.narrow.take(trained["narrow"], y)
        return x + y if self.keeps else y

    def tree(self) -> dict[str, Any]:
        parts = {"widen": self.widen, "each": self.each, "narrow": self.narrow}
        return {name: layer.tree() for name, layer in parts.items()}


class MobileNet(nn.Module):
    """The network that `gevolve.suite.models.network` predicts with, as it is trained."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = Layer(3, STEM, 4, 2)
        blocks: list[Block] = []
        width = STEM
        for halves, keeps, count in STAGES:
            blocks.append(Block(width, *halves))
            width = halves[1]
            blocks += [Block(width, *keeps) for _ in range(count)]
        self.blocks = nn.ModuleList(blocks)
        self.head = Layer(width, HEAD)
        self.out = nn.Linear(HEAD, CLASSES)

    def forward(self, x: Any) -> Any:
        x = torch.relu_(self.stem(x))
        for block in self.blocks:
            x = block(x)
        return self.out(torch.relu_(self.head(x)).mean((2, 3)))

    @torch.no_grad()
    def grow(self, trained: dict[str, Any], x: Any) -> None:
        """Begin with the weights of a network of fewer blocks, which come first in each stage."""
        blocks: Any = self.blocks
        starts = iter([at for at, block in enumerate(blocks) if not block.keeps])
        x = torch.relu(self.stem.take(trained["stem"], x))
        at = width = 0
        for block in trained["blocks"]:
            if block["narrow"]["w"].shape[1] != width:
                at, width = next(starts), block["narrow"]["w"].shape[1]
            x = blocks[at].take(block, x)
            at += 1
        self.head.take(trained["head"], x)
        self.out.weight.copy_(torch.from_numpy(trained["out"]["w"].T.copy()))
        self.out.bias.copy_(torch.from_numpy(trained["out"]["b"]))

    def tree(self) -> dict[str, Any]:
        """The weights as they ship."""
        blocks: Any = self.blocks
        out = {"w": self.out.weight.detach().numpy().T, "b": self.out.bias.detach().numpy()}
        return {
            "stem": self.stem.tree(),
            "blocks": [block.tree() for block in blocks],
            "head": self.head.tree(),
            "out": out,
        }


def rate_at(share: float) -> float:
    if share < WARM:
        return RATE * (0.1 + 0.9 * share / WARM)
    return RATE * 0.5 * (1 + float(np.cos(np.pi * (share - WARM) / (1 - WARM))))


def dropped_at(share: float) -> float:
    return DROPPED + (SELDOM - DROPPED) * max(0.0, 2 * share - 1)


def numbers(net: nn.Module) -> list[Any]:
    """What makes up a trained network: its weights, and the means and variances of its norms."""
    return [value for value in net.state_dict().values() if value.is_floating_point()]


@torch.no_grad()
def together(net: nn.Module, share: float) -> float:
    """Let all processes go on from the mean of their weights; the mean of their shares of the time."""
    values = [*numbers(net), torch.tensor([share])]
    mean = torch.cat([value.reshape(-1) for value in values])
    torch.distributed.all_reduce(mean)
    mean /= torch.distributed.get_world_size()
    for value, part in zip(values, mean.split([v.numel() for v in values]), strict=True):
        value.copy_(part.view(value.shape))
    return float(values[-1])


@torch.no_grad()
def follow(mean: nn.Module, net: nn.Module) -> None:
    """Move a mean over time by one step."""
    for old, new in zip(numbers(mean), numbers(net), strict=True):
        old.lerp_(new, 1 - KEPT)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--minutes", type=float, required=True)
    options.add_argument("--start", type=Path, default=TINY)
    given = options.parse_args()
    torch.distributed.init_process_group("gloo")
    rank, count = torch.distributed.get_rank(), torch.distributed.get_world_size()
    torch.set_num_threads(1)
    torch.manual_seed(1 + rank)
    everything = cifar10(*(f"data_batch_{n}" for n in range(1, 6)))
    images, labels = bordered(everything.images), everything.labels
    side = everything.images.shape[1]

    net = MobileNet().to(memory_format=torch.channels_last)
    optimizer = descent(net, RATE, MOMENTUM, DECAY)
    used, passes = 0.0, 0
    if STATE.exists():
        with np.load(STATE, allow_pickle=False) as file:
            values = {name: torch.from_numpy(file[name]) for name in net.state_dict()}
            used, passes = float(file["used"]), int(file["passes"])
        net.load_state_dict(values)
    else:
        net.grow(weights.load(given.start), normal(everything.images[WATCHED : WATCHED + 2000]))
    together(net, 0)
    mean = copy.deepcopy(net)
    rng = np.random.default_rng([rank, passes])
    watched = everything.images[:WATCHED], labels[:WATCHED]

    share, mark = used, time.monotonic()
    while share < 1:
        order = np.random.default_rng(passes).permutation(np.arange(WATCHED, len(labels)))[
            rank::count
        ]
        losses: list[float] = []
        for step in range((len(labels) - WATCHED) // (BATCH * count)):
            if step % TOGETHER == 0:
                now = used + (time.monotonic() - mark) / (60 * given.minutes)
                share = min(1.0, together(net, now))
                for group in optimizer.param_groups:
                    group["lr"] = rate_at(share)
                for block in net.blocks:
                    block.dropped = dropped_at(share)
                follow(mean, net)
                if share >= 1:
                    break
            some = order[step * BATCH : (step + 1) * BATCH]
            size = side * 3 // 4 if share < CROPPED else side
            x, y = batch(images, some, size, rng), torch.from_numpy(labels[some].astype(np.int64))
            loss = nn.functional.cross_entropy(net(x), y, label_smoothing=SMOOTH)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        together(net, share)
        passes += 1
        if rank == 0:
            arrays: dict[str, Any] = {
                name: value.numpy() for name, value in net.state_dict().items()
            }
            np.savez(STATE, used=share, passes=passes, **arrays)
            errors = [error(one, *watched) for one in (net, mean)]
            print(
                f"pass {passes}: {share:.1%} of the time, {time.process_time():.0f} s of CPU time, loss"
                f" {np.mean(losses):.3f}, error {errors[0]:.3f} ({errors[1]:.3f} of the mean) on {WATCHED} kept out",
                flush=True,
            )
    if rank:
        return
    best = min((net, mean), key=lambda one: error(one, *watched))
    weights.save(TRAINED, best.tree())
    test = cifar10("test_batch")
    print(f"{TRAINED.name}: error {error(best, test.images, test.labels):.4f} on the test images")


if __name__ == "__main__":
    main()
