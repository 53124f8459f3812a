"""The complete recipe of the tutorial image_recipe.py in PyTorch and torchvision.

    PYTHON -m benchmarks.cpu.image_recipe_torch --data FOLDER [--epochs N | --minutes M] [--seed S]

runs in an environment of PyTorch, without gluonish, and prints the held-out accuracy, which
`image_recipe` compares. Layers, initial weights, rates, decay (of weights and scales only),
smoothing, mixing and averaging are the tutorial's.
"""

import argparse
import random
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import DataLoader, Dataset, default_collate
from torchvision.transforms import v2

from benchmarks.cpu.tutorial_networks import _cifar10, _digits


def load(options: argparse.Namespace, train: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Return images (N, 3, height, width), uint8, and labels."""
    if options.quick:
        images, labels = _digits(train)
        images = ((images + 2) / 4 * 255).astype(np.uint8)
    else:
        images, labels = _cifar10(options.data, train)
        images = (images * 64 + 121).round().astype(np.uint8)
    return torch.from_numpy(images), torch.from_numpy(labels)


class Images(Dataset[Any]):
    """Images after a transform, with their labels."""

    def __init__(self, images: torch.Tensor, labels: torch.Tensor, transform: Any) -> None:
        self.images, self.labels, self.transform = images, labels, transform

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        return self.transform(self.images[index]), self.labels[index]


class Residual(nn.Module):
    """Two convolutions, whose result is added to their input."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.both = nn.Sequential(convolution(channels, channels), convolution(channels, channels))

    def forward(self, x: Any) -> Any:
        """Return the sum."""
        return x + self.both(x)


def convolution(inputs: int, channels: int) -> nn.Sequential:
    """Return convolution, normalization and activation."""
    layer = nn.Conv2d(inputs, channels, 3, padding=1, bias=False)
    return nn.Sequential(layer, nn.BatchNorm2d(channels), nn.ReLU())


def build_network(width: int) -> nn.Sequential:
    """Return the tutorial's network with weights of its distributions."""
    net = nn.Sequential(
        convolution(3, width),
        convolution(width, 2 * width),
        nn.MaxPool2d(2),
        Residual(2 * width),
        convolution(2 * width, 4 * width),
        nn.MaxPool2d(2),
        convolution(4 * width, 8 * width),
        nn.MaxPool2d(2),
        Residual(8 * width),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8 * width, 10),
    )
    for layer in net.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight)
        if isinstance(layer, nn.Linear):
            nn.init.normal_(layer.weight, std=0.01)
            nn.init.zeros_(layer.bias)
    return net


def optimizer_of(net: nn.Module) -> torch.optim.SGD:
    """Return SGD with the decay of weights and of the scales of normalizations."""
    names = dict(net.named_parameters())
    groups = [
        {"params": [p for name, p in names.items() if name.endswith("weight")]},
        {"params": [p for name, p in names.items() if name.endswith("bias")], "weight_decay": 0.0},
    ]
    return torch.optim.SGD(groups, lr=0.1, momentum=0.9, nesterov=True, weight_decay=5e-4)


def step(net: nn.Module, optimizer: torch.optim.SGD, images: Any, labels: Any) -> None:
    """Train with one batch."""
    optimizer.zero_grad()
    functional.cross_entropy(net(images), labels, label_smoothing=0.1).backward()
    optimizer.step()


def steps_in(minutes: float, batches: Iterable[Any], width: int) -> int:
    """Return how many steps fit in some minutes, as the tutorial does."""
    net, begin, number = build_network(width), 0.0, 0
    optimizer = optimizer_of(net)
    for number, (images, labels) in enumerate(batches):  # used below
        if number == 5:
            begin = time.perf_counter()
        if number == 45:
            break
        step(net, optimizer, images, labels)
    return max(1, int(minutes * 60 / (time.perf_counter() - begin) * (number - 5)))


def main() -> None:
    """Train, and print the accuracy."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the .bin files of CIFAR-10")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    side, batch, epochs = (8, 32, 4) if options.quick else (32, 128, 6)
    random.seed(options.seed)
    torch.manual_seed(options.seed)
    flips = [] if options.quick else [v2.RandomHorizontalFlip()]
    end = [
        v2.ToDtype(torch.float32, scale=True),
        v2.Normalize((0.49, 0.48, 0.45), (0.25, 0.24, 0.26)),
    ]
    start = [v2.RandomCrop(side, padding=side // 8), *flips, v2.RandAugment(1, 5)]
    mix = v2.MixUp(alpha=0.2, num_classes=10)
    batches: DataLoader[Any] = DataLoader(
        Images(*load(options, True), v2.Compose([*start, *end])),
        batch,
        shuffle=True,
        drop_last=True,
        num_workers=options.workers,
        persistent_workers=options.workers > 0,
        collate_fn=lambda samples: mix(*default_collate(samples)),
    )
    tests: DataLoader[Any] = DataLoader(Images(*load(options, False), v2.Compose(end)), 500)
    steps = (options.epochs or epochs) * len(batches)
    if options.minutes is not None:
        steps = steps_in(options.minutes, batches, options.width)
    net = build_network(options.width).to(memory_format=torch.channels_last)  # faster by a fifth
    optimizer = optimizer_of(net)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=0.1, total_steps=steps, cycle_momentum=False
    )
    decay = 1 - min(0.5, 20 / steps)
    average = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(decay), use_buffers=True)
    done = 0
    while done < steps:
        for images, labels in batches:
            step(net, optimizer, images.to(memory_format=torch.channels_last), labels)
            average.update_parameters(net)
            done += 1
            if done == steps:
                break
            schedule.step()
    average.eval()
    with torch.no_grad():
        right = sum(int((average(x).argmax(1) == y).sum()) for x, y in tests)
    print(f"final held-out accuracy: {right / len(tests.dataset):.4f}")  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
