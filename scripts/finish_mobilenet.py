"""Finish the training of the deep MobileNet, so that it is accurate whole and bears the loss of blocks.

    pip install torch
    GEVOLVE_DATA=FOLDER python scripts/finish_mobilenet.py --minutes 30

It goes on from the weights that `train_deep_mobilenet.py` left. In each step a number of blocks is left out, from
none to MOST, each number as often as the others. Which ones they are is drawn by how far down in its stage a block is: the
first of a stage that adds its input is never left out, the last most often (Huang et al., 2016, let blocks
be left out the more often the deeper they are). Norms are as in prediction, and what is left is not scaled, so that the network is
trained as an edit would leave it.

A thousand training images are kept out, the same ones as before. What ships is the network or the mean of its weights over
the last steps, whichever has the smaller error on those, whole and with the last MOST blocks left out, both added. No
test image is looked at before the end.
"""

import argparse
import copy
import time
from typing import Any

import numpy as np
import torch
from torch import nn
from train_deep_mobilenet import STAGES, TRAINED, MobileNet, follow
from train_resnet18 import WATCHED, batch, bordered, descent, error, normal

from gevolve.suite.datasets import cifar10
from gevolve.suite.models import weights

BATCH, RATE, DECAY, MOMENTUM, SMOOTH = 128, 0.015, 4e-4, 0.9, 0.05
WARM, MOST, OFTEN = 0.05, 10, 16
"""The share of the time in which the rate rises; the most blocks left out; steps until the mean follows."""
DEPTHS = np.array([at for *_, count in STAGES for at in (0, *np.arange(count) / (count - 1))])
"""How far down in its stage each block is, of those that add their input; 0 of those that do not."""


def rate_at(share: float) -> float:
    if share < WARM:
        return RATE * (0.1 + 0.9 * share / WARM)
    return RATE * 0.5 * (1 + float(np.cos(np.pi * (share - WARM) / (1 - WARM))))


def leave_out(net: MobileNet, chosen: Any) -> None:
    """Leave out these blocks, and no others."""
    blocks: Any = net.blocks
    for at, block in enumerate(blocks):
        block.left_out = at in chosen


def errors(net: MobileNet, images: Any, labels: Any) -> tuple[float, float]:
    """The error of the whole network, and without its MOST blocks that are left out most often."""
    leave_out(net, ())
    whole = error(net, images, labels)
    leave_out(net, np.argsort(DEPTHS, stable=True)[-MOST:])
    cut = error(net, images, labels)
    leave_out(net, ())
    net.eval()
    return whole, cut


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--minutes", type=float, required=True)
    given = options.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    rng = np.random.default_rng(1)
    everything = cifar10(*(f"data_batch_{n}" for n in range(1, 6)))
    images, labels = bordered(everything.images), everything.labels
    side = everything.images.shape[1]
    watched = everything.images[:WATCHED], labels[:WATCHED]

    net = MobileNet().to(memory_format=torch.channels_last)
    net.grow(weights.load(TRAINED), normal(everything.images[WATCHED : WATCHED + 2000]))
    net.eval()
    mean = copy.deepcopy(net)
    optimizer = descent(net, RATE, MOMENTUM, DECAY)
    odds = DEPTHS / DEPTHS.sum()
    print("before: error {:.3f}, {:.3f} cut".format(*errors(net, *watched)), flush=True)

    share, passes, steps, mark = 0.0, 0, 0, time.monotonic()
    while share < 1:
        order = rng.permutation(np.arange(WATCHED, len(labels)))
        losses: list[float] = []
        for start in range(0, len(order) - BATCH + 1, BATCH):
            share = min(1.0, (time.monotonic() - mark) / (60 * given.minutes))
            if share >= 1:
                break
            for group in optimizer.param_groups:
                group["lr"] = rate_at(share)
            leave_out(net, rng.choice(len(DEPTHS), rng.integers(MOST + 1), replace=False, p=odds))
            some = order[start : start + BATCH]
            x, y = batch(images, some, side, rng), torch.from_numpy(labels[some].astype(np.int64))
            loss = nn.functional.cross_entropy(net(x), y, label_smoothing=SMOOTH)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            steps += 1
            if steps % OFTEN == 0:
                follow(mean, net)
        passes += 1
        print(
            f"pass {passes}: {share:.1%} of the time, {steps} steps, {time.process_time():.0f} s of CPU time, loss"
            f" {np.mean(losses):.3f}, error {{:.3f}}, {{:.3f}} cut; of the mean {{:.3f}}, {{:.3f}} cut".format(
                *errors(net, *watched), *errors(mean, *watched)
            ),
            flush=True,
        )
    best = min((net, mean), key=lambda one: sum(errors(one, *watched)))
    weights.save(TRAINED, best.tree())
    test = cifar10("test_batch")
    found = error(best, test.images, test.labels)
    print(f"{TRAINED.name}: error {found:.4f} on the test images")


if __name__ == "__main__":
    main()
