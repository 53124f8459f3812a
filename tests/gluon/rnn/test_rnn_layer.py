"""The recurrent layers: names, shapes, states, files, and hybridized against imperative."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish.ndarray as nd
import gluonish.symbol as sym
from gluonish import autograd
from gluonish import random as mx_random
from gluonish.core.errors import ArgumentError, ArgumentTypeError, GluonishError
from gluonish.gluon import nn, rnn
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.ndarray import NDArray, array

GOLDEN = Path(__file__).parents[2] / "golden"

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
    {"num_layers": 3, "layout": "NTC", "dropout": 0.3},
)


class Model(HybridBlock):
    """The network of the golden files."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.emb = nn.Embedding(11, 5)
            self.lstm = rnn.LSTM(6, 2, layout="NTC", dropout=0.2, bidirectional=True)
            self.out = nn.Dense(4, flatten=False)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return self.out(self.lstm(self.emb(x)))


def sample(seed: int = 0) -> NDArray:
    return array(np.random.default_rng(seed).standard_normal((4, 3, 2)))


def filled(layer: Any) -> Any:
    """Initialize by the shape alone, so that layers made apart are equal."""

    def fill(name: str, values: NDArray) -> None:
        wave = np.sin(np.arange(values.size) * 1.7 + 0.3).reshape(values.shape)
        values[:] = array(wave * 0.4)

    for parameter in layer.collect_params().values():
        parameter.initialize(init=fill)
    return layer


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", LAYERS)
def test_hybridized_layer_equals_the_imperative_one(name: str, options: dict[str, Any]) -> None:
    found = []
    for hybridize in (False, True):
        layer, x = filled(LAYERS[name](**options)), sample()
        if hybridize:
            layer.hybridize()
        states = layer.begin_state(4 if options.get("layout") == "NTC" else 3, func=nd.ones)
        for value in (x, *states):
            value.attach_grad()
        mx_random.seed(3)
        with autograd.record():
            output, last = layer(x, states)
            loss = (output * output).sum() + sum((s * s).sum() for s in last)
        loss.backward()
        gradients = [p.grad() for p in layer.collect_params().values()]
        found.append([output, *last, x.grad, *(s.grad for s in states), *gradients])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-5, atol=1e-6)
    assert all(abs(value.asnumpy()).max() > 0 for value in found[0])


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("name", LAYERS)
def test_states_begin_at_zero_and_are_returned_only_if_given(name: str, hybridize: bool) -> None:
    layer, x = filled(LAYERS[name]()), sample()
    if hybridize:
        layer.hybridize()
    alone = layer(x)
    output, states = layer(x, layer.begin_state(3))
    assert isinstance(alone, NDArray)
    assert isinstance(states, list)
    np.testing.assert_allclose(alone.asnumpy(), output.asnumpy(), atol=1e-6)
    assert [s.shape for s in states] == [info["shape"] for info in layer.state_info(3)]
    assert isinstance(layer(sample(1)), NDArray)


def test_a_single_state_may_come_without_a_list() -> None:
    layer, x = filled(rnn.GRU(5)), sample()
    output, states = layer(x, layer.begin_state(3, func=nd.ones)[0])
    again, _ = layer(x, layer.begin_state(3, func=nd.ones))
    np.testing.assert_array_equal(output.asnumpy(), again.asnumpy())
    assert len(states) == 1


@pytest.mark.parametrize("name", ["relu", "lstm", "gru"])
def test_layouts_differ_by_their_axes_only(name: str) -> None:
    x = sample()
    one = filled(LAYERS[name](num_layers=2))(x).asnumpy()
    two = filled(LAYERS[name](num_layers=2, layout="NTC"))(x.swapaxes(0, 1)).asnumpy()
    np.testing.assert_allclose(two.swapaxes(0, 1), one, atol=1e-6)


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("name", ["tanh", "lstm", "gru"])
def test_sequences_may_end_early(name: str, hybridize: bool) -> None:
    layer, x = filled(LAYERS[name](bidirectional=True, use_sequence_length=True)), sample()
    if hybridize:
        layer.hybridize()
    lengths = array([4, 2, 1])
    output, states = layer(x, layer.begin_state(3), lengths)
    short = filled(LAYERS[name](bidirectional=True))
    for n, length in enumerate((4, 2, 1)):
        want, last = short(x[:length, n : n + 1], short.begin_state(1))
        np.testing.assert_allclose(output[:length, n].asnumpy(), want[:, 0].asnumpy(), atol=1e-6)
        assert not output[length:, n].asnumpy().any() if length < 4 else True
        np.testing.assert_allclose(states[0][:, n].asnumpy(), last[0][:, 0].asnumpy(), atol=1e-6)
    np.testing.assert_array_equal(layer(x, None, lengths).asnumpy(), output.asnumpy())


def test_dropout_between_layers_acts_in_training_only() -> None:
    layer, x = filled(rnn.LSTM(30, 2, dropout=0.5)), sample()
    plain = layer(x).asnumpy()
    with autograd.record():
        dropped = layer(x).asnumpy()
    np.testing.assert_array_equal(layer(x).asnumpy(), plain)
    assert abs(dropped - plain).max() > 1e-3


def test_parameters_have_mxnets_names_and_shapes() -> None:
    layer = rnn.LSTM(6, 2, bidirectional=True, projection_size=3, prefix="lstm0_")
    shapes = {name: p.shape for name, p in layer.collect_params().items()}
    names = ("i2h_weight", "h2h_weight", "i2h_bias", "h2h_bias", "h2r_weight")
    assert list(shapes) == [f"lstm0_{side}{i}_{n}" for i in (0, 1) for side in "lr" for n in names]
    assert [shapes[f"lstm0_l0_{n}"] for n in names] == [(24, 0), (24, 3), (24,), (24,), (3, 6)]
    assert shapes["lstm0_r1_i2h_weight"] == (24, 6)
    paths = list(layer._collect_params_with_prefix())
    assert paths[:5] == [f"_unfused.0.l_cell.{n}" for n in names]
    assert next(iter(rnn.GRU(4)._collect_params_with_prefix())) == "_unfused.0.i2h_weight"


def test_parameters_begin_as_their_initializers_say() -> None:
    layer = rnn.LSTM(3, input_size=2, i2h_weight_initializer="one", h2h_bias_initializer="ones")
    layer.initialize()
    assert (layer.params.get("l0_i2h_weight").data().asnumpy() == 1).all()
    assert (layer.params.get("l0_h2h_bias").data().asnumpy() == 1).all()
    assert not layer.params.get("l0_i2h_bias").data().asnumpy().any()


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_input_size_follows_from_the_first_batch(
    options: dict[str, Any], hybridize: bool
) -> None:
    layer = rnn.GRU(5, **options)
    layer.initialize()
    if hybridize:
        layer.hybridize()
    assert repr(layer).startswith("GRU(None -> 5")
    layer(sample())
    assert repr(layer).startswith("GRU(2 -> 5")
    assert layer.params.get("l0_i2h_weight").shape == (15, 2)


def test_a_layer_says_what_it_is() -> None:
    layer = rnn.LSTM(6, 2, input_size=4, dropout=0.3, bidirectional=True)
    assert repr(layer) == "LSTM(4 -> 6, TNC, num_layers=2, dropout=0.3, bidirectional)"
    assert repr(rnn.RNN(3, layout="NTC")) == "RNN(None -> 3, NTC)"


def test_states_have_names_shapes_and_dtypes() -> None:
    layer = rnn.LSTM(6, 2, prefix="a_", projection_size=3, dtype="float64")
    info = {"__layout__": "LNC", "dtype": "float64"}
    assert layer.state_info(7) == [{"shape": (2, 7, 3), **info}, {"shape": (2, 7, 6), **info}]
    assert [s.dtype for s in layer.begin_state(2)] == [np.float64] * 2
    assert layer.begin_state(2, dtype="float32")[0].dtype == np.float32
    symbols = layer.begin_state(func=sym.zeros)
    assert [s.name for s in symbols] == ["a_h0_0", "a_h0_1"]


def test_a_cast_layer_computes_in_the_other_dtype() -> None:
    layer = filled(rnn.LSTM(5, input_size=2))
    layer.cast("float64")
    output, states = layer(sample().astype("float64"), layer.begin_state(3))
    assert output.dtype == states[1].dtype == np.float64


def test_mxnets_parameters_give_mxnets_output(tmp_path: Path) -> None:
    data = np.load(GOLDEN / "lstm.npz")
    net = Model(prefix="lm_")
    net.load_parameters(GOLDEN / "lstm.params")
    for _ in range(2):
        found = net(array(data["data"])).asnumpy()
        np.testing.assert_allclose(found, data["output"], rtol=1e-5, atol=1e-6)
        net.hybridize()
    net.save_parameters(tmp_path / "lstm.params")
    assert (tmp_path / "lstm.params").read_bytes() == (GOLDEN / "lstm.params").read_bytes()


def test_an_exported_model_is_mxnets(tmp_path: Path) -> None:
    net = Model(prefix="lm_")
    net.initialize()
    net.hybridize()
    words = array(np.load(GOLDEN / "lstm.npz")["data"])
    net(words)
    net.load_parameters(GOLDEN / "lstm.params")
    symbol, parameters = net.export(tmp_path / "lstm")
    want, got = (GOLDEN / "lstm-symbol.json").read_text(), Path(symbol).read_text()
    # Shapes that were not known yet are known here.
    for unknown, known in (("(24, 0)", "(24, 5)"), ("(4, 0)", "(4, 12)")):
        want, got = want.replace(unknown, known), got.replace(unknown, known)
    assert got == want
    assert Path(parameters).read_bytes() == (GOLDEN / "lstm-0000.params").read_bytes()


def test_mxnets_graph_runs() -> None:
    data = np.load(GOLDEN / "lstm.npz")
    net = nn.SymbolBlock.imports(
        str(GOLDEN / "lstm-symbol.json"), ["data"], str(GOLDEN / "lstm-0000.params")
    )
    found = net(array(data["data"])).asnumpy()
    np.testing.assert_allclose(found, data["output"], rtol=1e-5, atol=1e-6)


X = nd.ones((2, 1, 3))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rnn.LSTM(4, layout="CTN"), "LSTM: expected layout TNC or NTC, got 'CTN'"),
        (lambda: rnn.RNN(4, activation="exp"), "RNN: expected activation 'relu' or 'tanh'"),
        (
            lambda: rnn.GRU(0)(X),
            "GRU: expected sizes of 1 or more, got hidden_size 0, num_layers 1",
        ),
        (lambda: rnn.LSTM(3, 0)(X), "LSTM: expected sizes of 1 or more"),
        (lambda: rnn.LSTM(3, projection_size=0)(X), "projection_size 0"),
        (lambda: rnn.LSTM(3, dropout=1.5)(X), r"expected dropout in \[0, 1\], got 1.5"),
    ],
)
def test_unknown_options_are_refused(call: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        call()


@pytest.mark.parametrize("hybridize", [False, True])
def test_states_that_do_not_fit_are_refused(hybridize: bool) -> None:
    layer = filled(rnn.LSTM(5, input_size=2))
    if hybridize:
        layer.hybridize()
    with pytest.raises(ArgumentError, match="expected 2 states, got 1"):
        layer(sample(), nd.ones((1, 3, 5)))
    with pytest.raises(GluonishError, match=r"state.*\(1, 3, 5\).*got \(1, 2, 5\)"):
        layer(sample(), [nd.ones((1, 2, 5)), nd.ones((1, 3, 5))]).wait_to_read()


@pytest.mark.parametrize(
    "options",
    [
        {"projection_size": 2},
        {"h2r_weight_initializer": "one"},
        {"lstm_state_clip_min": -1.0},
        {"lstm_state_clip_nan": True},
    ],
)
@pytest.mark.parametrize("make", [rnn.RNN, rnn.GRU])
def test_what_lstm_alone_has_is_refused(make: Any, options: dict[str, Any]) -> None:
    with pytest.raises(ArgumentTypeError, match="no projection and no state clipping"):
        make(3, **options)


@pytest.mark.parametrize("hybridize", [False, True])
def test_lengths_are_given_where_they_are_used(hybridize: bool) -> None:
    used, plain = filled(rnn.GRU(5, use_sequence_length=True)), filled(rnn.GRU(5))
    for layer in (used, plain):
        layer.hybridize(active=hybridize)
    with pytest.raises(ArgumentError, match="expected sequence_length with use_sequence_length"):
        used(sample())
    with pytest.warns(UserWarning, match="sequence_length has no effect without"):
        output = plain(sample(), None, array([4, 2, 1]))
    np.testing.assert_array_equal(output.asnumpy(), plain(sample()).asnumpy())
