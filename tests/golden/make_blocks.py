"""Write blocks.json, np_net-symbol.json, np_net-0003.params and np_net.npz by MXNet 1.9.1.

Usage: oracle/bin/python tests/golden/make_blocks.py

The first tells what the programs of block_programs.py see, the others are a network that was
exported under NumPy's semantics, with its input and outputs.
"""

import json
import os
import sys
from pathlib import Path

import mxnet as mx
import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from block_programs import PROGRAMS  # noqa: E402


class Net(mx.gluon.HybridBlock):
    """Two outputs from functions of NumPy."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.dense = mx.gluon.nn.Dense(3)
            self.shift = self.params.get("shift", shape=(3,), init="ones")

    def hybrid_forward(self, F, x, shift):
        """Return (N,) and ()."""
        y = F.npx.relu(self.dense(x)) + shift
        return F.np.sum(y, axis=-1), F.np.mean(y)


def export_np():
    """Export a network under NumPy's semantics."""
    mx.npx.set_np()
    mx.random.seed(3)
    net = Net(prefix="np_net_")
    net.initialize(mx.init.Uniform(1))
    net.hybridize()
    x = mx.np.array(np.random.default_rng(3).uniform(-1, 1, (2, 4)), dtype="float32")
    sums, mean = net(x)
    net.export(str(HERE / "np_net"), 3)
    np.savez(HERE / "np_net.npz", data=x.asnumpy(), output0=sums.asnumpy(), output1=mean.asnumpy())
    mx.npx.reset_np()


def main():
    """Write all files."""
    seen = {program.__name__: program(mx) for program in PROGRAMS}
    (HERE / "blocks.json").write_text(json.dumps(seen, indent=1) + "\n", "utf-8")
    export_np()
    sys.stdout.flush()
    os._exit(0)  # MXNet may hang in its own exit


if __name__ == "__main__":
    main()
