"""How many test images of CIFAR-10 and MNIST published networks name rightly, beside MXNet's count.

    python benchmarks/pretrained_scores.py DATASETS

DATASETS holds ``cifar10/`` and ``mnist/`` as ``$MXNET_HOME/datasets`` does. The networks are in
tests/golden/pretrained; what MXNet 1.9.1 scored with them is in README.md there. The exit status is
1 if a score differs.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

import gluonish as mx
from gluonish.data.vision import CIFAR10, MNIST
from gluonish.gluon import SymbolBlock

FOLDER = Path(__file__).parents[1] / "tests" / "golden" / "pretrained"
MEAN = np.array([0.4914, 0.4822, 0.4465], np.float32)
STD = np.array([0.2023, 0.1994, 0.2010], np.float32)
BATCH = 250
# Percent, in MXNet 1.9.1.
EXPECTED = {"cifar_resnet20_v1": 92.88, "cifar_resnet20_v2": 92.68, "mnist-lenet-0": 99.1}


def network(name: str, epoch: int, inputs: list[str]) -> SymbolBlock:
    """One of the networks, hybridized."""
    stem = FOLDER / name
    net = SymbolBlock.imports(f"{stem}-symbol.json", inputs, f"{stem}-{epoch:04}.params")
    net.hybridize(static_alloc=True)
    return net


def score(net: SymbolBlock, images: Any, labels: Any, more: tuple[Any, ...] = ()) -> float:
    """Percent of the images that the network gives the right class to."""
    right = 0
    for start in tqdm(range(0, len(images), BATCH), leave=False):
        batch = mx.nd.array(np.ascontiguousarray(images[start : start + BATCH]))
        found = net(batch, *more).asnumpy().argmax(1)
        right += int((found == labels[start : start + BATCH]).sum())
    return 100 * right / len(images)


def main() -> int:
    """Score the three networks and compare."""
    parser = argparse.ArgumentParser(description="Score published networks on real test images.")
    parser.add_argument("datasets", type=Path)
    datasets = parser.parse_args().datasets
    cifar = CIFAR10(datasets / "cifar10", train=False)[:]
    images = (cifar[0].asnumpy().astype(np.float32) / 255 - MEAN) / STD
    found = {
        name: score(network(name, 0, ["data"]), images.transpose(0, 3, 1, 2), cifar[1])
        for name in ("cifar_resnet20_v1", "cifar_resnet20_v2")
    }
    digits = MNIST(datasets / "mnist", train=False)[:1000]
    images = digits[0].asnumpy().astype(np.float32).transpose(0, 3, 1, 2) / 255
    lenet = network("mnist-lenet-0", 10, ["data", "softmax_label"])
    found["mnist-lenet-0"] = score(lenet, images, digits[1], (mx.nd.zeros((BATCH,)),))
    for name, percent in found.items():
        print(f"{name:18} {percent:.2f} %   MXNet {EXPECTED[name]:.2f} %")
    return int(any(round(percent, 2) != EXPECTED[name] for name, percent in found.items()))


if __name__ == "__main__":
    sys.exit(main())
