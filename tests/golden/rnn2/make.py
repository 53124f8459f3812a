"""Make the golden data beside it with MXNet 2.0: ``oracle2/bin/python make.py``.

For each recurrent layer, a file of its parameters, and in ``rnn2.npz`` its output and the gradient
of the sum of its squares.
"""

from pathlib import Path

import mxnet as mx
import numpy as np
from mxnet import autograd
from mxnet.gluon import rnn

HERE = Path(__file__).parent

if __name__ == "__main__":
    mx.npx.set_np()
    rng = np.random.RandomState(0)
    values = {"x": rng.uniform(-1, 1, (5, 2, 3)).astype("float32")}
    layers = {
        "lstm": rnn.LSTM(4, 2, bidirectional=True),
        "gru": rnn.GRU(4, layout="NTC"),
        "rnn": rnn.RNN(4, 2, activation="tanh", input_size=3),
    }
    for name, layer in layers.items():
        x = mx.np.array(values["x"])
        layer.initialize()
        layer(x)
        vector = layer.rnn_param
        vector.set_data(mx.np.array(rng.uniform(-0.5, 0.5, vector.shape).astype("float32")))
        layer.save_parameters(str(HERE / f"{name}.params"))
        with autograd.record():
            y = layer(x)
            loss = (y * y).sum()
        loss.backward()
        values[f"{name}/y"] = y.asnumpy()
        values[f"{name}/grad"] = vector.grad().asnumpy()
    np.savez_compressed(HERE / "rnn2.npz", **values)
