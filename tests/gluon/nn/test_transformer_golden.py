"""Attention and the layers of transformers against PyTorch's, with its weights."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.gluon import nn

GOLDEN = np.load(Path(__file__).parents[2] / "golden" / "transformer.npz")
UNITS, HIDDEN, HEADS = 8, 12, 2
LENGTHS = {"x": [5, 2], "memory": [3, 7]}
# PyTorch's names of parameters, and ours.
NAMES = {
    "in_proj_weight": "qkv.weight",
    "in_proj_bias": "qkv.bias",
    "out_proj": "output",
    "self_attn": "attention",
    "multihead_attn": "memory_attention",
    "linear1": "feed_forward.hidden",
    "linear2": "feed_forward.output",
    "norm1": "attention_norm",
}


def of_case(case: str, kind: str) -> dict[str, np.ndarray]:
    start = f"{case}/{kind}/"
    return {name[len(start) :]: GOLDEN[name] for name in GOLDEN if name.startswith(start)}


def our_name(case: str, name: str) -> str:
    decodes = case.startswith("decoder")
    norms = {"norm2": "memory_attention_norm" if decodes else "feed_forward_norm"}
    norms["norm3"] = "feed_forward_norm"
    for theirs, ours in {**NAMES, **norms}.items():
        name = re.sub(rf"(^|\.){theirs}", rf"\g<1>{ours}", name)
    return re.sub(r"(norm\w*)\.weight$", r"\1.gamma", re.sub(r"(norm\w*)\.bias$", r"\1.beta", name))


def ours_of(case: str, values: dict[str, np.ndarray], paths: set[str]) -> dict[str, np.ndarray]:
    """Return arrays by our names, and projections apart where ours are."""
    found = {}
    for name, value in values.items():
        ours = our_name(case, name)
        if ours in paths:
            found[ours] = value
            continue
        start, kind = ours.rsplit("qkv.", 1)
        for part, rows in zip(("query", "key", "value"), np.split(value, 3), strict=True):
            found[f"{start}{part}.{kind}"] = rows
    return found


def hold(case: str, net: Any, call: Any, layout: str, hybridize: bool) -> None:
    """Compare result and gradients; ``call(net, arrays)`` computes."""
    net.initialize()
    if hybridize:
        net.hybridize()
    arrays = of_case(case, "in")
    if layout == "TNC":
        arrays = {name: x.swapaxes(0, 1) for name, x in arrays.items()}
    given = {name: mx.nd.array(x) for name, x in arrays.items()}
    call(net, given)  # shapes
    parameters = net._collect_params_with_prefix()
    weights = ours_of(case, of_case(case, "p"), set(parameters))
    assert weights.keys() == parameters.keys()
    for name, value in weights.items():
        parameters[name].set_data(mx.nd.array(value))
    for x in given.values():
        x.attach_grad()
    with mx.autograd.record():
        out = call(net, given)
    heads, expected = GOLDEN[f"{case}/heads"], GOLDEN[f"{case}/out"]
    if layout == "TNC":
        heads, expected = heads.swapaxes(0, 1), expected.swapaxes(0, 1)
    out.backward(mx.nd.array(heads))
    close(out.asnumpy(), expected, 2e-5, "output")
    gradients = of_case(case, "g")
    for name, x in given.items():
        wanted = gradients.pop(name)
        close(x.grad.asnumpy(), wanted.swapaxes(0, 1) if layout == "TNC" else wanted, 1e-4, name)
    learned = ours_of(case, gradients, set(parameters))
    for name, wanted in learned.items():
        # The gradient of the bias of keys is 0: a sum of parts as large as that of queries.
        like = learned[name.replace("key.", "query.")]
        close(parameters[name].grad().asnumpy(), wanted, 1e-4, name, like)


def close(
    found: np.ndarray,
    expected: np.ndarray,
    tolerance: float,
    name: str,
    like: np.ndarray | None = None,
) -> None:
    """Compare by the scale of the expected values, or that of others if it is larger."""
    scale = max(np.abs(x).max() for x in (expected, expected if like is None else like))
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale, err_msg=name)


def lengths_of(name: str) -> Any:
    return mx.nd.array(LENGTHS[name], dtype="int32")


def masked(name: str) -> Any:
    longest = {"x": 5, "memory": 7}[name]
    seen = np.arange(longest) < np.array(LENGTHS[name])[:, None]
    return mx.nd.array(seen[:, None, None], dtype=bool)


ATTENTIONS: dict[str, tuple[dict[str, Any], Any]] = {
    "attention": ({}, lambda net, a: net(a["x"])),
    "attention no bias": ({"use_bias": False}, lambda net, a: net(a["x"])),
    "attention causal": ({"causal": True}, lambda net, a: net(a["x"])),
    "attention lengths": ({}, lambda net, a: net(a["x"], valid_length=lengths_of("x"))),
    "attention memory": ({}, lambda net, a: net(a["x"], a["memory"])),
    "attention memory lengths": (
        {},
        lambda net, a: net(a["x"], a["memory"], mask=masked("memory")),
    ),
}


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("layout", ["NTC", "TNC"])
@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("case", ATTENTIONS)
def test_attention(case: str, fused: bool, layout: str, hybridize: bool) -> None:
    options, call = ATTENTIONS[case]
    net = nn.MultiHeadAttention(UNITS, HEADS, fused=fused, layout=layout, **options)
    hold(case, net, call, layout, hybridize)


ORDERS = {"pre": True, "post": False}


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("layout", ["NTC", "TNC"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("order", ORDERS)
def test_encoder_layer(order: str, activation: str, layout: str, hybridize: bool) -> None:
    options: dict[str, Any] = {"norm_first": ORDERS[order], "layout": layout, "dropout": 0.0}
    net = nn.TransformerEncoderLayer(UNITS, HIDDEN, HEADS, activation=activation, **options)
    case = f"encoder layer {order} {activation}"
    hold(case, net, lambda net, a: net(a["x"], None, lengths_of("x")), layout, hybridize)


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("layout", ["NTC", "TNC"])
@pytest.mark.parametrize("order", ORDERS)
def test_encoder(order: str, layout: str, hybridize: bool) -> None:
    options: dict[str, Any] = {"norm_first": ORDERS[order], "layout": layout, "dropout": 0.0}
    net = nn.TransformerEncoder(2, UNITS, HIDDEN, HEADS, **options)
    hold(f"encoder {order}", net, lambda net, a: net(a["x"]), layout, hybridize)


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("layout", ["NTC", "TNC"])
@pytest.mark.parametrize("stacked", [False, True])
@pytest.mark.parametrize("order", ORDERS)
def test_decoder(order: str, stacked: bool, layout: str, hybridize: bool) -> None:
    options: dict[str, Any] = {"norm_first": ORDERS[order], "layout": layout, "dropout": 0.0}
    options["activation"] = "gelu"
    net: Any = nn.TransformerDecoderLayer(UNITS, HIDDEN, HEADS, **options)
    if stacked:
        net = nn.TransformerDecoder(2, UNITS, HIDDEN, HEADS, **options)
    case = f"decoder {order}" if stacked else f"decoder layer {order}"
    hold(
        case,
        net,
        lambda net, a: net(a["x"], a["memory"], memory_valid_length=lengths_of("memory")),
        layout,
        hybridize,
    )
