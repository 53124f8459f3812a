"""Exchange whole networks with MXNet 1.9.1, in both directions, and print how far logits differ.

MXNet writes resnet18_v1 as it wrote the published weights, and exports it; gluonish loads both by
every way there is, the model store with a folder as its repository among them. Then gluonish writes
and MXNet loads. No test runs this: it needs MXNet, and takes 10 seconds and 400 MB of disk::

    python tests/golden/check_published_format.py /path/of/mxnets/python
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from gluonish.gluon import SymbolBlock
from gluonish.model_zoo import vision
from gluonish.model_zoo.model_store import WEIGHT_HASHES
from gluonish.ndarray import array

BAR = 1e-5
NAME = "resnet18_v1"
WRITE = f"""
import mxnet as mx, numpy as np
mx.random.seed(3)
net = mx.gluon.model_zoo.vision.{NAME}()
net.initialize(mx.init.MSRAPrelu())
net.hybridize()
x = mx.nd.array(np.random.RandomState(5).standard_normal((2, 3, 96, 96)))
with mx.autograd.record():  # moves the running statistics off their defaults
    net(x)
y = net(x)
net.save_parameters("mxnet.params")
net.export("mxnet", epoch=7)
np.savez("mxnet.npz", x=x.asnumpy(), y=y.asnumpy())
"""
READ = f"""
import mxnet as mx, numpy as np
x = mx.nd.array(np.load("mxnet.npz")["x"])
net = mx.gluon.model_zoo.vision.{NAME}()
net.load_parameters("ours.params")
block = mx.gluon.SymbolBlock.imports("ours-symbol.json", ["data"], "ours-0007.params")
np.savez("ours.npz", parameters=net(x).asnumpy(), imports=block(x).asnumpy())
"""


def run(python: str, program: str, folder: Path) -> None:
    """Run a program by MXNet's Python in a folder."""
    subprocess.run([python, "-c", program], cwd=folder, check=True, timeout=600)


def publish(weights: Path, repository: Path) -> str:
    """Put weights into a folder that looks like the gluon repository; return their SHA-1."""
    sha1 = hashlib.sha1(weights.read_bytes()).hexdigest()
    stem = f"{NAME}-{sha1[:8]}"
    models = repository / "gluon" / "models"
    models.mkdir(parents=True)
    with zipfile.ZipFile(models / f"{stem}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(weights, f"{stem}.params")
    return sha1


def loaded(folder: Path) -> Iterator[tuple[str, Any]]:
    """Yield the ways to load what MXNet wrote, and the networks."""
    net = vision.get_model(NAME)
    net.load_parameters(folder / "mxnet.params")
    yield "load_parameters of save_parameters", net
    net = vision.get_model(NAME, prefix="resnetv10_")
    net.load_parameters(folder / "mxnet-0007.params")
    yield "load_parameters of export", net
    files = (folder / "mxnet-symbol.json", ["data"], folder / "mxnet-0007.params")
    yield "SymbolBlock.imports", SymbolBlock.imports(*files)
    sha1 = publish(folder / "mxnet.params", folder / "repository")
    environment = {"MXNET_GLUON_REPO": str(folder / "repository")}
    with mock.patch.dict(WEIGHT_HASHES, {NAME: sha1}), mock.patch.dict(os.environ, environment):
        net = vision.get_model(NAME, pretrained=True, root=folder / "models")
    yield "get_model(pretrained=True)", net


def report(what: str, found: Any, expected: Any) -> bool:
    """Print how far logits differ, and return whether that is within the bar."""
    difference = float(np.abs(found - expected).max())
    scale = float(np.abs(expected).max())
    sys.stdout.write(f"{what:48} {difference:.2e}  (largest logit {scale:.2f})\n")
    return difference <= BAR


def check(python: str, folder: Path) -> bool:
    """Exchange networks in a folder, and return whether all logits are within the bar."""
    run(python, WRITE, folder)
    kept = np.load(folder / "mxnet.npz")
    x, expected = array(kept["x"]), kept["y"]
    within = []
    for way, net in loaded(folder):
        within.append(report(f"gluonish, {way}", net(x).asnumpy(), expected))
        net.hybridize()
        within.append(report("  hybridized", net(x).asnumpy(), expected))
    net.save_parameters(folder / "ours.params")
    net.export(folder / "ours", epoch=7)
    run(python, READ, folder)
    ours = np.load(folder / "ours.npz")
    within.append(report("MXNet, load_parameters", ours["parameters"], expected))
    within.append(report("MXNet, SymbolBlock.imports", ours["imports"], expected))
    same = (folder / "ours.params").read_bytes() == (folder / "mxnet.params").read_bytes()
    sys.stdout.write(f"save_parameters files are {'equal' if same else 'different'}\n")
    return all(within)


def main() -> int:
    """Parse the command line and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("python", help="the Python that has MXNet 1.9.1")
    with tempfile.TemporaryDirectory() as folder:
        return 0 if check(parser.parse_args().python, Path(folder)) else 1


if __name__ == "__main__":
    sys.exit(main())
