"""Small calls of every kind of kernel of our own, for compute-sanitizer. Run as a program.

compute-sanitizer --tool memcheck python -m benchmarks.gpu_run.sanitized [--rehearse]
"""

import os
import sys
from typing import Any

import numpy as np

from benchmarks.gpu_run.place import make_place


def _calls(mx: Any, x: Any, w: Any) -> list[Any]:
    """Return results of operators; sizes are odd, so that blocks end inside of rows."""
    nd = mx.nd
    convolution = {"kernel": (3, 3), "pad": (1, 1), "num_filter": w.shape[0], "no_bias": True}
    y = nd.Convolution(x, w, **convolution)
    return [
        y,
        nd.LeakyReLU(y, act_type="gelu"),
        nd.Dropout(y, p=0.3),
        nd.softmax(y.reshape((7, -1))),
        nd.Pooling(y, kernel=(3, 3), stride=(2, 2), pool_type="max"),
        nd.Pooling(y, kernel=(2, 2), global_pool=True, pool_type="avg"),
        nd.FullyConnected(y, y.reshape((7, -1)), num_hidden=7, no_bias=True),
        nd.batch_dot(y.reshape((7, 5, -1)), y.reshape((7, 5, -1)), transpose_b=True),
        nd.random.uniform(shape=(1027,), ctx=x.context),
        nd.random.normal(shape=(1027,), ctx=x.context),
    ]


def main(words: list[str]) -> int:
    """Run the calls, and backward, in two types."""
    mx = make_place(rehearse="--rehearse" in words).mx
    random = np.random.default_rng(9)
    for dtype in ("float32", "bfloat16"):
        shapes = ((7, 3, 11, 13), (5, 3, 3, 3))
        x, w = (mx.nd.array(random.random(s), ctx=mx.gpu(0), dtype=dtype) for s in shapes)
        x.attach_grad()
        w.attach_grad()
        with mx.autograd.record():
            results = _calls(mx, x, w)
            total = mx.nd.add_n(*[r.astype("float32").sum() for r in results])
        total.backward()
        print(dtype, np.isfinite(w.grad.astype("float32").asnumpy()).all(), flush=True)
    mx.nd.waitall()
    return 0


if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(status)
