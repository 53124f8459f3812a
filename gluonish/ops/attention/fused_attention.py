"""_attention: softmax(scale * queries keys^T + mask), with dropout, times values, as one operator.

Graphs on GPUs get it in place of the products, the mask, the softmax and the dropout
(`gluonish.graph.passes.fuse_attention`). The matrix of weights is not an output: the gradient
computes it again from the logarithm of each row's sum, and draws the dropout's mask again from the
key that the forward pass stored.

Keys are left out in three ways, which may be combined: a mask that is added to the scores, lengths,
and causality. A mask is finite and its rows are not far below 0 as a whole (`MASKED` is the least
number that is needed), so that every row has a finite sum in float32; rows without any key are
expressed by lengths of queries.

References:
    T. Dao, FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning, 2023.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.dtype import INT32, INT64, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, choice, dtype_attr, number, shape
from gluonish.core.spec import Spec
from gluonish.ops.elementwise.cast import cast
from gluonish.ops.facts import Execution, Gradient, zero_gradient
from gluonish.ops.linalg.matmul import batch_dot
from gluonish.ops.nn.dropout import DROPOUT_FACTORS, dropout_factors, drops
from gluonish.ops.nn.softmax import softmax
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.shape.transpose import transpose
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.philox import Key, store_key, stored_key
from gluonish.ops.support.precision import accumulator, product, widen

# What a mask adds to hide a key: no score makes up for it, all 16-bit floats hold it, and float32
# keeps the digits of a sum with it.
MASKED = -16384.0

_KEYS = {
    "swapped": boolean(False),
    "causal": boolean(False),
    "use_mask": boolean(False),
    "use_lengths": boolean(False),
}
_SCHEMA = Schema(
    scale=number(1.0),
    p=number(0.0),
    mode=choice("always", "training", default="training"),
    **_KEYS,
)
_BACKWARD_SCHEMA = Schema(scale=number(1.0), p=number(0.0), **_KEYS)


class Hidden(NamedTuple):
    """What hides keys from queries: arrays, values or specs.

    Attributes:
        mask: Added to the scores; None without.
        lengths: Numbers of queries and of keys (2, N); None without.
        causal: Whether the last query sees all keys, and each one before it one key less.
    """

    mask: Any
    lengths: Any
    causal: bool

    @classmethod
    def of(cls, rest: Sequence[Any], attrs: Mapping[str, Any]) -> "Hidden":
        """Return what the inputs behind the others, and the attributes, hide."""
        given = list(rest)
        mask = given.pop(0) if attrs.get("use_mask") else None
        lengths = given.pop(0) if attrs.get("use_lengths") else None
        return cls(mask, lengths, bool(attrs.get("causal")))


def _names(*first: str) -> Callable[[Attrs], tuple[str, ...]]:
    """Return the function of the names of the inputs in use, the first of which always are."""

    def names(attrs: Attrs) -> tuple[str, ...]:
        used = [name for name in ("mask", "lengths") if attrs.get(f"use_{name}")]
        return (*first, *used)

    return names


def _check(name: str, q: Spec, k: Spec, v: Spec, hidden: Hidden) -> None:
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
    scores, mask, lengths = (*q.shape[:-1], k.shape[-2]), hidden.mask, hidden.lengths
    if mask is not None and not (
        len(mask.shape) == len(scores)
        and mask.dtype == q.dtype
        and all(n in (1, extent) for n, extent in zip(mask.shape[:-1], scores[:-1], strict=True))
        and mask.shape[-1] == scores[-1]
    ):
        raise OperatorError(
            f"{name}: expected a mask of {q.dtype.name} that broadcasts to the scores {scores} and "
            f"has all keys, got {mask}"
        )
    if lengths is not None and lengths != Spec((2, q.shape[0]), INT32):
        raise OperatorError(f"{name}: expected lengths int32(2, {q.shape[0]}), got {lengths}")
    if hidden.causal and scores[-2] > scores[-1]:
        raise OperatorError(
            f"{name}: expected at least {scores[-2]} keys for as many causal queries, got "
            f"{scores[-1]}"
        )


def _infer(
    q: Spec, k: Spec, v: Spec, *rest: Spec, p: float, swapped: bool = False, **attrs: object
) -> tuple[Spec, Spec, Spec]:
    _check("_attention", q, k, v, Hidden.of(rest, attrs))
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


def _scores(xp: ModuleType, q: Any, k: Any, scale: float, hidden: Hidden) -> Any:
    """Return the scaled and masked scores (..., T, S) in the dtype of sums."""
    made = product(xp, widen(q), widen(k).swapaxes(-1, -2))
    made *= made.dtype.type(scale)
    if hidden.mask is not None:
        made += widen(hidden.mask)
    length, keys = made.shape[-2:]
    if hidden.causal:
        later = xp.arange(keys) > xp.arange(length)[:, None] + (keys - length)
        made = xp.where(later, made.dtype.type(-math.inf), made)
    if hidden.lengths is not None:
        beyond = xp.arange(keys) >= _of_entries(hidden.lengths[1], made.ndim)
        made = xp.where(beyond, made.dtype.type(-math.inf), made)
    return made


def _of_entries(numbers: Any, rank: int) -> Any:
    """Return numbers of the entries of a batch along the first of some axes."""
    return numbers.reshape(-1, *[1] * (rank - 1))


def _absent(xp: ModuleType, weights: Any, hidden: Hidden) -> Any:
    """Return which rows are beyond the length of their queries; None without lengths."""
    if hidden.lengths is None:
        return None
    rows = xp.arange(weights.shape[-2])[:, None]
    return rows >= _of_entries(hidden.lengths[0], weights.ndim)


def _kernel(
    xp: ModuleType,
    outputs: tuple[Any, Any, Any],
    q: Any,
    k: Any,
    v: Any,
    *rest: Any,
    scale: float,
    p: float,
    mode: str,
    train: bool,
    key: Key | None = None,
    swapped: bool = False,
    **attrs: Any,
) -> None:
    out, log_sum, drawn = outputs
    hidden = Hidden.of(rest, attrs)
    if key is not None:
        store_key(xp, drawn, key)
    else:
        drawn[...] = 0
    if not out.size or not k.size:
        out[...] = 0
        log_sum[...] = -math.inf
        return
    weights = _scores(xp, q, k, scale, hidden)
    top = weights.max(axis=-1, keepdims=True)
    weights = xp.exp(weights - top)
    total = weights.sum(axis=-1, keepdims=True)
    log_sum[...] = top + xp.log(total)
    weights /= total
    absent = _absent(xp, weights, hidden)
    if absent is not None:
        weights = xp.where(absent, weights.dtype.type(0), weights)
    if key is not None and drops({"p": p, "mode": mode, "train": train}):
        weights *= dropout_factors(xp, key, weights.shape, p, weights.dtype)
    by_heads(out, swapped)[...] = product(xp, weights, widen(v))


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
    *rest: Any,
    scale: float,
    p: float,
    swapped: bool = False,
    **attrs: Any,
) -> None:
    hidden = Hidden.of(rest, attrs)
    of_queries, of_keys, of_values = outputs
    if not grad.size or not k.size:
        for x in outputs:
            x[...] = 0
        return
    out, grad = by_heads(out, swapped), by_heads(grad, swapped)
    q, k, v, g = (widen(x) for x in (q, k, v, grad))
    weights = xp.exp(_scores(xp, q, k, scale, hidden) - log_sum)
    absent = _absent(xp, weights, hidden)
    if absent is not None:
        weights = xp.where(absent, weights.dtype.type(0), weights)
    of_weights = product(xp, g, v.swapaxes(-1, -2))
    used = weights
    if p:
        factors = dropout_factors(xp, stored_key(xp, drawn), weights.shape, p, weights.dtype)
        used = weights * factors
        of_weights *= factors
    of_values[...] = product(xp, used.swapaxes(-1, -2), g)
    of_weights -= (g * widen(out)).sum(axis=-1, keepdims=True)
    of_weights *= weights
    of_weights *= weights.dtype.type(scale)
    of_queries[...] = product(xp, of_weights, k)
    of_keys[...] = product(xp, of_weights.swapaxes(-1, -2), q)


def _gradient(g: tuple[V | None, ...], q: V, k: V, v: V, *others: V, **attrs: Any) -> Any:
    rest, outputs = others[:-3], others[-3:]
    none = (None,) * len(rest)
    if g[0] is None:
        return None, None, None, *none
    p = attrs["p"] if drops(attrs) else 0.0
    attrs = {"scale": attrs["scale"], "p": p, **{name: attrs.get(name, False) for name in _KEYS}}
    return *apply(ATTENTION_BACKWARD, (g[0], q, k, v, *outputs, *rest), attrs), *none


ATTENTION = register(
    Operator(
        "_attention",
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True),
        doc=(
            "Attention: softmax of scale times the products of queries and keys, times values.\n\n"
            "A mask is added to the scaled products; it is finite, hides keys by -16384, and has\n"
            "no gradient. Of each entry of the batch lengths[0] queries are used, the other rows\n"
            "are 0, and lengths[1] keys, at least 1, the others have no weight. With causal the\n"
            "last query sees all keys, and each one before it one key less.\n\n"
            "In training, or with mode='always', each weight is zeroed with probability p, and\n"
            "the others are multiplied by 1 / (1 - p), as by Dropout. The hidden outputs are the\n"
            "logarithm of the sum of exponentials of each row of scores, and the random key.\n\n"
            "Shapes: queries (N, ..., T, C), keys (N, ..., S, C), values (N, ..., S, V), mask\n"
            "(N or 1, ..., T or 1, S), lengths int32 (2, N); output (N, ..., T, V); with swapped\n"
            "(..., T, H, V) for queries (..., H, T, C)."
        ),
        inputs=("queries", "keys", "values", "mask", "lengths"),
        active_inputs=_names("queries", "keys", "values"),
        schema=_SCHEMA,
        outputs=3,
        visible=1,
        output_names=("output", "log_sum", "drawn"),
        execution=Execution(
            train_dependent=True, random=lambda attrs: bool(attrs["p"]), heavy=True, workspaces=(2,)
        ),
    )
)


def _composed(
    grad: Any, q: Any, k: Any, v: Any, _out: Any, _log: Any, drawn: Any, *rest: Any, **a: Any
) -> Any:
    """Compute `_backward_kernel`'s results with operators."""
    wide = accumulator(q.dtype)
    scores = (*q.shape[:-1], k.shape[-2])

    def attention(q: Any, k: Any, v: Any) -> Any:
        q, k, v = (cast(x, wide) for x in (q, k, v))
        made = batch_dot(q, k, transpose_b=True) * a["scale"]
        hiding = {name: a.get(name, False) for name in ("causal", "use_mask", "use_lengths")}
        attrs = {"shape": scores, "dtype": wide, **hiding}
        if any(hiding.values()):
            made = made + apply(ATTENTION_MASK, (drawn, *rest), {**attrs, "rows": False})
        weights = softmax(made, axis=-1)
        if hiding["use_lengths"]:
            weights = weights * apply(ATTENTION_MASK, (drawn, *rest), {**attrs, "rows": True})
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
        lambda grad, q, k, v, *rest, **_: (q, k, v),
        _backward_kernel,
        composite_gradient(_composed),
        doc="Gradients of _attention's queries, keys and values.",
        inputs=("grad", "queries", "keys", "values", "out", "log_sum", "drawn", "mask", "lengths"),
        active_inputs=_names("grad", "queries", "keys", "values", "out", "log_sum", "drawn"),
        schema=_BACKWARD_SCHEMA,
        outputs=3,
        execution=Execution(heavy=True),
    )
)


def _mask_kernel(
    xp: ModuleType, out: Any, drawn: Any, *rest: Any, rows: bool, **attrs: Any
) -> None:
    hidden = Hidden.of(rest, attrs)
    if rows:
        out[...] = ~_absent(xp, out, hidden)
        return
    zeros = xp.zeros((*out.shape[:-1], 1), out.dtype), xp.zeros((*out.shape[:-2], out.shape[-1], 1))
    out[...] = _scores(xp, zeros[0], zeros[1].astype(out.dtype), 1.0, hidden)


ATTENTION_MASK = register(
    Operator(
        "_attention_mask",
        lambda drawn, *rest, shape, dtype, **_: (Spec(shape, np.dtype(dtype)),),
        _mask_kernel,
        zero_gradient,
        doc=(
            "What _attention adds to its scores to hide keys; with rows 0 in rows beyond the\n"
            "lengths of queries, and 1 in others.\n\n"
            "Shapes: drawn (2,), mask and lengths as for _attention, output shape."
        ),
        inputs=("drawn", "mask", "lengths"),
        active_inputs=_names("drawn"),
        schema=Schema(
            causal=boolean(False),
            use_mask=boolean(False),
            use_lengths=boolean(False),
            rows=boolean(False),
            shape=shape(()),
            dtype=dtype_attr(),
        ),
    )
)

# Operators whose kernels on GPUs read transposed and split arrays in place.
READERS_OF_VIEWS = (ATTENTION, ATTENTION_BACKWARD)
