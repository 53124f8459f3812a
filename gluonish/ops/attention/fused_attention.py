"""_attention: softmax(scale * queries keys^T), with dropout, times values, as one operator.

Graphs on GPUs get it in place of the products, the softmax and the dropout
(`gluonish.graph.passes.fuse_attention`). The matrix of weights is not an output: the gradient
computes it again from the logarithm of each row's sum, and draws the dropout's mask again from the
key that the forward pass stored.

References:
    T. Dao, FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning, 2023.
"""

import math
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import INT64, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, choice, dtype_attr, number, shape
from gluonish.core.spec import Shape, Spec
from gluonish.ops.elementwise.cast import cast
from gluonish.ops.facts import Execution, Gradient, zero_gradient
from gluonish.ops.linalg.matmul import batch_dot
from gluonish.ops.nn.dropout import drops
from gluonish.ops.nn.softmax import softmax
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.shape.transpose import transpose
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.philox import Key, store_key, stored_key, uniform_steps
from gluonish.ops.support.precision import accumulator, product, widen

_SCHEMA = Schema(
    scale=number(1.0),
    p=number(0.0),
    mode=choice("always", "training", default="training"),
    swapped=boolean(False),
)
_BACKWARD_SCHEMA = Schema(scale=number(1.0), p=number(0.0), swapped=boolean(False))


def _check(name: str, q: Spec, k: Spec, v: Spec) -> None:
    """Refuse arrays that do not fit each other.

    Raises:
        OperatorError: The message says what was expected.
    """
    fits = (
        len(q.shape) >= 3
        and q.shape[:-2] == k.shape[:-2] == v.shape[:-2]
        and q.shape[-1] == k.shape[-1]
        and k.shape[-2] == v.shape[-2]
        and is_floating(q.dtype)
        and q.dtype == k.dtype == v.dtype
    )
    if not fits:
        raise OperatorError(
            f"{name}: expected floating queries (..., T, C), keys (..., S, C) and values "
            f"(..., S, V) of one dtype, got {q}, {k} and {v}"
        )


def _infer(
    q: Spec, k: Spec, v: Spec, *, p: float, swapped: bool = False, **_: object
) -> tuple[Spec, Spec, Spec]:
    _check("_attention", q, k, v)
    if swapped and len(q.shape) < 4:
        raise OperatorError(f"_attention: expected heads in queries (N, H, T, C), got {q}")
    if not 0 <= p <= 1:
        raise OperatorError(f"_attention: expected p in [0, 1], got {p}")
    log_sum = Spec((*q.shape[:-1], 1), accumulator(q.dtype))
    shape = (*q.shape[:-1], v.shape[-1])
    if swapped:
        shape = (*shape[:-3], shape[-2], shape[-3], shape[-1])
    return Spec(shape, q.dtype), log_sum, Spec((2,), INT64)


def by_heads(array: Any, swapped: bool) -> Any:
    """Return a view (..., H, T, V) of an output, or of its gradient."""
    return array.swapaxes(-3, -2) if swapped else array


def _scores(xp: ModuleType, q: Any, k: Any, scale: float) -> Any:
    """Return the scaled scores (..., T, S) in the dtype of sums."""
    made = product(xp, widen(q), widen(k).swapaxes(-1, -2))
    made *= made.dtype.type(scale)
    return made


def _kernel(
    xp: ModuleType,
    outputs: tuple[Any, Any, Any],
    q: Any,
    k: Any,
    v: Any,
    *,
    scale: float,
    p: float,
    mode: str,
    train: bool,
    key: Key | None = None,
    swapped: bool = False,
) -> None:
    out, log_sum, drawn = outputs
    if key is not None:
        store_key(xp, drawn, key)
    else:
        drawn[...] = 0
    if not out.size or not k.size:
        out[...] = 0
        log_sum[...] = -math.inf
        return
    weights = _scores(xp, q, k, scale)
    top = weights.max(axis=-1, keepdims=True)
    weights = xp.exp(weights - top)
    total = weights.sum(axis=-1, keepdims=True)
    log_sum[...] = top + xp.log(total)
    weights /= total
    if key is not None and drops({"p": p, "mode": mode, "train": train}):
        weights *= _factors(xp, key, weights.shape, p, weights.dtype)
    by_heads(out, swapped)[...] = product(xp, weights, widen(v))


def _factors(xp: ModuleType, key: Key, shape: Shape, p: float, dtype: Any) -> Any:
    """Return the factors that Dropout draws with a key."""
    kept = uniform_steps(xp, key, shape) >= p
    return kept.astype(dtype) * dtype.type(1 / (1 - p) if p < 1 else 0)


def _backward_kernel(
    xp: ModuleType,
    outputs: tuple[Any, Any, Any],
    grad: Any,
    q: Any,
    k: Any,
    v: Any,
    out: Any,
    log_sum: Any,
    drawn: Any,
    *,
    scale: float,
    p: float,
    swapped: bool = False,
) -> None:
    of_queries, of_keys, of_values = outputs
    if not grad.size or not k.size:
        for x in outputs:
            x[...] = 0
        return
    out, grad = by_heads(out, swapped), by_heads(grad, swapped)
    q, k, v, g = (widen(x) for x in (q, k, v, grad))
    weights = xp.exp(_scores(xp, q, k, scale) - log_sum)
    of_weights = product(xp, g, v.swapaxes(-1, -2))
    used = weights
    if p:
        factors = _factors(xp, stored_key(xp, drawn), weights.shape, p, weights.dtype)
        used = weights * factors
        of_weights *= factors
    of_values[...] = product(xp, used.swapaxes(-1, -2), g)
    of_weights -= (g * widen(out)).sum(axis=-1, keepdims=True)
    of_weights *= weights
    of_weights *= weights.dtype.type(scale)
    of_queries[...] = product(xp, of_weights, k)
    of_keys[...] = product(xp, of_weights.swapaxes(-1, -2), q)


def _gradient(g: tuple[V | None, ...], q: V, k: V, v: V, *outputs: V, **attrs: Any) -> Any:
    if g[0] is None:
        return None, None, None
    p = attrs["p"] if drops(attrs) else 0.0
    attrs = {"scale": attrs["scale"], "p": p, "swapped": attrs["swapped"]}
    return apply(ATTENTION_BACKWARD, (g[0], q, k, v, *outputs), attrs)


ATTENTION = register(
    Operator(
        "_attention",
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True),
        doc=(
            "Attention: softmax of scale times the products of queries and keys, times values.\n\n"
            "In training, or with mode='always', each weight is zeroed with probability p, and\n"
            "the others are multiplied by 1 / (1 - p), as by Dropout. The hidden outputs are the\n"
            "logarithm of the sum of exponentials of each row of scores, and the random key.\n\n"
            "Shapes: queries (..., T, C), keys (..., S, C), values (..., S, V); output\n"
            "(..., T, V); with swapped (..., T, H, V) for queries (..., H, T, C)."
        ),
        inputs=("queries", "keys", "values"),
        schema=_SCHEMA,
        outputs=3,
        visible=1,
        output_names=("output", "log_sum", "drawn"),
        execution=Execution(
            train_dependent=True, random=lambda attrs: bool(attrs["p"]), heavy=True, workspaces=(2,)
        ),
    )
)


def _composed(grad: Any, q: Any, k: Any, v: Any, _out: Any, _log: Any, drawn: Any, **a: Any) -> Any:
    """Compute `_backward_kernel`'s results with operators."""

    def attention(q: Any, k: Any, v: Any) -> Any:
        wide = accumulator(q.dtype)
        q, k, v = (cast(x, wide) for x in (q, k, v))
        weights = softmax(batch_dot(q, k, transpose_b=True) * a["scale"], axis=-1)
        if a["p"]:
            attrs = {"p": a["p"], "shape": weights.shape, "dtype": wide}
            weights = weights * apply(DROPOUT_FACTORS, (drawn,), attrs)
        out = cast(batch_dot(weights, v), grad.dtype)
        rank = len(out.shape)
        axes = (*range(rank - 3), rank - 2, rank - 3, rank - 1)
        return transpose(out, axes) if a["swapped"] else out

    return composite_gradient(attention)(grad, q, k, v)


ATTENTION_BACKWARD = register(
    Operator(
        "_attention_backward",
        lambda grad, q, k, v, out, log_sum, drawn, **_: (q, k, v),
        _backward_kernel,
        composite_gradient(_composed),
        doc="Gradients of _attention's queries, keys and values.",
        inputs=("grad", "queries", "keys", "values", "out", "log_sum", "drawn"),
        schema=_BACKWARD_SCHEMA,
        outputs=3,
        execution=Execution(heavy=True),
    )
)


def _factors_kernel(xp: ModuleType, out: Any, drawn: Any, *, p: float, **_: Any) -> None:
    out[...] = _factors(xp, stored_key(xp, drawn), out.shape, p, out.dtype)


def _factors_infer(drawn: Spec, *, shape: Shape, dtype: Any, **_: Any) -> tuple[Spec]:
    return (Spec(shape, np.dtype(dtype)),)


DROPOUT_FACTORS = register(
    Operator(
        "_dropout_factors",
        _factors_infer,
        _factors_kernel,
        zero_gradient,
        doc="The factors that Dropout drew with the stored key in drawn (2,).",
        inputs=("drawn",),
        schema=Schema(p=number(0.5), shape=shape(()), dtype=dtype_attr()),
    )
)

# Operators whose kernels on GPUs read transposed and split arrays in place.
READERS_OF_VIEWS = (ATTENTION, ATTENTION_BACKWARD)
