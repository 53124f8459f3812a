"""scaled_dot_product_attention: softmax of scaled products of queries and keys, times values.

The matrix of weights is not an output: the gradient computes it again from the logarithm of each
row's sum, and draws the dropout's mask again from the key that the forward pass stored. Fast
kernels never hold it as a whole. Graphs get this operator in place of the products, the masks, the
softmax and the dropout that programs write out (`gluonish.graph.passes.fuse_attention`).

References:
    A. Vaswani et al., Attention Is All You Need, 2017.
    T. Dao, FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning, 2023.
"""

import math
from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.dtype import BOOL, FLOAT32, INT64, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, choice, dtype_attr, integer, number, optional
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec
from gluonish.ops.elementwise.cast import cast
from gluonish.ops.elementwise.unary import TANH
from gluonish.ops.facts import Execution, Gradient, zero_gradient
from gluonish.ops.linalg.matmul import batch_dot
from gluonish.ops.nn.dropout import DROPOUT_FACTORS, dropout_factors, drops
from gluonish.ops.nn.softmax import softmax
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.shape.broadcast_to import broadcast_to
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.shape.transpose import transpose
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.philox import Key, store_key, stored_key
from gluonish.ops.support.precision import accumulator, product, widen

_NAME = "scaled_dot_product_attention"

# What a mask adds to hide a key: no score makes up for it, all 16-bit floats hold it, and float32
# keeps the digits of a sum with it.
MASKED = -16384.0

# For each layout, the axes of (N, H, T, C) in it.
LAYOUTS = {"NHTC": (0, 1, 2, 3), "NTHC": (0, 2, 1, 3), "TNHC": (1, 2, 0, 3)}

_ATTRIBUTES = {
    "causal": boolean(False),
    "window": optional(integer(low=1)),
    "scale": optional(number()),
    "softcap": optional(number()),
    "layout": choice(*LAYOUTS, default="NHTC"),
    "use_mask": boolean(False),
    "use_length": boolean(False),
    "swapped": boolean(False),
    "bounded": boolean(False),
}
_SCHEMA = Schema(
    dropout=number(0.0), mode=choice("always", "training", default="training"), **_ATTRIBUTES
)
_BACKWARD_SCHEMA = Schema(dropout=number(0.0), **_ATTRIBUTES)


class Reach(NamedTuple):
    """How many keys before and after its own a query may attend to; None for all.

    Key ``S - T + t`` is query t's own: the last query and the last key belong together.
    """

    before: int | None
    after: int | None

    @classmethod
    def of(cls, *, causal: bool, window: int | None, **_: Any) -> "Reach":
        """Return the reach that attributes describe."""
        return cls(None if window is None else window - 1, 0 if causal else window and window - 1)


def scale_of(scale: float | None, width: int) -> float:
    """Return the factor of the scores: 1 / sqrt(C) by default."""
    return max(1, width) ** -0.5 if scale is None else scale


def by_heads(array: Any, layout: str) -> Any:
    """Return a view (..., H, T, C) of an array."""
    return array if layout == "NHTC" else array.transpose(LAYOUTS[layout])


def output_by_heads(array: Any, attrs: Attrs) -> Any:
    """Return a view (..., H, T, V) of an output, or of its gradient."""
    return array.swapaxes(-3, -2) if attrs["swapped"] else by_heads(array, attrs["layout"])


def shape_by_heads(shape: Shape, layout: str) -> Shape:
    """Return the shape of `by_heads`."""
    return shape if layout == "NHTC" else tuple(shape[i] for i in LAYOUTS[layout])


def _shape_by_layout(shape: Shape, layout: str) -> Shape:
    if layout == "NHTC":
        return shape
    axes = LAYOUTS[layout]
    return tuple(shape[axes.index(i)] for i in range(4))


def optional_inputs(inputs: Sequence[Any], attrs: Attrs) -> tuple[Any, Any]:
    """Return the mask and the lengths among a call's optional inputs, or None for each."""
    rest = list(inputs)
    mask = rest.pop(0) if attrs["use_mask"] else None
    return mask, rest.pop(0) if attrs["use_length"] else None


def _check(q: Spec, k: Spec, v: Spec, layout: str) -> tuple[Shape, Shape, Shape]:
    """Refuse arrays that do not fit each other; return their shapes by heads.

    Raises:
        OperatorError: The message says what was expected.
    """
    for name, x in (("query", q), ("key", k), ("value", v)):
        if not is_floating(x.dtype) or x.dtype != q.dtype:
            raise OperatorError(
                f"{_NAME}: expected floating arrays of one dtype, got {name} of {x.dtype.name} "
                f"and query of {q.dtype.name}"
            )
        rank = len(x.shape)
        if rank != len(q.shape) or rank < 3 or (layout != "NHTC" and rank != 4):
            axes = "(..., T, C)" if layout == "NHTC" else f"({', '.join(layout)})"
            raise OperatorError(
                f"{_NAME}: expected query, key and value {axes}, got shapes {q.shape}, {k.shape} "
                f"and {v.shape}"
            )
    queries, keys, values = (shape_by_heads(x.shape, layout) for x in (q, k, v))
    if queries[-1] != keys[-1]:
        raise OperatorError(
            f"{_NAME}: expected key of width {queries[-1]}, like query, got {keys[-1]}"
        )
    if keys[:-1] != values[:-1]:
        raise OperatorError(
            f"{_NAME}: expected as many heads and positions in value as in key, got shapes "
            f"{k.shape} of key and {v.shape} of value"
        )
    grouped = len(queries) > 3
    groups = keys[-3] if grouped else 1
    same = queries[:-3] == keys[:-3] if grouped else queries[:1] == keys[:1]
    if not same or (queries[-3] % groups if grouped and groups else grouped and queries[-3]):
        raise OperatorError(
            f"{_NAME}: expected key with the samples of query, and heads that divide those of "
            f"query, got shapes {q.shape} of query and {k.shape} of key"
        )
    return queries, keys, values


def _check_optional(scores: Shape, mask: Spec | None, lengths: Spec | None) -> None:
    if mask is not None:
        fits = len(mask.shape) <= len(scores) and all(
            n in (1, m) for n, m in zip(mask.shape[::-1], scores[::-1], strict=False)
        )
        if not fits:
            raise OperatorError(
                f"{_NAME}: expected a mask that broadcasts to {scores}, got shape {mask.shape}"
            )
        if mask.dtype != BOOL and not is_floating(mask.dtype):
            raise OperatorError(
                f"{_NAME}: expected a boolean mask (true where a query attends to a key) or a "
                f"floating one (added to the scores), got {mask.dtype.name}"
            )
    if lengths is not None:
        numbers = lengths.dtype.kind in "iu" or is_floating(lengths.dtype)
        if lengths.shape not in (scores[:1], (2, *scores[:1])) or not numbers:
            raise OperatorError(
                f"{_NAME}: expected valid_length {scores[:1]} of numbers, got {lengths}"
            )


def _infer(q: Spec, k: Spec, v: Spec, *others: Spec, **attrs: Any) -> tuple[Spec, ...]:
    layout, dropout = attrs["layout"], attrs["dropout"]
    queries, keys, values = _check(q, k, v, layout)
    if attrs["swapped"] and (len(queries) < 4 or layout != "NHTC"):
        raise OperatorError(f"{_NAME}: expected heads in query (N, H, T, C), got {q}")
    if not 0 <= dropout < 1:
        raise OperatorError(f"{_NAME}: expected dropout in [0, 1), got {dropout}")
    if attrs["softcap"] is not None and not attrs["softcap"] > 0:
        raise OperatorError(f"{_NAME}: expected softcap above 0 or None, got {attrs['softcap']}")
    _check_optional((*queries[:-1], keys[-2]), *optional_inputs(others, attrs))
    log_sum = Spec((*queries[:-1], 1), accumulator(q.dtype))
    shape = (*queries[:-1], values[-1])
    if attrs["swapped"]:
        shape = (*shape[:-3], shape[-2], shape[-3], shape[-1])
    return Spec(_shape_by_layout(shape, layout), q.dtype), log_sum, Spec((2,), INT64)


def check_lengths(lengths: Any, attrs: Attrs) -> None:
    """Refuse lengths below 0, in memory of the host.

    On devices, where the check would wait for them, they count as 0, as they do in attention that
    was written out.

    Raises:
        OperatorError: A length is below 0, or NaN.
    """
    if type(lengths) is not np.ndarray or attrs["bounded"] or not lengths.size:
        return
    least = lengths.min()
    if not least >= 0:
        raise OperatorError(f"{_NAME}: expected valid_length of at least 0, got {least}")


def _repeated(xp: ModuleType, array: Any, heads: int) -> Any:
    """Return keys or values for each head of the queries."""
    if array.ndim < 4 or array.shape[-3] == heads:
        return array
    return xp.repeat(array, heads // array.shape[-3], axis=-3)


def visible(
    xp: ModuleType, scores: Shape, lengths: Any, *, causal: bool, window: int | None
) -> Any:
    """Return where a query may attend to a key, as an array that broadcasts to the scores."""
    queries, keys = scores[-2:]
    before, after = Reach.of(causal=causal, window=window)
    position = xp.arange(queries).reshape(-1, 1) + (keys - queries)
    key = xp.arange(keys)
    seen = xp.ones((1, keys), dtype=bool)
    if before is not None:
        seen = seen & (key >= position - before)
    if after is not None:
        seen = seen & (key <= position + after)
    if lengths is not None:
        stack = (*lengths.shape[:-1], -1, *(1,) * (len(scores) - 1))
        bounds = lengths.astype(np.float64).reshape(stack) // 1
        seen = seen & (key < (bounds if lengths.ndim == 1 else bounds[1]))
        if lengths.ndim > 1:
            seen = seen & (xp.arange(queries).reshape(-1, 1) < bounds[0])
    return seen


class _Scores(NamedTuple):
    """Scores after scale, cap and mask, in the dtype of sums.

    Attributes:
        values: The scores; -inf where a query may not attend to a key.
        slope: Derivative of the cap, or None without one.
    """

    values: Any
    slope: Any


def _scores(xp: ModuleType, q: Any, k: Any, mask: Any, lengths: Any, attrs: Attrs) -> _Scores:
    """Return the scores of queries (..., T, C) and keys (..., S, C)."""
    made = product(xp, widen(q), widen(k).swapaxes(-1, -2))
    made *= made.dtype.type(scale_of(attrs["scale"], q.shape[-1]))
    slope = None
    if attrs["softcap"] is not None:
        cap = made.dtype.type(attrs["softcap"])
        tangent = xp.tanh(made / cap)
        made, slope = tangent * cap, 1 - tangent * tangent
    if mask is not None:
        if mask.dtype == BOOL:
            made = xp.where(mask, made, made.dtype.type(-math.inf))
        else:
            made = made + mask.astype(made.dtype)
    if lengths is not None or attrs["causal"] or attrs["window"] is not None:
        seen = visible(xp, made.shape, lengths, causal=attrs["causal"], window=attrs["window"])
        made = xp.where(seen, made, made.dtype.type(-math.inf))
    return _Scores(made, slope)


def _kernel(
    xp: ModuleType,
    outputs: tuple[Any, Any, Any],
    q: Any,
    k: Any,
    v: Any,
    *others: Any,
    key: Key | None = None,
    **attrs: Any,
) -> None:
    out, log_sum, drawn = outputs
    mask, lengths = optional_inputs(others, attrs)
    check_lengths(lengths, attrs)
    if key is not None:
        store_key(xp, drawn, key)
    else:
        drawn[...] = 0
    if not out.size or not k.size:
        out[...] = 0
        log_sum[...] = math.inf
        return
    q, k, v = (by_heads(x, attrs["layout"]) for x in (q, k, v))
    heads = q.shape[-3]
    k, v = (_repeated(xp, x, heads) for x in (k, v))
    weights = _scores(xp, q, k, mask, lengths, attrs).values
    top = weights.max(axis=-1, keepdims=True)
    top = xp.where(top == -math.inf, top.dtype.type(0), top)
    weights = xp.exp(weights - top)
    total = weights.sum(axis=-1, keepdims=True)
    empty = total == 0
    total = xp.where(empty, total.dtype.type(1), total)
    log_sum[...] = xp.where(empty, total.dtype.type(math.inf), top + xp.log(total))
    weights /= total
    p = attrs["dropout"]
    if key is not None and drops({"p": p, "mode": attrs["mode"], "train": attrs["train"]}):
        weights *= dropout_factors(xp, key, weights.shape, p, weights.dtype)
    output_by_heads(out, attrs)[...] = product(xp, weights, widen(v))


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
    *others: Any,
    **attrs: Any,
) -> None:
    if not grad.size or not k.size:
        for x in outputs:
            x[...] = 0
        return
    layout, p = attrs["layout"], attrs["dropout"]
    out, grad = output_by_heads(out, attrs), output_by_heads(grad, attrs)
    q, k, v = (by_heads(x, layout) for x in (q, k, v))
    of_queries, of_keys, of_values = (by_heads(x, layout) for x in outputs)
    heads, groups = q.shape[-3], k.shape[-3]
    k, v = (_repeated(xp, x, heads) for x in (k, v))
    mask, lengths = optional_inputs(others, attrs)
    scores = _scores(xp, q, k, mask, lengths, attrs)
    q, k, v, g = (widen(x) for x in (q, k, v, grad))
    hidden = scores.values == -math.inf  # kernels differ in the logarithm of a row without keys
    weights = xp.exp(xp.where(hidden, scores.values, scores.values - log_sum))
    of_weights = product(xp, g, v.swapaxes(-1, -2))
    used = weights
    if p:
        factors = dropout_factors(xp, stored_key(xp, drawn), weights.shape, p, weights.dtype)
        used = weights * factors
        of_weights *= factors
    made = product(xp, used.swapaxes(-1, -2), g)
    of_values[...] = _summed(made, of_values, heads, groups)
    of_weights -= (g * widen(out)).sum(axis=-1, keepdims=True)
    of_weights *= weights
    if scores.slope is not None:
        of_weights *= scores.slope
    of_weights *= weights.dtype.type(scale_of(attrs["scale"], q.shape[-1]))
    of_queries[...] = product(xp, of_weights, k)
    made = product(xp, of_weights.swapaxes(-1, -2), q)
    of_keys[...] = _summed(made, of_keys, heads, groups)


def _summed(array: Any, like: Any, heads: int, groups: int) -> Any:
    """Add the gradients of the heads that read the same keys and values."""
    if array.ndim < 4 or heads == groups:
        return array
    shape = (*array.shape[:-3], groups, heads // groups, *array.shape[-2:])
    return array.reshape(shape).sum(axis=-3)


def _gradient(g: tuple[V | None, ...], *values: Any, **attrs: Any) -> Any:
    count = 3 + attrs["use_mask"] + attrs["use_length"]
    inputs, outputs = values[:count], values[count:]
    if g[0] is None:
        return (None,) * count
    dropout = attrs["dropout"] if drops({**attrs, "p": attrs["dropout"]}) else 0.0
    kept = {name: attrs[name] for name in _ATTRIBUTES} | {"dropout": dropout}
    of = apply(ATTENTION_BACKWARD, (g[0], *inputs[:3], *outputs, *inputs[3:]), kept)
    rest: list[Any] = [None] * (count - 3)
    if attrs["use_mask"] and is_floating(np.dtype(inputs[3].dtype)):
        q, k, v, *others = inputs
        drawn = outputs[2]
        rest[0] = lambda: _all_gradients(g[0], q, k, v, drawn, tuple(others), kept)[3]
    return (*of, *rest)


_INPUTS = ("query", "key", "value", "mask", "valid_length")


def _active(names: tuple[str, ...], attrs: Attrs) -> tuple[str, ...]:
    unused = {"mask": not attrs["use_mask"], "valid_length": not attrs["use_length"]}
    return tuple(name for name in names if not unused.get(name))


def _heavy(inputs: Any, outputs: Any, attrs: Attrs) -> int:
    """Return the number of multiplications."""
    queries, keys = (shape_by_heads(x.shape, attrs["layout"]) for x in inputs[:2])
    return math.prod(queries) * keys[-2]


ATTENTION = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True),
        doc=(
            "Attention: softmax of scaled products of queries and keys, times values.\n\n"
            "A query attends to the keys that mask, valid_length, causal and window all allow;\n"
            "if these are none, its output is zero. The last query and the last key belong\n"
            "together, also if there are fewer queries than keys, as in generation. No matrix of\n"
            "weights is kept. Fewer heads of key and value are shared by groups of heads of\n"
            "query.\n\n"
            "Shapes: query (N, H, T, C), key (N, K, S, C), value (N, K, S, V), where K divides H;\n"
            "output (N, H, T, V). With layout NTHC or TNHC the axes are in that order. Without\n"
            "heads, (N, T, C). mask broadcasts to (N, H, T, S); valid_length (N,), or\n"
            "(2, N): of queries, the others of which attend to no key, and of keys. Lengths below\n"
            "0 are an error on CPUs; on GPUs they count as 0."
        ),
        inputs=_INPUTS,
        active_inputs=lambda attrs: _active(_INPUTS, attrs),
        optional={"mask": "use_mask", "valid_length": "use_length"},
        schema=_SCHEMA,
        aliases=("_npx_scaled_dot_product_attention",),
        outputs=3,
        visible=1,
        output_names=("output", "log_sum", "drawn"),
        execution=Execution(
            train_dependent=True,
            random=lambda attrs: bool(attrs["dropout"]),
            heavy=_heavy,
            workspaces=(2,),
        ),
    )
)


def _hidden_infer(
    _query: Spec, *_inputs: Spec, shape: Shape, dtype: Any, **_: Any
) -> tuple[Spec, Spec]:
    spec = Spec(shape, np.dtype(dtype))
    return spec, spec


def _hidden_kernel(
    xp: ModuleType,
    outputs: tuple[Any, Any],
    _query: Any,
    *others: Any,
    shape: Shape,
    **attrs: Any,
) -> None:
    addend, seen = outputs
    mask, lengths = optional_inputs(others, attrs)
    shown = visible(xp, shape, lengths, causal=attrs["causal"], window=attrs["window"])
    seen[...] = shown if mask is None else shown & mask
    addend[...] = xp.where(seen, seen.dtype.type(0), seen.dtype.type(_VERY_LOW))


_VERY_LOW = -1e30  # of scores whose exponential is to be 0 in float32

_HIDDEN_INPUTS = ("query", "mask", "valid_length")

HIDDEN = register(
    Operator(
        "_attention_hidden",
        _hidden_infer,
        _hidden_kernel,
        zero_gradient,
        doc=(
            "Where a query may attend to a key: an addend for the scores, very low where it may\n"
            "not, and 1 or 0. The mask is boolean; the values of the queries are not read."
        ),
        inputs=_HIDDEN_INPUTS,
        active_inputs=lambda attrs: _active(_HIDDEN_INPUTS, attrs),
        schema=Schema(
            shape=shape_attr(()),
            dtype=dtype_attr(FLOAT32),
            causal=boolean(False),
            window=optional(integer(low=1)),
            use_mask=boolean(False),
            use_length=boolean(False),
        ),
        outputs=2,
        output_names=("addend", "seen"),
    )
)


def _written_out(q: Any, k: Any, v: Any, mask: Any, lengths: Any, drawn: Any, a: Attrs) -> Any:
    """Compute attention with operators that keep the matrix of weights.

    Args:
        drawn: Stored random key.
        a: Attributes of the operator.
    """
    addend, seen = _hidden_of(q, k, mask, lengths, a)
    dtype, wide = q.dtype, accumulator(q.dtype)
    axes = LAYOUTS[a["layout"]]
    q, k, v = (cast(x, wide) for x in (q, k, v))
    if a["layout"] != "NHTC":
        q, k, v = (transpose(x, axes) for x in (q, k, v))
    if len(q.shape) > 3:
        k, v = (_for_each_head(x, q.shape[-3]) for x in (k, v))
    scores = batch_dot(q, k, transpose_b=True) * scale_of(a["scale"], q.shape[-1])
    if a["softcap"] is not None:
        scores = TANH(scores / a["softcap"]) * a["softcap"]
    if mask is not None and is_floating(np.dtype(mask.dtype)):
        scores = scores + broadcast_to(cast(mask, wide), scores.shape)
    weights = softmax(scores + addend, axis=-1) * seen
    if a["dropout"]:
        attrs = {"p": a["dropout"], "shape": weights.shape, "dtype": wide}
        weights = weights * apply(DROPOUT_FACTORS, (drawn,), attrs)
    out = cast(batch_dot(weights, v), dtype)
    if a["swapped"]:
        rank = len(out.shape)
        return transpose(out, (*range(rank - 3), rank - 2, rank - 3, rank - 1))
    if a["layout"] != "NHTC":
        return transpose(out, tuple(axes.index(i) for i in range(4)))
    return out


def _for_each_head(x: Any, heads: int) -> Any:
    """Repeat keys or values (..., K, S, C) for the heads that share them."""
    *stack, groups, length, width = x.shape
    if groups == heads:
        return x
    repeated = broadcast_to(
        reshape(x, (*stack, groups, 1, length, width)),
        (*stack, groups, heads // groups, length, width),
    )
    return reshape(repeated, (*stack, heads, length, width))


def _hidden_of(q: Any, k: Any, mask: Any, lengths: Any, a: Attrs) -> tuple[Any, Any]:
    """Call `HIDDEN` for queries, keys and optional inputs."""
    queries, keys = (shape_by_heads(tuple(x.shape), a["layout"]) for x in (q, k))
    is_flags = mask is not None and not is_floating(np.dtype(mask.dtype))
    inputs = [x for x in (q, mask if is_flags else None, lengths) if x is not None]
    attrs = {
        "shape": (*queries[:-1], keys[-2]),
        "dtype": accumulator(q.dtype),
        "causal": a["causal"],
        "window": a["window"],
        "use_mask": is_flags,
        "use_length": lengths is not None,
    }
    addend, seen = apply(HIDDEN, tuple(inputs), attrs)
    return addend, seen


def _all_gradients(
    grad: Any, q: Any, k: Any, v: Any, drawn: Any, rest: tuple[Any, ...], a: Attrs
) -> tuple[Any, ...]:
    """Compute the gradients of queries, keys, values and a floating mask with operators."""
    mask, lengths = optional_inputs(rest, a)
    if mask is None or not is_floating(np.dtype(mask.dtype)):

        def unmasked(q: Any, k: Any, v: Any) -> Any:
            return _written_out(q, k, v, mask, lengths, drawn, a)

        return composite_gradient(unmasked)(grad, q, k, v)

    def masked(q: Any, k: Any, v: Any, mask: Any) -> Any:
        return _written_out(q, k, v, mask, lengths, drawn, a)

    return composite_gradient(masked)(grad, q, k, v, mask)


def _composed(
    grad: Any, q: Any, k: Any, v: Any, _out: Any, _log: Any, drawn: Any, *rest: Any, **a: Any
) -> Any:
    """Compute `_backward_kernel`'s results with operators."""
    return _all_gradients(grad, q, k, v, drawn, rest, a)[:3]


_BACKWARD_INPUTS = (
    *("grad", "query", "key", "value", "out", "log_sum", "drawn"),
    *("mask", "valid_length"),
)

ATTENTION_BACKWARD = register(
    Operator(
        "_scaled_dot_product_attention_backward",
        lambda grad, q, k, v, *_inputs, **_: (q, k, v),
        _backward_kernel,
        composite_gradient(_composed),
        doc="Gradients of scaled_dot_product_attention's query, key and value.",
        inputs=_BACKWARD_INPUTS,
        active_inputs=lambda attrs: _active(_BACKWARD_INPUTS, attrs),
        schema=_BACKWARD_SCHEMA,
        outputs=3,
        execution=Execution(heavy=lambda inputs, outputs, a: 3 * _heavy(inputs[1:], outputs, a)),
    )
)

# Operators whose kernels on GPUs read transposed and split arrays in place.
READERS_OF_VIEWS = (ATTENTION, ATTENTION_BACKWARD)
