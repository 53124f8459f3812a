"""Write model-model.json, model-model.params and model.npz: a network saved by MXNet 1.9.1.

Usage: oracle/bin/python tests/golden/make_model_files.py
"""

from pathlib import Path
from typing import Any

import mxnet as mx
import numpy as np
from mxnet import gluon, nd
from mxnet.gluon import nn


class Pair(gluon.HybridBlock):
    """Two inputs, nested outputs."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.a = nn.Dense(2, in_units=3)
            self.b = nn.Dense(4, in_units=2)

    def hybrid_forward(self, F: Any, x: Any, y: Any) -> Any:
        """Return one output and a list of two."""
        return self.b(self.a(x)), [x + y, self.a(y)]


class Net(gluon.Block):
    """Two graphs in a Block that is none."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.pair = Pair()
            self.tail = nn.HybridSequential()
            self.tail.add(nn.BatchNorm(in_channels=4), nn.Dense(1, in_units=4))

    def forward(self, x: Any, y: Any) -> Any:
        """Return (N, 1)."""
        return self.tail(self.pair(x, y)[0])


def main() -> None:
    """Save the network, its inputs and its output."""
    folder = Path(__file__).parent
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-1, 1, (2, 2, 3)).astype(np.float32)
    mx.random.seed(0)
    net = Net()
    net.initialize(mx.init.Uniform(0.5))
    net.hybridize()
    out = net(nd.array(x), nd.array(y))
    net.save(str(folder / "model"))
    np.savez(folder / "model.npz", x=x, y=y, out=out.asnumpy())


if __name__ == "__main__":
    main()
