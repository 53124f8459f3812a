"""Layers against the stacks of cells that share their parameters."""

from typing import Any

import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish import autograd
from gluonish.core.errors import ArgumentError
from gluonish.gluon import rnn
from gluonish.ndarray import NDArray, array

T, N, C = 4, 3, 2
LAYERS: dict[str, Any] = {
    "relu": lambda **options: rnn.RNN(5, **options),
    "tanh": lambda **options: rnn.RNN(5, activation="tanh", **options),
    "lstm": lambda **options: rnn.LSTM(5, **options),
    "gru": lambda **options: rnn.GRU(5, **options),
    "projected": lambda **options: rnn.LSTM(5, projection_size=3, **options),
}
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"num_layers": 2, "bidirectional": True},
    {"num_layers": 3, "layout": "NTC", "dropout": 0.3, "input_size": C},
)


def fill(name: str, values: NDArray) -> None:
    wave = np.sin(np.arange(values.size) * 1.7 + 0.3).reshape(values.shape)
    values[:] = array(wave * 0.4)


def results(layer: Any, call: Any, layout: str) -> dict[str, Any]:
    x = array(np.random.default_rng(0).standard_normal((T, N, C)))
    x = x.swapaxes(0, 1) if layout == "NTC" else x
    states = [array(fill_like(info["shape"])) for info in layer.state_info(N)]
    for value in (x, *states):
        value.attach_grad()
    with autograd.record(train_mode=False):
        output, last = call(x, states)
        loss = (output * output).sum() + sum((s * s * s).sum() for s in last)
    loss.backward(train_mode=False)
    gradients = {name: p.grad().asnumpy() for name, p in layer.collect_params().items()}
    found = {"output": output, "x": x.grad}
    found |= {f"last {i}": s for i, s in enumerate(last)}
    found |= {f"state {i}": s.grad for i, s in enumerate(states)}
    return {**gradients, **{name: value.asnumpy() for name, value in found.items()}}


def fill_like(shape: tuple[int, ...]) -> Any:
    return np.cos(np.arange(np.prod(shape))).reshape(shape) * 0.5


def joined(layer: Any, states: list[Any]) -> list[Any]:
    """Return a layer's states from those of its cells, which are (N, H) each."""
    kinds = len(layer.state_info(0))
    return [nd.stack(*states[kind::kinds], axis=0) for kind in range(kinds)]


def split(layer: Any, states: list[Any]) -> list[Any]:
    return [state[run] for run in range(states[0].shape[0]) for state in states]


@pytest.mark.parametrize("ragged", [False, True])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_equals_its_cells(name: str, options: dict[str, Any], ragged: bool) -> None:
    """On the CPU MXNet 1.9.1 refuses lengths for RNN and GRU, and leaves an LSTM's unheeded."""
    layer = LAYERS[name](use_sequence_length=ragged, **options)
    for parameter in layer.collect_params().values():
        parameter.initialize(init=fill)
    layout, lengths = options.get("layout", "TNC"), array([4, 1, 2])
    cells = layer.unfuse()

    def fused(x: Any, states: list[Any]) -> Any:
        return layer(x, states, *((lengths,) if ragged else ()))

    def unrolled(x: Any, states: list[Any]) -> Any:
        given = split(layer, states)
        length = lengths if ragged else None
        output, last = cells.unroll(T, x, given, layout, True, length)
        return output, joined(layer, last)

    want = results(layer, unrolled, layout)
    for hybridize in (False, True):
        layer.hybridize(active=hybridize)
        found = results(layer, fused, layout)
        assert found.keys() == want.keys()
        for key, value in want.items():
            np.testing.assert_allclose(found[key], value, rtol=1e-4, atol=1e-5, err_msg=key)


@pytest.mark.parametrize("name", LAYERS)
def test_the_cells_have_the_layers_parameters(name: str) -> None:
    layer = LAYERS[name](num_layers=2, bidirectional=True, dropout=0.1, prefix="a_")
    cells = layer._unfuse()
    found, want = cells.collect_params(), layer.collect_params()
    assert set(found) == set(want)
    assert all(found[name] is want[name] for name in want)
    paths = [f"_unfused.{path}" for path in cells._collect_params_with_prefix()]
    assert len(cells) == 3
    numbered = [path.replace("_unfused.2.", "_unfused.1.") for path in paths]
    assert sorted(numbered) == sorted(layer._collect_params_with_prefix())


def test_cells_do_not_clip() -> None:
    layer = rnn.LSTM(3, state_clip_min=-1, state_clip_max=1)
    with pytest.raises(ArgumentError, match="without state clipping"):
        layer.unfuse()


@pytest.mark.parametrize("hybridize", [False, True])
def test_clipping_bounds_the_cells(hybridize: bool) -> None:
    """On the CPU MXNet 1.9.1 leaves the limits unheeded."""
    layer = rnn.LSTM(3, state_clip_min=-0.1, state_clip_max=0.2, input_size=C)
    layer.initialize(init="one")
    layer.hybridize(active=hybridize)
    x = nd.ones((T, N, C))
    output, (_, cell) = layer(x, layer.begin_state(N))
    np.testing.assert_allclose(cell.asnumpy(), 0.2, rtol=1e-6)
    assert abs(output.asnumpy()).max() <= np.tanh(0.2)
    x[0, 0, 0] = np.nan
    clipped = rnn.LSTM(3, state_clip_min=-0.1, state_clip_max=0.2, state_clip_nan=True)
    clipped.initialize(init="one")
    _, (_, cell) = clipped(x[:1], clipped.begin_state(N))
    assert np.isfinite(cell.asnumpy()).all()
