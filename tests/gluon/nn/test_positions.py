"""Positional embeddings and biases of attention by distance."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, OperatorError, OperatorIndexError
from gluonish.gluon import nn

GOLDEN = np.load(Path(__file__).parents[2] / "golden" / "transformer.npz")
RANDOM = np.random.default_rng(6)
N, T, UNITS = 2, 5, 8


def normal(*shape: int) -> Any:
    return mx.nd.array(RANDOM.standard_normal(shape).astype(np.float32))


def started(net: Any, hybridize: bool = False) -> Any:
    net.initialize(mx.init.Normal(1))
    net.hybridize(hybridize)
    return net


def sinusoids(length: int, units: int) -> np.ndarray:
    """The formula, an element at a time."""
    table = np.zeros((length, units))
    for t in range(length):
        for i in range(0, units, 2):
            angle = t / 10000 ** (i / units)
            table[t, i] = np.sin(angle)
            if i + 1 < units:
                table[t, i + 1] = np.cos(angle)
    return table


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("layout", ["NTC", "TNC"])
@pytest.mark.parametrize("method", ["learned", "sinusoidal"])
def test_embeddings_are_added(method: str, layout: str, hybridize: bool) -> None:
    net = started(nn.PositionalEmbedding(UNITS, 9, method, layout=layout), hybridize)
    x = normal(N, T, UNITS)
    table = net.weight.data().asnumpy()
    positions = np.array([[3, 0, 8, 1, 1], [4, 5, 6, 7, 8]])
    turned = x.swapaxes(0, 1) if layout == "TNC" else x
    for given, wanted in (
        ((), table[:T]),
        ((mx.nd.array(positions[:1]),), table[positions[:1]]),
        ((mx.nd.array(positions, dtype="int32"),), table[positions]),
    ):
        found = net(turned, *given)
        found = found.swapaxes(0, 1) if layout == "TNC" else found
        np.testing.assert_allclose(found.asnumpy(), x.asnumpy() + wanted, rtol=1e-6)


@pytest.mark.parametrize("units", [6, 7])
def test_sinusoids_are_those_of_the_paper(units: int) -> None:
    wanted = sinusoids(600, units)
    net = started(nn.PositionalEmbedding(units, 600, "sinusoidal"))
    np.testing.assert_allclose(net.weight.data().asnumpy(), wanted, rtol=0, atol=1e-7)
    net = started(nn.PositionalEmbedding(units, 600, "sinusoidal", interleaved=False))
    apart = np.concatenate([wanted[:, ::2], wanted[:, 1::2]], 1)
    np.testing.assert_allclose(net.weight.data().asnumpy(), apart, rtol=0, atol=1e-7)
    assert net.weight.grad_req == "null"


@pytest.mark.parametrize("hybridize", [False, True])
def test_gradient_of_learned_vectors(hybridize: bool) -> None:
    net, x = started(nn.PositionalEmbedding(2, 4), hybridize), normal(3, 2, 2)
    for positions, wanted in ((None, [3, 3, 0, 0]), ([[3, 3]], [0, 0, 0, 6])):
        with mx.autograd.record():
            y = net(x) if positions is None else net(x, mx.nd.array(positions))
        y.backward()
        np.testing.assert_array_equal(net.weight.grad().asnumpy()[:, 0], wanted)


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize(("layout", "shape"), [("NTC", (N, T, UNITS)), ("TNC", (T, N, UNITS))])
@pytest.mark.parametrize("first_row", [0, 2])
def test_texts_longer_than_the_table_are_refused(
    hybridize: bool, layout: str, shape: tuple[int, ...], first_row: int
) -> None:
    layer = nn.PositionalEmbedding(UNITS, 4, layout=layout, first_row=first_row)
    net = started(layer, hybridize)
    with pytest.raises(OperatorError) as caught:
        net(normal(*shape))
    axes = ", ".join(layout)
    assert str(caught.value) == (
        f"PositionalEmbedding {layer.name}: expected x ({axes}) with T of at most max_length 4, "
        "the number of positions, got a text of 5; cut or split the text, or make the network with "
        "a greater max_length"
    )


@pytest.mark.parametrize("hybridize", [False, True])
def test_positions_beyond_the_table_are_refused(hybridize: bool) -> None:
    net = started(nn.PositionalEmbedding(UNITS, 4), hybridize)
    for position in (4, -1):
        wanted = r"expected positions in \[0, 4\)"
        if hybridize:
            wanted = f"{net.name}: expected positions from 0 to 3, as max_length is 4, got "
            wanted += f"positions from {position} to {position}; cut or split the text"
        with pytest.raises(OperatorIndexError, match=wanted):
            net(normal(N, 1, UNITS), mx.nd.array([[position]])).wait_to_read()


@pytest.mark.parametrize("hybridize", [False, True])
def test_the_first_row_is_that_of_position_0(hybridize: bool) -> None:
    net, x = started(nn.PositionalEmbedding(UNITS, 6, first_row=2), hybridize), normal(N, 5, UNITS)
    table = net.weight.data().asnumpy()
    assert table.shape == (8, UNITS)
    np.testing.assert_array_equal(net(x).asnumpy(), x.asnumpy() + table[2:7])
    positions = np.array([[5, -1, 0, -2, 3]])
    got = net(x, mx.nd.array(positions)).asnumpy()
    np.testing.assert_array_equal(got, x.asnumpy() + table[positions + 2])
    for wrong in (-1, 1.0, True):
        with pytest.raises(ArgumentError, match=f"first_row of 0 or more, got {wrong}"):
            nn.PositionalEmbedding(UNITS, 6, first_row=wrong)


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("heads", [1, 3, 4, 6, 12])
def test_slopes_of_alibi(heads: int, hybridize: bool) -> None:
    bias = started(nn.ALiBiBias(heads), hybridize)(normal(N, 4, UNITS)).asnumpy()
    golden = GOLDEN[f"slopes/{heads}"]  # slope * position of the key
    wanted = golden[:, None, :] - golden[:, :, None]
    np.testing.assert_allclose(bias[0], -np.abs(wanted), rtol=1e-6)


def bucket_of(net: Any) -> np.ndarray:
    """Return the bucket of each distance from -300 to 300."""
    buckets = np.arange(net.weight.shape[0], dtype=np.float32)
    net.weight.set_data(mx.nd.array(buckets).reshape((-1, 1)))
    bias = net(mx.nd.zeros((1, 301, 1))).asnumpy()[0, 0]
    return np.concatenate([bias[300, :300], bias[0]])


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("case", [x[8:] for x in GOLDEN if x.startswith("buckets/")])
def test_buckets_are_those_of_t5(case: str, hybridize: bool) -> None:
    both, count, farthest = map(int, case.split())
    net = nn.RelativePositionBias(1, count, farthest, bidirectional=bool(both))
    np.testing.assert_array_equal(bucket_of(started(net, hybridize)), GOLDEN[f"buckets/{case}"])


BIASES = {
    "alibi": lambda layout: nn.ALiBiBias(3, layout),
    "t5": lambda layout: nn.RelativePositionBias(3, 8, 6, layout=layout),
    "t5 causal": lambda layout: nn.RelativePositionBias(3, 8, 6, False, layout),
}


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("layout", ["NTC", "TNC"])
@pytest.mark.parametrize("name", BIASES)
def test_last_query_and_last_key_are_at_one_position(
    name: str, layout: str, hybridize: bool
) -> None:
    net = started(BIASES[name](layout), hybridize)
    shapes = [(N, 9, UNITS), (N, 4, UNITS)]
    keys, queries = (normal(*((b, a, c) if layout == "TNC" else (a, b, c))) for a, b, c in shapes)
    whole = net(keys).asnumpy()
    assert whole.shape == (1, 3, 9, 9)
    np.testing.assert_array_equal(net(queries, keys).asnumpy(), whole[:, :, 5:])


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("name", BIASES)
def test_biases_with_a_cache(name: str, hybridize: bool) -> None:
    net = started(BIASES[name]("NTC"), hybridize)
    attention = nn.MultiHeadAttention(6, 3, causal=True)
    attention.initialize(mx.init.Normal(0.5))
    x = normal(N, T, 6)
    wanted = attention(x, mask=net(x)).asnumpy()
    cache, found = attention.begin_cache(N, 9), []
    for i in range(T):
        part = x[:, i : i + 1]
        found.append(attention(part, mask=net(part, cache=cache), cache=cache).asnumpy())
        cache.position[:] += 1
    np.testing.assert_allclose(np.concatenate(found, 1), wanted, rtol=0, atol=1e-5)
    own = cache._replace(position=mx.nd.array([2, 4], dtype="int32"))
    bias = net(x[:, :1], cache=own).asnumpy()
    whole = net(normal(1, 9, 6)).asnumpy()
    np.testing.assert_array_equal(bias[:, :, 0], whole[0][:, [2, 4]].swapaxes(0, 1))


@pytest.mark.parametrize("hybridize", [False, True])
def test_places_beyond_256_are_exact_in_bfloat16(hybridize: bool) -> None:
    net = started(nn.ALiBiBias(1), hybridize)
    x = mx.nd.zeros((1, 400, 2), dtype="bfloat16")
    bias = net(x).asnumpy()[0, 0]
    np.testing.assert_array_equal(bias[399] * 256, np.arange(400) - 399.0)


def test_gradient_of_buckets() -> None:
    net = started(nn.RelativePositionBias(1, 4, 3))
    with mx.autograd.record():
        bias = net(mx.nd.zeros((1, 3, 1)))
    bias.backward()
    # Distances 0, -1 and farther back; 1 and farther ahead.
    np.testing.assert_array_equal(net.weight.grad().asnumpy()[:, 0], [3, 3, 0, 3])


def test_save_and_load(tmp_path: Path) -> None:
    for make in (
        lambda: nn.PositionalEmbedding(UNITS, 9, "sinusoidal"),
        lambda: nn.RelativePositionBias(3),
    ):
        net: Any = started(make())
        x = normal(N, T, UNITS)
        net.save_parameters(str(tmp_path / "net.params"))
        other: Any = make()
        other.load_parameters(str(tmp_path / "net.params"))
        np.testing.assert_array_equal(other(x).asnumpy(), net(x).asnumpy())


REFUSED: list[tuple[Any, str]] = [
    (lambda: nn.PositionalEmbedding(8, 0), "expected max_length of 1 or more, got 0"),
    (lambda: nn.PositionalEmbedding(8, 4, "random"), "expected method learned or sinusoidal"),
    (lambda: nn.PositionalEmbedding(8, 4, layout="CTN"), "expected layout NTC or TNC"),
    (lambda: nn.ALiBiBias(0), "expected num_heads of 1 or more, got 0"),
    (lambda: nn.RelativePositionBias(2, 5), "expected an even number of num_buckets of 4 or more"),
    (lambda: nn.RelativePositionBias(2, 1, bidirectional=False), "expected num_buckets of 2 or"),
    (lambda: nn.RelativePositionBias(2, 32, 8), "expected max_distance above 8, got 8"),
]


@pytest.mark.parametrize(("make", "message"), REFUSED)
def test_wrong_options_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        make()
