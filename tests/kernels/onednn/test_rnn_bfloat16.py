"""Recurrent layers in bfloat16: near those in float32, and nearer than rounding of every step."""

import numpy as np
import pytest

import gluonish as mx
from gluonish.contrib import amp
from gluonish.core.dtype import BFLOAT16, FLOAT32
from gluonish.core.spec import Spec
from gluonish.gluon import rnn
from gluonish.kernels.onednn.rnn import supports

LAYERS = {
    "lstm": lambda **kw: rnn.LSTM(64, **kw),
    "gru": lambda **kw: rnn.GRU(64, **kw),
    "rnn_relu": lambda **kw: rnn.RNN(64, activation="relu", **kw),
    "rnn_tanh": lambda **kw: rnn.RNN(64, activation="tanh", **kw),
}


def run(net: rnn.LSTM, x: mx.nd.NDArray, dtype: str | None) -> list[np.ndarray]:
    states = [s + 0.5 for s in net.begin_state(batch_size=x.shape[1])]
    for state in states:
        state.attach_grad()
    x = x.copy()
    x.attach_grad()
    with mx.autograd.record(), amp.autocast("bfloat16", enabled=dtype is not None):
        out, last = net(x, states)
        loss = (out.astype("float32") ** 2).mean() + sum(
            (s.astype("float32") ** 2).mean() for s in last
        )
    loss.backward()
    found = [out, *last, x.grad, *(s.grad for s in states)]
    found += [p.grad() for p in net.collect_params().values()]
    return [y.astype("float32").asnumpy() for y in found]


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("mode", LAYERS)
def test_results_and_gradients_are_near_those_of_float32(
    mode: str, bidirectional: bool, layers: int
) -> None:
    mx.random.seed(7)
    net = LAYERS[mode](num_layers=layers, bidirectional=bidirectional, input_size=32)
    net.initialize(mx.init.Xavier())
    net.hybridize()
    x = mx.nd.array(np.random.RandomState(1).randn(12, 32, 32))
    exact, found = run(net, x, None), run(net, x, "bfloat16")
    assert supports(
        Spec(x.shape, BFLOAT16),
        Spec((1,), FLOAT32),
        mode=mode,
        state_size=64,
        num_layers=layers,
        use_sequence_length=False,
        projection_size=None,
        lstm_state_clip_min=None,
    )
    for want, got in zip(exact, found, strict=True):
        # Elements go further off where the slope of relu jumps.
        allowed = 0.1 if mode == "rnn_relu" else 0.03
        assert np.linalg.norm(got - want) < allowed * np.linalg.norm(want)
    again = run(net, x, "bfloat16")
    assert all(np.array_equal(one, other) for one, other in zip(found, again, strict=True))
