"""What layers and operators of transformers say of bad input: one message, hybridized too."""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, GluonishError
from gluonish.core.mxnet_rules import follow_mxnet
from gluonish.gluon import nn
from gluonish.gluon.loss import LinearCrossEntropyLoss, SoftmaxCrossEntropyLoss

Make = Callable[..., Any]
ATTENTION = partial(nn.MultiHeadAttention, 12, 3)
ENCODER_LAYER = partial(nn.TransformerEncoderLayer, 12, 16, 3)
DECODER_LAYER = partial(nn.TransformerDecoderLayer, 12, 16, 3)
ENCODER = partial(nn.TransformerEncoder, 2, 12, 16, 3)
DECODER = partial(nn.TransformerDecoder, 2, 12, 16, 3)
LAYERS: list[Make] = [ENCODER_LAYER, DECODER_LAYER, ENCODER, DECODER]
DROPPING: list[Make] = [ATTENTION, *LAYERS, partial(nn.GatedMLP, 12, 16)]
_RATES: list[tuple[Make, str]] = [
    *((make, "dropout") for make in DROPPING),
    *((make, f"{part}_dropout") for make in LAYERS for part in ("attention", "activation")),
    (nn.DropPath, "rate"),
]


def _windows(window: int) -> list[tuple[Make, dict[str, Any]]]:
    given = {"window": window}
    layers = [(make, {"attention_options": given}) for make in LAYERS]
    return [(ATTENTION, given), *layers, (DECODER_LAYER, {"memory_options": given})]


_NONE: dict[str, Any] = {}
CONSTRUCTORS: list[tuple[Make, dict[str, Any], str]] = [
    *(
        (make, {rate: value}, f": expected {rate} in [0, 1), got {value}")
        for make, rate in _RATES
        for value in (1.0, -0.5, float("nan"))
    ),
    *(
        (make, _NONE, "MultiHeadAttention: expected num_heads that divides units 12, got 5")
        for make in (
            partial(nn.MultiHeadAttention, 12, 5),
            partial(nn.TransformerEncoderLayer, 12, 16, 5),
            partial(nn.TransformerDecoderLayer, 12, 16, 5),
            partial(nn.TransformerEncoder, 2, 12, 16, 5),
            partial(nn.TransformerDecoder, 2, 12, 16, 5),
        )
    ),
    (
        partial(nn.MultiHeadAttention, 12, 6),
        {"num_kv_heads": 4},
        "MultiHeadAttention: expected num_kv_heads that divides num_heads 6, got 4",
    ),
    *(
        (make, options, f"MultiHeadAttention: expected window of 1 or more, got {window}")
        for window in (0, -2)
        for make, options in _windows(window)
    ),
    (
        partial(nn.PositionalEmbedding, 12),
        {"max_length": -1},
        "PositionalEmbedding: expected max_length of 1 or more, got -1",
    ),
    (
        partial(nn.MixtureOfExperts, 12, 16, 2),
        {"top_k": 3},
        "MixtureOfExperts: expected top_k of at most num_experts 2, got 3",
    ),
]


@pytest.mark.parametrize(("make", "options", "message"), CONSTRUCTORS)
def test_options_are_refused(make: Make, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=re.escape(message)) as found:
        make(**options)
    assert "expected" in str(found.value).partition(": ")[2]  # a name comes first


class Call(NamedTuple):
    """A call that is refused.

    Attributes:
        make: Makes a block, or is an operator's name.
        arrays: Inputs by position.
        options: Inputs by name, and an operator's options.
        message: What the error says.
    """

    make: Make | str
    arrays: tuple[Any, ...]
    options: dict[str, Any]
    message: str


def _rows(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def _numbers(*values: Any, dtype: str = "float32") -> np.ndarray[Any, Any]:
    return np.array(values, dtype)


X, M, Q, K = _rows(2, 5, 12), _rows(2, 4, 12), _rows(2, 3, 5, 4), _rows(2, 3, 7, 4)
SDPA = "scaled_dot_product_attention"
_SHAPE = f"{SDPA}: expected a mask that broadcasts to "
_KIND = f"{SDPA}: expected a boolean mask (true where a query attends to a key) or a floating one"
_LENGTH = f"{SDPA}: expected valid_length of at least 0, got -"


def _masks(make: Make | str, arrays: tuple[Any, ...], name: str, keys: int) -> list[Call]:
    """Return calls with bad masks and lengths of two samples, three heads and five queries."""
    scores = f"(2, 3, 5, {keys}), got shape (2, 1, 5, {keys + 1})"
    lengths = name.replace("mask", "valid_length")
    found = [
        Call(make, arrays, {name: np.ones((2, 1, 5, keys + 1), bool)}, _SHAPE + scores),
        Call(make, arrays, {name: np.ones((5, keys), np.int32)}, f"{_KIND} (added to the scores)"),
    ]
    for kind in ("float32", "int32", "int64", "float64"):
        given = {lengths: _numbers(3, -1, dtype=kind)}
        found.append(Call(make, arrays, given, f"{_LENGTH}1"))
    return found


def _lengths_of_both() -> list[Call]:
    calls = [Call(SDPA, (Q, K, K), {"valid_length": _numbers([3, -2], [4, 4])}, f"{_LENGTH}2")]
    wide = (_rows(2, 1, 5, 600), _rows(2, 1, 7, 600), _rows(2, 1, 7, 600))  # the reference kernel
    calls.append(Call(SDPA, wide, {"valid_length": _numbers(1, -3)}, f"{_LENGTH}3"))
    nothing = _numbers(1, float("nan"))
    calls.append(Call(SDPA, (Q, K, K), {"valid_length": nothing}, "of at least 0, got nan"))
    return calls


_POSITION = "rotary_embedding: expected positions of at least 0, got -1"
_IDS = "Embedding: expected ids in data from 0 to 9, got ids from "
CALLS: list[Call] = [
    *_masks(SDPA, (Q, K, K), "mask", 7),
    *_masks(ATTENTION, (X,), "mask", 5),
    *_masks(ATTENTION, (X, M), "mask", 4),
    *_masks(ENCODER_LAYER, (X,), "mask", 5),
    *_masks(ENCODER, (X,), "mask", 5),
    *_masks(DECODER_LAYER, (X, M), "mask", 5),
    *_masks(DECODER_LAYER, (X, M), "memory_mask", 4),
    *_masks(DECODER, (X, M), "mask", 5),
    *_masks(DECODER, (X, M), "memory_mask", 4),
    *_lengths_of_both(),
    Call(SDPA, (Q, K, Q), {}, "as many heads and positions in value as in key, got shapes"),
    Call(ATTENTION, (X, M, X), {}, "as many heads and positions in value as in key, got shapes"),
    Call(SDPA, (Q, K[:, :2], K[:, :2]), {}, "and heads that divide those of query, got shapes"),
    *(
        Call(SDPA, (Q, K, K), {"dropout": rate}, f"{SDPA}: expected dropout in [0, 1), got {rate}")
        for rate in (1.0, -0.5, float("nan"))
    ),
    *(Call(SDPA, (Q, K, K), {"window": size}, f"{SDPA}: window") for size in (0, -1)),
    Call("rotary_embedding", (Q,), {"offset": -1}, "rotary_embedding: offset"),
    Call("rotary_embedding", (Q, _numbers(0, 1, -1, 2, 3)), {}, _POSITION),
    Call(nn.RotaryEmbedding, (Q, _numbers(0, 1, -1, 2, 3, dtype="int32")), {}, _POSITION),
    Call(partial(ATTENTION, rotary={}), (X,), {"positions": _numbers(0, 1, -1, 2, 3)}, _POSITION),
    *(
        Call(make, (_numbers(3, *ids, dtype=kind), *weight), options, _IDS + message)
        for ids, message in (((-1,), "-1"), ((10,), "3"), ((-7, 99), "-7"))
        for kind in ("float32", "int32", "int64")
        for make, weight, options in (
            (partial(nn.Embedding, 10, 4), (), {}),
            ("Embedding", (_rows(10, 4),), {"input_dim": 10, "output_dim": 4}),
        )
    ),
    Call(
        "linear_cross_entropy",
        (_rows(3, 4), _rows(10, 4), _numbers(1, 10, 2)),
        {},
        "linear_cross_entropy: expected",
    ),
    Call("cross_entropy", (_rows(3, 10), _numbers(1, -2, 2)), {}, "cross_entropy: expected"),
    Call(
        partial(LinearCrossEntropyLoss, 10, in_units=4),
        (_rows(3, 4), _numbers(1, 10, 2)),
        {},
        "linear_cross_entropy: expected",
    ),
    Call(
        partial(SoftmaxCrossEntropyLoss, ignore_label=-1),
        (_rows(3, 10), _numbers(-1, -2, 2)),
        {},
        "cross_entropy: expected",
    ),
]


class _Calls(mx.gluon.HybridBlock):
    """Call an operator; the last inputs go by name."""

    def __init__(self, operator: str, names: list[str], attrs: dict[str, Any]) -> None:
        super().__init__()
        self._operator, self._names, self._attrs = operator, names, attrs

    def hybrid_forward(self, F: Any, *arrays: Any) -> Any:
        first = len(arrays) - len(self._names)
        named = dict(zip(self._names, arrays[first:], strict=True))
        return getattr(F, self._operator)(*arrays[:first], **named, **self._attrs)


def _run(call: Call, hybridized: bool) -> None:
    named = {k: x for k, x in call.options.items() if isinstance(x, np.ndarray)}
    arrays = [mx.nd.array(x, dtype=x.dtype) for x in call.arrays]
    given = {name: mx.nd.array(x, dtype=x.dtype) for name, x in named.items()}
    if isinstance(call.make, str):
        attrs = {k: x for k, x in call.options.items() if k not in named}
        net: Any = _Calls(call.make, list(named), attrs)
        arrays, given = [*arrays, *given.values()], {}
    else:
        net = call.make()
    net.initialize()
    if hybridized:
        net.hybridize()
    made = net(*arrays, **given)
    (made[0] if isinstance(made, list | tuple) else made).asnumpy()


@pytest.fixture(autouse=True)
def _leave_no_error_behind() -> Iterator[None]:
    """Take errors of arrays that no test reads, such as rotated keys, from the next `waitall`."""
    yield
    with suppress(GluonishError):
        mx.nd.waitall()


@pytest.mark.parametrize("hybridized", [False, True])
@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.message[:60])
def test_calls_are_refused(call: Call, hybridized: bool) -> None:
    name, _, what = call.message.rpartition(": ")
    with pytest.raises(GluonishError, match=f"{name}.*{re.escape(what)}") as found:
        _run(call, hybridized)
    assert ", got" in str(found.value)


@pytest.mark.parametrize("hybridized", [False, True])
def test_caches_refuse_negative_positions(hybridized: bool) -> None:
    net = ATTENTION(causal=True)
    net.initialize()
    if hybridized:
        net.hybridize()
    cache = net.begin_cache(2, 8)
    cache.position[:] = -1
    with pytest.raises(GluonishError, match="expected a position from 0 to 3, for 5 new keys"):
        net(mx.nd.array(X), cache=cache).asnumpy()


def test_ids_outside_are_clipped_under_the_name_mxnet() -> None:
    net = nn.Embedding(10, 4)
    net.initialize()
    net.hybridize()
    ids = mx.nd.array([-7, 99])
    before = follow_mxnet()
    try:
        rows = net(ids).asnumpy()
    finally:
        follow_mxnet(before)
    np.testing.assert_array_equal(rows, net.weight.data().asnumpy()[[0, 9]])
