"""How many test images of CIFAR-10 and MNIST published networks name rightly, beside MXNet's count.

    python benchmarks/pretrained_scores.py DATASETS

DATASETS holds ``cifar10/`` and ``mnist/`` as ``$MXNET_HOME/datasets`` does. The networks are in
tests/golden/pretrained; what MXNet 1.9.1 scored with them is in README.md there. The networks for
CIFAR-10 are scored in 8 bits, too, calibrated on training images. The exit status is 1 if a score
differs from MXNet's, or if a network loses more than half a point by its 8 bits.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

import gluonish as mx
from gluonish.gluon import SymbolBlock
from gluonish.gluon.data.vision import CIFAR10, MNIST

FOLDER = Path(__file__).parents[1] / "tests" / "golden" / "pretrained"
MEAN = np.array([0.4914, 0.4822, 0.4465], np.float32)
STD = np.array([0.2023, 0.1994, 0.2010], np.float32)
BATCH = 250
CALIBRATION = 500  # training images
CALIBRATIONS = ("naive", "entropy")
LARGEST_LOSS = 0.5  # points
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


def planes(images: Any) -> Any:
    """Images of CIFAR-10 as its networks take them: normalized, channels first."""
    return ((images.asnumpy().astype(np.float32) / 255 - MEAN) / STD).transpose(0, 3, 1, 2)


def quantized(net: SymbolBlock, calibration: Any, mode: str) -> SymbolBlock:
    """A hybridized copy of the network in 8 bits, with the ranges of calibration images."""
    batches = [
        mx.nd.array(calibration[start : start + BATCH])
        for start in range(0, len(calibration), BATCH)
    ]
    made = mx.contrib.quantization.quantize_net(net, calib_data=batches, calib_mode=mode)
    made.hybridize(static_alloc=True)
    return made


def report(name: str, percent: float, in_bytes: dict[str, float]) -> bool:
    """Print the scores of a network; whether they are what they must be."""
    print(f"{name:18} {percent:.2f} %   MXNet {EXPECTED[name]:.2f} %")
    for mode, in_8_bits in in_bytes.items():
        print(f"{'':4}8 bits, {mode:7} {in_8_bits:.2f} %   {in_8_bits - percent:+.2f} points")
    return round(percent, 2) == EXPECTED[name] and all(
        round(percent - in_8_bits, 2) <= LARGEST_LOSS for in_8_bits in in_bytes.values()
    )


def main() -> int:
    """Score the three networks and compare."""
    parser = argparse.ArgumentParser(description="Score published networks on real test images.")
    parser.add_argument("datasets", type=Path)
    datasets = parser.parse_args().datasets
    test, labels = CIFAR10(datasets / "cifar10", train=False)[:]
    images = planes(test)
    calibration = planes(CIFAR10(datasets / "cifar10", train=True)[:CALIBRATION][0])
    good = True
    for name in ("cifar_resnet20_v1", "cifar_resnet20_v2"):
        net = network(name, 0, ["data"])
        in_bytes = {
            mode: score(quantized(net, calibration, mode), images, labels) for mode in CALIBRATIONS
        }
        good &= report(name, score(net, images, labels), in_bytes)
    digits, labels = MNIST(datasets / "mnist", train=False)[:1000]
    images = digits.asnumpy().astype(np.float32).transpose(0, 3, 1, 2) / 255
    lenet = network("mnist-lenet-0", 10, ["data", "softmax_label"])
    percent = score(lenet, images, labels, (mx.nd.zeros((BATCH,)),))
    good &= report("mnist-lenet-0", percent, {})
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
