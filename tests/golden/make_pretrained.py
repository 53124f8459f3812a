"""Write pretrained/outputs.npz: what published networks give for real images, in MXNet 1.9.1.

Run with MXNet 1.9.1's Python: ``oracle/bin/python make_pretrained.py DATASETS``, where DATASETS
holds ``cifar10/test_batch.bin`` and raw ``mnist/t10k-*-ubyte``. The networks are in pretrained/;
README.md there tells where they come from.
"""

import sys
from pathlib import Path

import numpy as np
from mxnet import gluon, nd

FOLDER = Path(__file__).parent / "pretrained"
COUNT = 64
# Of RGB in [0, 1], as the publisher trained.
MEAN = np.array([0.4914, 0.4822, 0.4465], np.float32).reshape(3, 1, 1)
STD = np.array([0.2023, 0.1994, 0.2010], np.float32).reshape(3, 1, 1)


def network(name, epoch, inputs):
    """One of the networks, from its files."""
    stem = FOLDER / name
    return gluon.SymbolBlock.imports(f"{stem}-symbol.json", inputs, f"{stem}-{epoch:04}.params")


def main(datasets):
    """Take the first test images of both sets, and what the networks make of them."""
    records = np.fromfile(datasets / "cifar10" / "test_batch.bin", np.uint8, COUNT * 3073)
    records = records.reshape(COUNT, 3073)
    cifar = records[:, 1:].reshape(COUNT, 3, 32, 32)
    digits = np.fromfile(datasets / "mnist" / "t10k-images-idx3-ubyte", np.uint8, offset=16)
    digits = digits[: COUNT * 784].reshape(COUNT, 1, 28, 28)
    names = np.fromfile(datasets / "mnist" / "t10k-labels-idx1-ubyte", np.uint8, offset=8)
    normal = nd.array((cifar.astype(np.float32) / 255 - MEAN) / STD)
    lenet = network("mnist-lenet-0", 10, ["data", "softmax_label"])
    np.savez_compressed(
        FOLDER / "outputs.npz",
        cifar=cifar,
        cifar_labels=records[:, 0],
        digits=digits,
        digits_labels=names[:COUNT],
        cifar_resnet20_v1=network("cifar_resnet20_v1", 0, ["data"])(normal).asnumpy(),
        cifar_resnet20_v2=network("cifar_resnet20_v2", 0, ["data"])(normal).asnumpy(),
        mnist_lenet=lenet(nd.array(digits / 255.0), nd.zeros((COUNT,))).asnumpy(),
    )


main(Path(sys.argv[1]))
