"""Attention that a network writes out, as its operators and in tiles, with the pass off and on.

    python -m benchmarks.cpu attention --shapes 8x12x128x64,1x12x2048x64 [--masked] [--training]

Both networks run in one process on the same arrays, in turns; printed are the medians of the CPU
time of a call, and their ratio: above 1, tiles take less. Beside PyTorch: the rows of attention in
`python -m benchmarks.cpu operators --only attention`.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import gluonish as mx
from gluonish.core.config import MXNET_DISABLED_GRAPH_PASSES

_MULTIPLICATIONS = 2e8  # of the products of a turn, at least


class _Attention(mx.gluon.HybridBlock):
    def __init__(self, scale: float) -> None:
        super().__init__()
        self._scale = scale

    def hybrid_forward(self, F: Any, q: Any, k: Any, v: Any, *mask: Any) -> Any:
        scores = F.batch_dot(q, k, transpose_b=True) * self._scale
        if mask:
            scores = F.broadcast_add(scores, *mask)
        return F.batch_dot(F.softmax(scores, axis=-1), v)


def _step(arrays: list[Any], *, training: bool, tiles: bool) -> Callable[[], None]:
    """Return a function that runs a network once; it is compiled already."""
    net = _Attention(arrays[0].shape[-1] ** -0.5)
    net.hybridize(static_alloc=True, static_shape=True)

    def step() -> None:
        with mx.autograd.record(train_mode=training) if training else mx.autograd.pause():
            out = net(*arrays)
        if training:
            out.backward()
        mx.nd.waitall()

    with MXNET_DISABLED_GRAPH_PASSES.override(frozenset(() if tiles else ("fuse_attention",))):
        step()
        step()
    return step


def _measure(shape: tuple[int, ...], rounds: int, *, masked: bool, training: bool) -> None:
    samples, heads, length, width = shape
    arrays = [mx.nd.random.normal(shape=(samples * heads, length, width)) for _ in range(3)]
    if training:
        for x in arrays:
            x.attach_grad()
    if masked:  # causal
        arrays.append(mx.nd.array(np.triu(np.full((1, length, length), -1e9, np.float32), 1)))
    steps = {tiles: _step(arrays, training=training, tiles=tiles) for tiles in (False, True)}
    calls = max(1, min(200, int(_MULTIPLICATIONS / (samples * heads * length**2 * width))))
    took: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(rounds):
        for tiles, step in steps.items():
            begin = time.process_time()
            for _ in range(calls):
                step()
            took[tiles].append((time.process_time() - begin) / calls * 1e3)
    operators, tiled = (statistics.median(took[tiles]) for tiles in (False, True))
    name = "x".join(map(str, shape))
    print(
        f"{name:18} operators {operators:9.3f} ms  tiles {tiled:9.3f} ms  "
        f"ratio {operators / tiled:.2f}",
        flush=True,
    )


def main() -> None:
    """Measure the shapes (N x heads x T x C) that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shapes", default="8x12x128x64,1x12x512x64,1x12x2048x64")
    parser.add_argument("--masked", action="store_true", help="add a causal mask")
    parser.add_argument("--training", action="store_true", help="with gradients")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    for text in arguments.shapes.split(","):
        shape = tuple(map(int, text.split("x")))
        _measure(shape, arguments.rounds, masked=arguments.masked, training=arguments.training)


if __name__ == "__main__":
    main()
