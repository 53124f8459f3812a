"""Attention and transformer layers against NumPy in float64, in odd and smallest sizes.

Also equal bits of equal runs, mixed precision and bytes, for every layer of transformers.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.contrib import amp
from gluonish.contrib.quantization import quantize_net
from gluonish.gluon import nn
from tests.gluon.nn.transformer_rows import ROWS

Array = np.ndarray[Any, Any]
N = 3


def _dense(p: dict[str, Array], name: str, x: Array) -> Array:
    return x @ p[f"{name}.weight"].T + p[f"{name}.bias"]


def _norm(p: dict[str, Array], name: str, x: Array) -> Array:
    centred = x - x.mean(-1, keepdims=True)
    spread = np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    return centred / spread * p[f"{name}.gamma"] + p[f"{name}.beta"]


def _attention(
    p: dict[str, Array], name: str, heads: int, x: Array, memory: Array, seen: Array
) -> Array:
    """Compute MultiHeadAttention; ``seen`` is (N, T, S), true where a query attends to a key."""
    if f"{name}qkv.weight" in p:
        parts = {kind: np.split(p[f"{name}qkv.{kind}"], 3) for kind in ("weight", "bias")}
        q, k, v = (
            y @ w.T + b for y, w, b in zip((x, memory, memory), *parts.values(), strict=True)
        )
    else:
        q, k, v = (
            _dense(p, f"{name}{part}", y)
            for part, y in (("query", x), ("key", memory), ("value", memory))
        )
    width = q.shape[-1] // heads
    made = np.zeros_like(q)
    for h in range(heads):
        own = slice(h * width, (h + 1) * width)
        scores = q[..., own] @ k[..., own].swapaxes(1, 2) / np.sqrt(width)
        weights = np.where(seen, np.exp(np.where(seen, scores, 0)), 0)
        total = weights.sum(-1, keepdims=True)
        made[..., own] = weights / np.where(total == 0, 1, total) @ v[..., own]
    return _dense(p, f"{name}output", made)


def _feed(p: dict[str, Array], x: Array) -> Array:
    hidden = _dense(p, "feed_forward.hidden", x)
    return _dense(p, "feed_forward.output", hidden / (1 + np.exp(-hidden)))


def _layer(
    p: dict[str, Array],
    heads: int,
    norm_first: bool,
    x: Array,
    seen: Array,
    memory: Array | None = None,
    memory_seen: Array | None = None,
) -> Array:
    """Compute an encoder layer, or with a memory a decoder layer."""
    steps: list[tuple[str, Callable[[Array], Array]]] = [
        ("attention", lambda y: _attention(p, "attention.", heads, y, y, seen))
    ]
    if memory is not None and memory_seen is not None:
        steps.append(
            (
                "memory_attention",
                lambda y: _attention(p, "memory_attention.", heads, y, memory, memory_seen),
            )
        )
    steps.append(("feed_forward", lambda y: _feed(p, y)))
    for name, step in steps:
        norm = f"{name}_norm"
        x = x + step(_norm(p, norm, x)) if norm_first else _norm(p, norm, x + step(x))
    return x


def _seen(queries: int, keys: int, lengths: Any, causal: bool) -> Array:
    seen = np.broadcast_to(np.arange(keys) < np.array(lengths)[:, None, None], (N, queries, keys))
    if causal:
        own = np.arange(queries)[:, None] + keys - queries
        seen = seen & (np.arange(keys) <= own)
    return seen


def _hold(
    net: Any,
    arrays: list[Array],
    named: dict[str, Any],
    reference: Callable[..., Array],
    hybridized: bool,
) -> None:
    """Compare the result, and its gradient along a direction of weights and inputs."""
    random = np.random.default_rng(1)
    net.initialize(mx.init.Normal(0.4))
    net.hybridize(hybridized)
    given = [mx.nd.array(x) for x in arrays]
    counts = {k: mx.nd.array(v, dtype="int32") for k, v in named.items()}
    net(*given, **counts)
    parameters = net._collect_params_with_prefix()
    for name, parameter in parameters.items():
        if parameter.data().ndim == 1:
            value = random.standard_normal(parameter.shape) * 0.3 + name.endswith("gamma")
            parameter.set_data(mx.nd.array(value))
    for x in given:
        x.attach_grad()
    with mx.autograd.record():
        out = net(*given, **counts)
    exact = {name: p.data().asnumpy().astype(np.float64) for name, p in parameters.items()}
    inputs = [x.astype(np.float64) for x in arrays]
    wanted = reference(exact, *inputs)
    scale = max(np.abs(wanted).max(initial=0), 0.1)
    np.testing.assert_allclose(out.asnumpy(), wanted, rtol=0, atol=2e-5 * scale)
    head = random.standard_normal(wanted.shape)
    out.backward(mx.nd.array(head))
    total, size, sides = 0.0, 0.0, []
    moves = [random.standard_normal(x.shape) for x in (*exact.values(), *inputs)]
    gradients = [p.grad() for p in parameters.values()] + [x.grad for x in given]
    for move, gradient in zip(moves, gradients, strict=True):
        found = gradient.asnumpy().astype(np.float64)
        total += float((found * move).sum())
        size += float(np.abs(found * move).sum())
    for step in (1e-6, -1e-6):
        moved = [x + step * d for x, d in zip((*exact.values(), *inputs), moves, strict=True)]
        p = dict(zip(exact, moved, strict=False))
        sides.append((head * reference(p, *moved[len(exact) :])).sum())
    assert abs(total - (sides[0] - sides[1]) / 2e-6) <= 1e-4 * max(size, 1e-3)


def _arrays(units: int, *lengths: int) -> list[Array]:
    random = np.random.default_rng(units)
    return [random.standard_normal((N, n, units)).astype(np.float32) for n in lengths]


SIZES = [(15, 3), (35, 5), (21, 7)]  # odd heads, of odd widths
EXTENTS = [(5, 5), (1, 1), (3, 9), (9, 3), (1, 6)]


@pytest.mark.parametrize("hybridized", [False, True])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("queries", "keys"), EXTENTS)
@pytest.mark.parametrize(("units", "heads"), SIZES)
def test_attention(
    units: int, heads: int, queries: int, keys: int, causal: bool, hybridized: bool
) -> None:
    lengths = [0, 1, keys]
    net = nn.MultiHeadAttention(units, heads, causal=causal)
    seen = _seen(queries, keys, lengths, causal)

    def reference(p: dict[str, Array], x: Array, memory: Array) -> Array:
        return _attention(p, "", heads, x, memory, seen)

    _hold(net, _arrays(units, queries, keys), {"valid_length": lengths}, reference, hybridized)


@pytest.mark.parametrize("hybridized", [False, True])
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("length", [1, 6])
@pytest.mark.parametrize(("units", "heads"), SIZES)
def test_encoder_layer(
    units: int, heads: int, length: int, norm_first: bool, hybridized: bool
) -> None:
    lengths = [0, 1, length]
    options: dict[str, Any] = {"norm_first": norm_first, "causal": length > 1}
    net = nn.TransformerEncoderLayer(units, 11, heads, 0.0, activation="silu", **options)
    seen = _seen(length, length, lengths, length > 1)

    def reference(p: dict[str, Array], x: Array) -> Array:
        return _layer(p, heads, norm_first, x, seen)

    _hold(net, _arrays(units, length), {"valid_length": lengths}, reference, hybridized)


@pytest.mark.parametrize("hybridized", [False, True])
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize(("length", "others"), EXTENTS)
@pytest.mark.parametrize(("units", "heads"), SIZES)
def test_decoder_layer(
    units: int, heads: int, length: int, others: int, norm_first: bool, hybridized: bool
) -> None:
    own, memory_lengths = [length, 0, 1], [0, 1, others]
    options: dict[str, Any] = {"norm_first": norm_first, "activation": "silu"}
    net = nn.TransformerDecoderLayer(units, 11, heads, 0.0, **options)
    seen = _seen(length, length, own, True)
    memory_seen = _seen(length, others, memory_lengths, False)

    def reference(p: dict[str, Array], x: Array, memory: Array) -> Array:
        return _layer(p, heads, norm_first, x, seen, memory, memory_seen)

    named = {"valid_length": own, "memory_valid_length": memory_lengths}
    _hold(net, _arrays(units, length, others), named, reference, hybridized)


@pytest.mark.parametrize("hybridized", [False, True])
@pytest.mark.parametrize(("queries", "keys"), [(0, 4), (4, 0), (0, 0)])
def test_sequences_without_tokens(queries: int, keys: int, hybridized: bool) -> None:
    """Queries without keys get zeros, and so the bias of the output."""
    bias = mx.init.Normal(1.0)
    with mx.util.np_shape(True):
        net = nn.MultiHeadAttention(15, 3, in_units=15, bias_initializer=bias)
        net.initialize(mx.init.Normal(0.4))
        net.hybridize(hybridized)
        x, memory = map(mx.nd.array, _arrays(15, queries, keys))
        x.attach_grad()
        with mx.autograd.record():
            out = net(x, memory)
        out.backward()
    assert out.shape == (N, queries, 15)
    if queries:
        added = net.output.bias.data().asnumpy()
        assert added.any()
        np.testing.assert_array_equal(out.asnumpy(), np.broadcast_to(added, out.shape))
        assert not x.grad.asnumpy().any()


@pytest.mark.parametrize("hybridized", [False, True])
@pytest.mark.parametrize("norm_first", [False, True])
def test_layers_without_tokens(norm_first: bool, hybridized: bool) -> None:
    """A memory without tokens adds the bias of its attention, as if it were hidden."""
    random = np.random.default_rng(6)
    options: dict[str, Any] = {"norm_first": norm_first, "bias_initializer": mx.init.Normal(1.0)}
    with mx.util.np_shape(True):
        encoder = nn.TransformerEncoderLayer(15, 11, 3, **options)
        decoder = nn.TransformerDecoderLayer(15, 11, 3, **options)
        x, memory = (mx.nd.array(random.standard_normal((N, n, 15))) for n in (4, 2))
        nothing = mx.nd.zeros((N, 0, 15))
        for net in (encoder, decoder):
            net.initialize(mx.init.Normal(0.4))
        decoder(x, memory)
        for net in (encoder, decoder):
            net.hybridize(hybridized)
        assert encoder(nothing).shape == decoder(nothing, memory).shape == (N, 0, 15)
        hidden = decoder(x, memory, memory_valid_length=mx.nd.zeros(N))
        np.testing.assert_array_equal(decoder(x, nothing).asnumpy(), hidden.asnumpy())


CASES = [(name, i) for name, rows in ROWS.items() for i in range(len(rows))]
WIDE: dict[str, Callable[[], Any]] = {
    "MultiHeadAttention": lambda: nn.MultiHeadAttention(48, 3, dropout=0.3, causal=True),
    "TransformerEncoder": lambda: nn.TransformerEncoder(2, 48, 96, 3, dropout=0.3),
    "GatedMLP": lambda: nn.GatedMLP(48, 96, dropout=0.3),
}


def _started(make: Callable[[], Any], arrays: list[Any]) -> tuple[Any, list[Any]]:
    net = make()
    net.initialize(mx.init.Normal(0.4))
    given = [mx.nd.array(x) for x in arrays]
    net(*given)
    return net, given


def _bits(net: Any, given: list[Any]) -> list[Array]:
    mx.random.seed(5)
    for parameter in net.collect_params().values():
        if parameter.grad_req != "null":
            parameter.zero_grad()
    for x in given:
        x.attach_grad()
    with mx.autograd.record():
        out = net(*given)
        first = out[0] if isinstance(out, list | tuple) else out
    first.backward()
    trained = [p for p in net.collect_params().values() if p.grad_req != "null"]
    return [x.asnumpy() for x in (first, *(x.grad for x in given), *(p.grad() for p in trained))]


@pytest.mark.parametrize("hybridized", [False, True])
@pytest.mark.parametrize("case", [*CASES, *WIDE], ids=str)
def test_equal_runs_give_equal_bits(case: Any, hybridized: bool) -> None:
    """With dropout, in training: results and all gradients."""
    random = np.random.default_rng(2)
    if isinstance(case, str):
        net, given = _started(WIDE[case], [random.standard_normal((4, 150, 48))])
    else:
        row = ROWS[case[0]][case[1]]
        net, given = _started(lambda: row.make(True), row.inputs(random, 3))
    net.hybridize(hybridized)
    for a, b in zip(_bits(net, given), _bits(net, given), strict=True):
        np.testing.assert_array_equal(a, b)


def _close(name: str, found: Any, wanted: Array, share: float) -> None:
    first = found[0] if isinstance(found, list | tuple) else found
    assert first.shape == wanted.shape
    apart = np.abs(first.astype("float32").asnumpy() - wanted) / np.abs(wanted).max()
    # Rounding may change the experts that a token uses.
    assert (np.median if name == "MixtureOfExperts" else np.max)(apart) <= share


@pytest.mark.parametrize(("name", "index"), CASES)
def test_mixed_precision_and_bytes_take_each_layer(name: str, index: int) -> None:
    row = ROWS[name][index]
    random = np.random.default_rng(3)
    net, given = _started(lambda: row.make(True), row.inputs(random, 4))
    made = net(*given)
    wanted = (made[0] if isinstance(made, list | tuple) else made).asnumpy()
    for hybridized in (False, True):
        net.hybridize(hybridized)
        with amp.autocast("bfloat16"):
            _close(name, net(*given), wanted, 6e-2)
    _close(name, amp.convert_hybrid_block(net, "bfloat16")(*given), wanted, 6e-2)
    settings: dict[str, Any] = {"data_shapes": [x.shape for x in given]}
    if len({len(x) for x in given}) == 1:
        data = mx.gluon.data.ArrayDataset(*given)
        settings = {"calib_data": mx.gluon.data.DataLoader(data, batch_size=4)}
        settings["calib_mode"] = "naive"
    _close(name, quantize_net(net, **settings)(*given), wanted, 0.2)
