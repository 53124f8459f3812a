"""Write rnn.npz: what MXNet 1.9.1's RNN operator gives, and its gradients.

Usage: oracle/bin/python tests/golden/make_rnn.py
"""

from pathlib import Path
from typing import Any

import mxnet as mx
import numpy as np
from mxnet import nd

GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
STEPS, BATCH, INPUTS, UNITS, LAYERS = 3, 2, 3, 4, 2


def arrays(mode: str, directions: int, projection: int | None) -> list[Any]:
    """Return random inputs of a call."""
    rng = np.random.default_rng(len(mode) + directions)
    rows, width = GATES[mode] * UNITS, projection or UNITS
    count = 0
    for layer in range(LAYERS):
        features = width * directions if layer else INPUTS
        count += directions * (rows * (features + width + 2) + (projection or 0) * UNITS)
    shapes = [(STEPS, BATCH, INPUTS), (count,), (LAYERS * directions, BATCH, width)]
    if mode == "lstm":
        shapes.append((LAYERS * directions, BATCH, UNITS))
    return [rng.uniform(-0.8, 0.8, shape).astype(np.float32) for shape in shapes]


def main() -> None:
    """Run every mode one way and both ways, and the projection, which has no gradient there."""
    saved: dict[str, Any] = {}
    for mode, both, projection in (
        *((mode, both, None) for mode in GATES for both in (False, True)),
        *(("lstm", both, 3) for both in (False, True)),
    ):
        name = f"{mode}-{int(both)}-{projection or 0}"
        inputs = [nd.array(x) for x in arrays(mode, 1 + both, projection)]
        for x in inputs:
            x.attach_grad()
        trains = projection is None
        scope = mx.autograd.record() if trains else mx.autograd.pause()
        with scope:
            outputs = nd.RNN(
                *inputs,
                state_size=UNITS,
                num_layers=LAYERS,
                bidirectional=both,
                mode=mode,
                state_outputs=True,
                projection_size=projection,
            )
        heads = [nd.array(np.cos(np.arange(y.size)).reshape(y.shape)) for y in outputs]
        if trains:
            mx.autograd.backward(outputs, heads)
        for i, x in enumerate(inputs):
            saved[f"{name}.input{i}"] = x.asnumpy()
            if trains:
                saved[f"{name}.gradient{i}"] = x.grad.asnumpy()
        for i, y in enumerate(outputs):
            saved[f"{name}.output{i}"] = y.asnumpy()
    np.savez_compressed(Path(__file__).with_name("rnn.npz"), **saved)


if __name__ == "__main__":
    main()
