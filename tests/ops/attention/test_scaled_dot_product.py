"""scaled_dot_product_attention: values, gradients, and what bad input gets."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.errors import OperatorError
from gluonish.ops.attention.scaled_dot_product import ATTENTION, MASKED
from gluonish.ops.nn.dropout import DROPOUT_FACTORS
from gluonish.ops.registry import apply
from tests.checking.check_operator import check_operator
from tests.checking.values import run_operator

NAME = "scaled_dot_product_attention"


def arrays(*stack: int, length: int = 3, keys: int = 4, width: int = 2, values: int = 5) -> Any:
    random = np.random.default_rng(4)
    shapes = [(*stack, length, width), (*stack, keys, width), (*stack, keys, values)]
    return [random.standard_normal(shape).astype(np.float32) for shape in shapes]


def in_reach(keys: int, own: int, **a: Any) -> Any:
    """Return which keys causality and a window allow to a query."""
    distance = np.arange(keys) - own
    seen = np.ones(keys, bool)
    if a.get("causal"):
        seen &= distance <= 0
    if a.get("window"):
        seen &= np.abs(distance) < a["window"]
    return seen


def attention(q: Any, k: Any, v: Any, mask: Any = None, lengths: Any = None, **a: Any) -> Any:
    """Attention in float64, a query at a time, as its definition says."""
    axes = {"NHTC": (0, 1, 2, 3), "NTHC": (0, 2, 1, 3), "TNHC": (1, 2, 0, 3)}[
        a.get("layout", "NHTC")
    ]
    q, k, v = (np.asarray(x, np.float64) for x in (q, k, v))
    if q.ndim == 4:
        q, k, v = (x.transpose(axes) for x in (q, k, v))
    shape = q.shape
    if q.ndim == 3:
        q, k, v = (x[:, None] for x in (q, k, v))
    samples, heads, length, width = q.shape
    keys, group = k.shape[2], heads // k.shape[1]
    scale = width**-0.5 if a.get("scale") is None else a["scale"]
    if mask is not None:
        mask = np.broadcast_to(mask, (*shape[:-1], keys)).reshape(samples, heads, length, keys)
    out = np.zeros((samples, heads, length, v.shape[-1]))
    for n, h, t in np.ndindex(samples, heads, length):
        scores = scale * (k[n, h // group] @ q[n, h, t])
        if a.get("softcap"):
            scores = a["softcap"] * np.tanh(scores / a["softcap"])
        seen = in_reach(keys, keys - length + t, **a)
        if lengths is not None:
            counts = lengths[..., n]
            seen &= np.arange(keys) < counts[-1] if lengths.ndim > 1 else np.arange(keys) < counts
            seen &= lengths.ndim == 1 or t < counts[0]
        if mask is not None and mask.dtype == bool:
            seen &= mask[n, h, t]
        elif mask is not None:
            scores = scores + mask[n, h, t]
        if seen.any():
            weights = np.exp(scores[seen] - scores[seen].max())
            out[n, h, t] = weights / weights.sum() @ v[n, h // group][seen]
    if len(shape) == 3:
        return out[:, 0]
    return out.transpose(np.argsort(axes))


def hold(inputs: Any, attrs: Mapping[str, Any], optional: Mapping[str, Any] | None = None) -> None:
    """Check values and gradients of a call against `attention`."""
    optional = optional or {}
    used = {"use_mask": "mask" in optional, "use_length": "valid_length" in optional}
    q, k, v = inputs
    expected = attention(q, k, v, optional.get("mask"), optional.get("valid_length"), **attrs)
    every = [*inputs, *(optional[n] for n in ("mask", "valid_length") if n in optional)]
    check_operator(NAME, every, {**attrs, **used}, expected, half=not optional)


@pytest.mark.parametrize("stack", [(2,), (2, 3)])
def test_results_and_gradients(stack: tuple[int, ...]) -> None:
    empty = [x[:0] for x in arrays(*stack)]
    expected = attention(*arrays(*stack), scale=0.7)
    check_operator(NAME, arrays(*stack), {"scale": 0.7}, expected, zero_size=empty)


@pytest.mark.parametrize(
    "attrs",
    [
        {},
        {"causal": True},
        {"window": 2},
        {"causal": True, "window": 2},
        {"softcap": 1.5},
        {"softcap": 0.5, "causal": True, "scale": -0.4},
    ],
)
@pytest.mark.parametrize("length", [1, 3, 6])
def test_keys_in_reach_and_limited_scores(attrs: dict[str, Any], length: int) -> None:
    hold(arrays(2, 2, length=length), attrs)


@pytest.mark.parametrize("layout", ["NHTC", "NTHC", "TNHC"])
def test_groups_of_heads_share_keys_in_any_layout(layout: str) -> None:
    random = np.random.default_rng(5)
    shapes = ((2, 4, 3, 2), (2, 2, 5, 2), (2, 2, 5, 3))
    axes = {"NHTC": (0, 1, 2, 3), "NTHC": (0, 2, 1, 3), "TNHC": (2, 0, 1, 3)}[layout]
    inputs = [random.standard_normal(s).transpose(axes).astype(np.float32) for s in shapes]
    hold(inputs, {"layout": layout, "causal": True})


@pytest.mark.parametrize("shape", [(3, 4), (1, 4), (2, 1, 3, 4), (2, 3, 1, 4), (2, 1, 1, 1)])
@pytest.mark.parametrize("kind", [bool, np.float32])
def test_masks_that_broadcast(shape: tuple[int, ...], kind: Any) -> None:
    random = np.random.default_rng(6)
    mask = random.standard_normal(shape).astype(np.float32)
    hold(arrays(2, 3), {}, {"mask": mask > -0.3 if kind is bool else mask})


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.float32])
def test_lengths_and_a_mask_and_causality_hide_keys_together(kind: Any) -> None:
    lengths = np.array([0, 1, 3, 9], kind)
    mask = np.random.default_rng(7).random((4, 1, 3, 4)) > 0.3
    hold(arrays(4, 2), {"causal": True}, {"mask": mask, "valid_length": lengths})
    hold(arrays(4), {}, {"valid_length": lengths})


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.float32])
def test_lengths_of_queries_and_keys(kind: Any) -> None:
    lengths = np.array([[3, 2, 0], [1, 4, 3]], kind)
    hold(arrays(3, 2), {}, {"valid_length": lengths})
    mask = np.float32([0, MASKED, 0, 1]).reshape(1, 1, 1, 4)
    hold(arrays(3, 2), {"causal": True}, {"mask": mask, "valid_length": lengths})


def test_a_query_without_keys_gets_zeros_and_no_gradient() -> None:
    q, k, v = (nd.array(x) for x in arrays(1, 1))
    for x in (q, k, v):
        x.attach_grad()
    mask = nd.array(np.array([[True] * 4, [False] * 4, [True] * 4]), dtype=bool)
    with autograd.record():
        out = nd.scaled_dot_product_attention(q, k, v, mask)
    out.backward()
    assert (out.asnumpy()[0, 0, 1] == 0).all()
    assert (q.grad.asnumpy()[0, 0, 1] == 0).all()
    assert all(np.isfinite(x.grad.asnumpy()).all() for x in (q, k, v))
    low = nd.array(np.full((3, 4), -np.inf))
    assert (nd.scaled_dot_product_attention(q, k, v, low).asnumpy() == 0).all()


def test_output_with_heads_behind_its_rows() -> None:
    expected = attention(*arrays(2, 3)).swapaxes(1, 2)
    check_operator(NAME, arrays(2, 3), {"swapped": True}, expected)
    with pytest.raises(OperatorError, match=r"expected heads in query \(N, H, T, C\)"):
        run_operator(NAME, *arrays(2), swapped=True)


def test_large_scores_do_not_overflow() -> None:
    q, k, v = arrays(1)
    found = run_operator(NAME, q * 1e4, k, v)
    np.testing.assert_allclose(found, attention(q * 1e4, k, v), rtol=1e-4)


def test_optional_arrays_are_given_by_name_or_position_everywhere() -> None:
    q, k, v = arrays(2, 3)
    mask = np.random.default_rng(8).random((2, 1, 3, 4)) > 0.3
    lengths = np.array([2, 4], np.int32)
    expected = attention(q, k, v, mask, lengths)
    given = [nd.array(x, dtype=x.dtype) for x in (q, k, v, mask, lengths)]
    found = nd.scaled_dot_product_attention(*given)
    np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-5, atol=1e-6)
    found = nd.scaled_dot_product_attention(*given[:3], valid_length=given[4], mask=given[3])
    np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-5, atol=1e-6)
    names = ("q", "k", "v", "l")
    symbol = mx.sym.scaled_dot_product_attention(
        *map(mx.sym.var, names[:3]), valid_length=mx.sym.var("l")
    )
    assert symbol.list_arguments() == list(names)
    loaded = mx.sym.load_json(symbol.tojson())
    bound = loaded.bind(mx.cpu(), dict(zip(names, (*given[:3], given[4]), strict=True)))
    expected = attention(q, k, v, None, lengths)
    np.testing.assert_allclose(bound.forward()[0].asnumpy(), expected, rtol=1e-5, atol=1e-6)
    found = mx.npx.scaled_dot_product_attention(*(mx.np.array(x) for x in (q, k, v)))
    np.testing.assert_allclose(found.asnumpy(), attention(q, k, v), rtol=1e-5, atol=1e-6)


def _recorded(q: Any, k: Any, v: Any, p: float) -> tuple[Any, Any, list[Any]]:
    """Return the output of a call with dropout, its factors, and the gradients of its sum."""
    q, k, v = (nd.array(x) for x in (q, k, v))
    for x in (q, k, v):
        x.attach_grad()
    with autograd.record():
        out = nd.scaled_dot_product_attention(q, k, v, scale=0.5, dropout=p, mode="always")
    drawn = out._edge[0].outputs[2]  # type: ignore[index]  # it was recorded
    out.backward()
    shape = (*q.shape[:-1], k.shape[-2])
    factors = apply(DROPOUT_FACTORS, (drawn,), {"p": p, "shape": shape, "dtype": np.float32})
    return out.asnumpy(), factors.asnumpy(), [x.grad.asnumpy() for x in (q, k, v)]


@pytest.mark.parametrize("keys", [20, 21])
def test_dropout_zeroes_the_weights_that_it_tells_in_both_passes(keys: int) -> None:
    p = 0.4
    q, k, v = arrays(2, length=16, keys=keys)
    out, factors, (of_q, of_k, of_v) = _recorded(q, k, v, p)
    assert set(np.unique(factors)) == {0, np.float32(1 / (1 - p))}
    assert 0.3 < (factors == 0).mean() < 0.5
    scores = 0.5 * (q @ k.swapaxes(1, 2))
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    np.testing.assert_allclose(out, (weights * factors) @ v, rtol=1e-4, atol=1e-5)
    # The gradients of the sum of all outputs.
    of_weights = factors * v.sum(-1)[:, None]
    inner = (of_weights * weights).sum(-1, keepdims=True)
    of_scores = 0.5 * weights * (of_weights - inner)
    np.testing.assert_allclose(of_q, of_scores @ k, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(of_k, of_scores.swapaxes(1, 2) @ q, rtol=1e-3, atol=1e-4)
    rows = (weights * factors).sum(1)[..., None]
    np.testing.assert_allclose(of_v, np.broadcast_to(rows, v.shape), rtol=1e-4, atol=1e-5)


def test_dropout_draws_the_factors_of_the_dropout_operator() -> None:
    q, k, v = (nd.array(x) for x in arrays(2, length=16, keys=20))
    mx.random.seed(3)
    found = nd.scaled_dot_product_attention(q, k, v, dropout=0.4, mode="always")
    mx.random.seed(3)
    weights = nd.softmax(nd.batch_dot(q, k, transpose_b=True) * 2**-0.5)
    expected = nd.batch_dot(nd.Dropout(weights, p=0.4, mode="always"), v)
    np.testing.assert_allclose(found.asnumpy(), expected.asnumpy(), rtol=1e-5, atol=1e-6)


def test_second_order_uses_the_factors_of_the_first() -> None:
    q, k, v = (nd.array(x) for x in arrays(1))
    q.attach_grad()
    attrs = {**ATTENTION.schema.defaults, "scale": 0.5, "dropout": 0.4, "mode": "always"}
    with autograd.record():
        out = apply(ATTENTION, (q, k, v), attrs)
        drawn = out._edge[0].outputs[2]  # type: ignore[index]  # it was recorded
        first = autograd.grad((out * out).sum(), q, create_graph=True)[0]
        (first * first).sum().backward()
    exact = q.grad.asnumpy()
    factors = apply(
        DROPOUT_FACTORS,
        (drawn,),
        {"p": 0.4, "shape": (1, 3, 4), "dtype": np.float32},
    )
    with autograd.record():
        weights = nd.softmax(nd.batch_dot(q, k, transpose_b=True) * 0.5) * factors
        out = nd.batch_dot(weights, v)
        first = autograd.grad((out * out).sum(), q, create_graph=True)[0]
        (first * first).sum().backward()
    np.testing.assert_allclose(exact, q.grad.asnumpy(), rtol=1e-3, atol=1e-4)


Q, K, V = arrays(2, 4)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ((Q[..., :1], K, V), "expected key of width 1, like query, got 2"),
        ((Q, K[:, :, :2], V), "expected as many heads and positions in value as in key"),
        ((Q[:1], K, V), "expected key with the samples of query, and heads that divide"),
        ((Q, K[:, :3], V[:, :3]), "expected key with the samples of query, and heads that divide"),
        ((Q[0, 0], K[0, 0], V[0, 0]), r"expected query, key and value \(..., T, C\)"),
        ((Q.astype(np.int32), K, V), "expected floating arrays of one dtype"),
        ((Q, K.astype(np.float64), V), "got key of float64 and query of float32"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(inputs: Any, message: str) -> None:
    with pytest.raises(OperatorError, match=f"{NAME}: .*{message}"):
        run_operator(NAME, *inputs)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"dropout": 1.5}, r"expected dropout in \[0, 1\), got 1.5"),
        ({"softcap": -1.0}, "expected softcap above 0 or None, got -1.0"),
        ({"window": 0}, "window"),
        ({"mask": np.ones((2, 3), bool)}, "expected a mask that broadcasts to"),
        ({"mask": np.ones((3, 4), np.int32)}, "expected a boolean mask .*, got int32"),
        ({"valid_length": np.ones(3, np.int32)}, r"expected valid_length \(2,\) of numbers"),
        ({"layout": "NCHW"}, "layout"),
    ],
)
def test_attributes_and_optional_arrays_that_do_not_fit(given: Any, message: str) -> None:
    made = {
        name: nd.array(x, dtype=x.dtype) if isinstance(x, np.ndarray) else x
        for name, x in given.items()
    }
    with pytest.raises(OperatorError, match=f"{NAME}: .*{message}"):
        nd.scaled_dot_product_attention(*map(nd.array, (Q, K, V)), **made)


def test_none_for_a_mask_is_no_mask_after_a_call_with_one() -> None:
    q = mx.nd.random.normal(shape=(1, 2, 3, 4))
    mask = mx.nd.array(np.eye(3), dtype="bool")
    masked = mx.nd.scaled_dot_product_attention(q, q, q, mask)
    plain = mx.nd.scaled_dot_product_attention(q, q, q, None)
    np.testing.assert_allclose(masked.asnumpy(), q.asnumpy(), rtol=1e-6)
    whole = mx.nd.scaled_dot_product_attention(q, q, q)
    np.testing.assert_array_equal(plain.asnumpy(), whole.asnumpy())
