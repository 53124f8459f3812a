"""_attention is a softmax of scaled products, times values, with all its gradients."""

from typing import Any

import numpy as np
import pytest

from gluonish import autograd, nd
from gluonish.core.errors import OperatorError
from gluonish.ops.attention.fused_attention import ATTENTION, MASKED
from gluonish.ops.nn.dropout import DROPOUT_FACTORS
from gluonish.ops.registry import apply
from tests.checking.check_operator import check_operator
from tests.checking.values import run_operator


def expected(scale: float) -> Any:
    def compute(q: Any, k: Any, v: Any) -> Any:
        q, k, v = (x.astype(np.float64) for x in (q, k, v))
        scores = scale * (q @ k.swapaxes(-1, -2))
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return weights / weights.sum(-1, keepdims=True) @ v

    return compute


def arrays(*stack: int, length: int = 3, keys: int = 4, width: int = 2, values: int = 5) -> Any:
    random = np.random.default_rng(4)
    shapes = [(*stack, length, width), (*stack, keys, width), (*stack, keys, values)]
    return [random.standard_normal(shape).astype(np.float32) for shape in shapes]


@pytest.mark.parametrize("stack", [(2,), (2, 3)])
def test_results_and_gradients(stack: tuple[int, ...]) -> None:
    empty = [x[:0] for x in arrays(*stack)]
    check_operator("_attention", arrays(*stack), {"scale": 0.7}, expected(0.7), zero_size=empty)


def test_output_with_heads_behind_its_rows() -> None:
    def swapped(*operands: Any) -> Any:
        return expected(0.7)(*operands).swapaxes(1, 2)

    check_operator("_attention", arrays(2, 3), {"scale": 0.7, "swapped": True}, swapped)
    with pytest.raises(OperatorError, match=r"expected heads in queries \(N, H, T, C\)"):
        run_operator("_attention", *arrays(2), swapped=True)


def test_large_scores_do_not_overflow() -> None:
    q, k, v = arrays(1)
    found = run_operator("_attention", q * 1e4, k, v)
    np.testing.assert_allclose(found, expected(1e4)(q, k, v), rtol=1e-4)


def _recorded(q: Any, k: Any, v: Any, p: float) -> tuple[Any, Any, list[Any]]:
    """Return the output of a call with dropout, its factors, and the gradients of its sum."""
    q, k, v = (nd.array(x) for x in (q, k, v))
    for x in (q, k, v):
        x.attach_grad()
    attrs = {"scale": 0.5, "p": p, "mode": "always", "swapped": False}
    with autograd.record():
        out = apply(ATTENTION, (q, k, v), attrs)
    drawn = out._edge[0].outputs[2]
    out.backward()
    shape = (*q.shape[:-1], k.shape[-2])
    factors = apply(DROPOUT_FACTORS, (drawn,), {"p": p, "shape": shape, "dtype": np.float32})
    return out.asnumpy(), factors.asnumpy(), [x.grad.asnumpy() for x in (q, k, v)]


def test_dropout_zeroes_the_weights_that_it_tells_in_both_passes() -> None:
    p = 0.4
    q, k, v = arrays(2, length=16, keys=20)
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


def test_second_order_uses_the_factors_of_the_first() -> None:
    q, k, v = (nd.array(x) for x in arrays(1))
    q.attach_grad()
    with autograd.record():
        out = apply(
            ATTENTION, (q, k, v), {"scale": 0.5, "p": 0.4, "mode": "always", "swapped": False}
        )
        drawn = out._edge[0].outputs[2]
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


def hidden_expected(
    q: Any, k: Any, v: Any, mask: Any = 0.0, lengths: Any = None, causal: bool = False
) -> Any:
    """Return the output by float64, row by row."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = 0.7 * (q @ k.swapaxes(-1, -2)) + mask
    out = np.zeros((*q.shape[:-1], v.shape[-1]))
    for *stack, i in np.ndindex(out.shape[:-1]):
        queries, keys = lengths[:, stack[0]] if lengths is not None else (out.shape[-2], 99)
        seen = min(keys, i + 1 + k.shape[-2] - q.shape[-2] if causal else 99)
        if i < queries:
            row = scores[(*stack, i, slice(seen))]
            weights = np.exp(row - row.max())
            out[(*stack, i)] = weights / weights.sum() @ v[tuple(stack)][:seen]
    return out


_HIDDEN: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "causal": ({"causal": True}, []),
    "mask of keys": (
        {"use_mask": True},
        [np.float32([[0, 0, MASKED, 0], [0.5, 0, 0, MASKED]]).reshape(2, 1, 1, 4)],
    ),
    "mask of heads": (
        {"use_mask": True},
        [np.random.default_rng(2).standard_normal((1, 3, 3, 4)).astype(np.float32)],
    ),
    "lengths": ({"use_lengths": True}, [np.int32([[3, 2], [1, 4]])]),
    "no queries": ({"use_lengths": True}, [np.int32([[0, 3], [1, 3]])]),
    "all": (
        {"use_mask": True, "use_lengths": True, "causal": True},
        [np.float32([0, MASKED, 0, 1]).reshape(1, 1, 1, 4), np.int32([[3, 0], [3, 4]])],
    ),
}


@pytest.mark.parametrize("case", _HIDDEN)
def test_hidden_keys_have_no_weight_and_no_gradient(case: str) -> None:
    attrs, rest = _HIDDEN[case]

    def compute(q: Any, k: Any, v: Any) -> Any:
        names = [x for x in ("mask", "lengths") if attrs.get(f"use_{x}")]
        given = dict(zip(names, rest, strict=True))
        return hidden_expected(q, k, v, causal=attrs.get("causal", False), **given)

    q, k, v = arrays(2, 3)
    found = run_operator("_attention", q, k, v, *rest, scale=0.7, **attrs)
    np.testing.assert_allclose(found, compute(q, k, v), rtol=1e-5, atol=1e-6)
    operands = [nd.array(x) for x in (q, k, v)]
    for x in operands:
        x.attach_grad()
    others = [nd.array(x, dtype=x.dtype) for x in rest]
    parsed = ATTENTION.schema.parse("_attention", {"scale": 0.7, **attrs})
    factors = np.random.default_rng(5).standard_normal(found.shape)
    with autograd.record():
        out = apply(ATTENTION, (*operands, *others), parsed)
        first = autograd.grad((out * nd.array(factors)).sum(), operands, create_graph=True)
        ((first[0] * first[0]).sum() + (first[2] * first[1].mean()).sum()).backward()
    for i, gradient in enumerate(first):
        step = np.random.default_rng(i).standard_normal(gradient.shape)
        moved = [[*(q, k, v)], [*(q, k, v)]]
        moved[0][i], moved[1][i] = ((q, k, v)[i] + sign * 1e-3 * step for sign in (1, -1))
        slope = (
            sum(s * (compute(*x) * factors).sum() for s, x in zip((1, -1), moved, strict=True))
            / 2e-3
        )
        np.testing.assert_allclose((gradient.asnumpy() * step).sum(), slope, rtol=1e-3, atol=1e-4)
    second = [x.grad.asnumpy() for x in operands]

    def first_by(at: Any) -> Any:
        """Return what the second pass differentiates, by the operator's own first pass."""
        arrays = [nd.array(x) for x in at]
        for x in arrays:
            x.attach_grad()
        with autograd.record():
            total = (apply(ATTENTION, (*arrays, *others), parsed) * nd.array(factors)).sum()
        total.backward()
        a, b, c = (x.grad.asnumpy().astype(np.float64) for x in arrays)
        return (a * a).sum() + (c * b.mean()).sum()

    for i, exact in enumerate(second):
        step = np.random.default_rng(i).standard_normal(exact.shape)
        sides = []
        for sign in (1, -1):
            at = [*(q, k, v)]
            at[i] = (at[i] + sign * 1e-2 * step).astype(np.float32)
            sides.append(first_by(at))
        slope = (sides[0] - sides[1]) / 2e-2
        np.testing.assert_allclose((exact * step).sum(), slope, rtol=2e-2, atol=2e-3)


@pytest.mark.parametrize(
    ("attrs", "rest", "message"),
    [
        ({"use_mask": True}, [np.zeros((2, 3, 1), np.float32)], "a mask of float32 that broad"),
        ({"use_mask": True}, [np.zeros((2, 1, 4), np.float16)], "a mask of float32 that broad"),
        ({"use_mask": True}, [np.zeros((2, 4), np.float32)], r"to the scores \(2, 3, 4\)"),
        ({"use_lengths": True}, [np.zeros((2, 3), np.int32)], r"lengths int32\(2, 2\)"),
        ({"use_lengths": True}, [np.zeros((2, 2), np.int64)], r"lengths int32\(2, 2\)"),
    ],
)
def test_what_hides_no_keys_is_refused(attrs: Any, rest: Any, message: str) -> None:
    with pytest.raises(OperatorError, match=message):
        run_operator("_attention", *arrays(2), *rest, **attrs)


def test_causal_queries_without_keys_are_refused() -> None:
    with pytest.raises(OperatorError, match="expected at least 5 keys for as many causal"):
        run_operator("_attention", *arrays(2, length=5), causal=True)


@pytest.mark.parametrize(
    "change",
    [
        lambda q, k, v: (q[..., :1], k, v),
        lambda q, k, v: (q, k[:, :2], v),
        lambda q, k, v: (q[:1], k, v),
        lambda q, k, v: (q[0], k[0], v[0]),
        lambda q, k, v: (q.astype(np.int32), k.astype(np.int32), v.astype(np.int32)),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change: Any) -> None:
    with pytest.raises(OperatorError, match=r"_attention: expected floating queries \(..., T, C\)"):
        run_operator("_attention", *change(*arrays(2)))


def test_a_probability_above_one_is_refused() -> None:
    with pytest.raises(OperatorError, match=r"_attention: expected p in \[0, 1\], got 1.5"):
        run_operator("_attention", *arrays(2), p=1.5)
