"""Products of multi-head attention on projections interleaved in one array.

The last axis holds, head by head, the projections of one matrix product: keys and values
(encoder-decoder) or queries, keys and values (self-attention). Time is the first axis:
(T, N, features).

div_sqrt_dim: data divided by the square root of its last extent.
"""

import math
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from gluonish.core.dtype import FLOAT16, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer
from gluonish.core.spec import Shape, Spec
from gluonish.ops.elementwise.constant_like import zeros_like
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.indexing.slice import slice_axis
from gluonish.ops.linalg.matmul import batch_dot
from gluonish.ops.registry import Attrs, Operator, V, find_operator, register
from gluonish.ops.shape.concat import stack
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.shape.transpose import transpose
from gluonish.ops.support.broadcasting import check_same_dtype, complete_same
from gluonish.ops.support.precision import as_real, fill_product, is_narrow

_SCHEMA = Schema(heads=integer(low=1))


def _check_projections(name: str, what: str, x: Spec, heads: int, parts: int) -> None:
    if len(x.shape) != 3 or x.shape[2] % (heads * parts) or not is_floating(x.dtype):
        raise OperatorError(
            f"{name}: expected floating {what} (T, N, heads * {parts} * units) for {heads} heads, "
            f"got {x}"
        )


def _view(x: Any, heads: int, parts: int, part: int) -> Any:
    """Return one projection of an array (T, N, heads * parts * units) as (N * heads, T, units)."""
    steps, batch, width = x.shape
    units = width // (heads * parts)
    split = x.reshape(steps, batch * heads, parts, units)
    return split[:, :, part].transpose(1, 0, 2)


def _select(x: Any, heads: int, parts: int, part: int) -> Any:
    """Compute `_view` with operators."""
    steps, batch, width = x.shape
    units = width // (heads * parts)
    if parts > 1:
        x = slice_axis(reshape(x, (steps, batch * heads, parts, units)), 2, part, part + 1)
    return transpose(reshape(x, (steps, batch * heads, units)), (1, 0, 2))


def _interleave(parts: list[Any], shape: Shape) -> Any:
    """Interleave projections (N * heads, T, units): the inverse of `_select`."""
    steps_first = [transpose(x, (1, 0, 2)) for x in parts]
    joined = stack(steps_first, 2) if len(parts) > 1 else steps_first[0]
    return reshape(joined, shape)


def _scale(width: int, heads: int, parts: int) -> float:
    return float(max(1, width // (heads * parts)) ** -0.5)


def _scores_kernel(xp: ModuleType, out: Any, q: Any, k: Any) -> None:
    scale = max(1, q.shape[-1]) ** -0.5
    if is_narrow(out.dtype):  # scaled before rounding, to stay in range
        fill_product(xp, out, q, k, scale)
    else:  # there are fewer queries than scores
        fill_product(xp, out, q * q.dtype.type(scale), k)


def _products(queries: Any, keys: Any) -> Any:
    """Compute the scores of queries and keys (N * heads, T, units) with operators."""
    scale = max(1, queries.shape[-1]) ** -0.5
    if queries.dtype == FLOAT16:  # to stay in range
        return batch_dot(queries * scale, keys, transpose_b=True)
    return batch_dot(queries, keys, transpose_b=True) * scale


def _weighted(values: Any, attention: Any, heads: int, parts: int) -> Any:
    """Compute the attention-weighted values with operators."""
    steps, batch, width = attention.shape[1], values.shape[1], values.shape[2] // parts
    found = batch_dot(attention, _select(values, heads, parts, parts - 1))
    return reshape(transpose(found, (1, 0, 2)), (steps, batch, width))


def _expanding(operator: str, compute: Callable[..., Any]) -> ShapeFacts:
    """Return shape facts that expand the operator in graphs, to read the projections in place.

    ``compute(*inputs, heads)`` computes the operator's output from other operators.
    """

    def expand(inputs: Sequence[Any], attrs: Attrs) -> list[Any]:
        find_operator(operator).infer(
            *(x.spec for x in inputs), **attrs
        )  # raises for invalid inputs
        return [compute(*inputs, attrs["heads"])]

    return ShapeFacts(expand=expand)


def _encdec_qk_infer(queries: Spec, keys_values: Spec, *, heads: int) -> tuple[Spec]:
    name = "_contrib_interleaved_matmul_encdec_qk"
    check_same_dtype(name, queries, keys_values)
    _check_projections(name, "queries", queries, heads, 1)
    _check_projections(name, "keys_values", keys_values, heads, 2)
    steps, batch, width = queries.shape
    if keys_values.shape[1:] != (batch, 2 * width):
        raise OperatorError(
            f"{name}: expected keys_values (T, {batch}, {2 * width}) for queries {queries.shape}, "
            f"got {keys_values.shape}"
        )
    return (Spec((batch * heads, steps, keys_values.shape[0]), queries.dtype),)


def _encdec_qk_kernel(
    xp: ModuleType, out: Any, queries: Any, keys_values: Any, *, heads: int
) -> None:
    keys = _view(keys_values, heads, 2, 0)
    _scores_kernel(xp, out, _view(queries, heads, 1, 0), keys.swapaxes(1, 2))


def _encdec_qk_gradient(g: V, queries: V, keys_values: V, *, heads: int) -> tuple[Any, Any]:
    scaled = g * _scale(queries.shape[2], heads, 1)

    def of_keys() -> Any:
        d_keys = batch_dot(scaled, _select(queries, heads, 1, 0), transpose_a=True)
        return _interleave([d_keys, zeros_like(d_keys)], keys_values.shape)

    return (
        lambda: _interleave([batch_dot(scaled, _select(keys_values, heads, 2, 0))], queries.shape),
        of_keys,
    )


ENCDEC_QK = register(
    Operator(
        "_contrib_interleaved_matmul_encdec_qk",
        _encdec_qk_infer,
        _encdec_qk_kernel,
        _encdec_qk_gradient,
        doc=(
            "Attention scores: products of queries and keys, divided by sqrt(units).\n\n"
            "Shapes: queries (Q, N, heads * units), keys_values (K, N, heads * 2 * units),\n"
            "which holds a key and a value for each head in turn; output (N * heads, Q, K)."
        ),
        inputs=("queries", "keys_values"),
        schema=_SCHEMA,
        shapes=_expanding(
            "_contrib_interleaved_matmul_encdec_qk",
            lambda q, kv, heads: _products(_select(q, heads, 1, 0), _select(kv, heads, 2, 0)),
        ),
        execution=Execution(heavy=True),
    )
)


def _valatt_infer(name: str, values: Spec, attention: Spec, heads: int, parts: int) -> tuple[Spec]:
    check_same_dtype(name, values, attention)
    _check_projections(name, "values", values, heads, parts)
    steps, batch, width = values.shape
    shape = attention.shape
    if len(shape) != 3 or (shape[0], shape[2]) != (batch * heads, steps):
        raise OperatorError(
            f"{name}: expected attention ({batch * heads}, Q, {steps}) for values {values.shape} "
            f"and {heads} heads, got {shape}"
        )
    if parts == 3 and shape[1] != steps:
        raise OperatorError(f"{name}: expected attention of {steps} queries, got {shape}")
    return (Spec((shape[1], batch, width // parts), values.dtype),)


def _valatt_kernel(
    xp: ModuleType, out: Any, values: Any, attention: Any, heads: int, parts: int
) -> None:
    steps, batch, width = out.shape
    target = out.reshape(steps, batch * heads, width // heads).transpose(1, 0, 2)
    fill_product(xp, target, attention, _view(values, heads, parts, parts - 1))


def _valatt_gradient(g: V, values: V, attention: V, heads: int, parts: int) -> tuple[Any, Any]:
    split = _select(g, heads, 1, 0)

    def of_values() -> Any:
        d_values = batch_dot(attention, split, transpose_a=True)
        return _interleave([zeros_like(d_values)] * (parts - 1) + [d_values], values.shape)

    return (
        of_values,
        lambda: batch_dot(split, _select(values, heads, parts, parts - 1), transpose_b=True),
    )


def _encdec_valatt_infer(keys_values: Spec, attention: Spec, *, heads: int) -> tuple[Spec]:
    return _valatt_infer(
        "_contrib_interleaved_matmul_encdec_valatt", keys_values, attention, heads, 2
    )


def _encdec_valatt_kernel(
    xp: ModuleType, out: Any, keys_values: Any, attention: Any, *, heads: int
) -> None:
    _valatt_kernel(xp, out, keys_values, attention, heads, 2)


def _encdec_valatt_gradient(g: V, keys_values: V, attention: V, *, heads: int) -> tuple[Any, Any]:
    return _valatt_gradient(g, keys_values, attention, heads, 2)


ENCDEC_VALATT = register(
    Operator(
        "_contrib_interleaved_matmul_encdec_valatt",
        _encdec_valatt_infer,
        _encdec_valatt_kernel,
        _encdec_valatt_gradient,
        doc=(
            "Values weighted by attention, summed over the keys.\n\n"
            "Shapes: keys_values (K, N, heads * 2 * units), attention (N * heads, Q, K), output\n"
            "(Q, N, heads * units)."
        ),
        inputs=("keys_values", "attention"),
        schema=_SCHEMA,
        shapes=_expanding(
            "_contrib_interleaved_matmul_encdec_valatt",
            lambda kv, attention, heads: _weighted(kv, attention, heads, 2),
        ),
        execution=Execution(heavy=True),
    )
)


def _selfatt_qk_infer(queries_keys_values: Spec, *, heads: int) -> tuple[Spec]:
    name = "_contrib_interleaved_matmul_selfatt_qk"
    _check_projections(name, "queries_keys_values", queries_keys_values, heads, 3)
    steps, batch, _ = queries_keys_values.shape
    return (Spec((batch * heads, steps, steps), queries_keys_values.dtype),)


def _selfatt_qk_kernel(xp: ModuleType, out: Any, queries_keys_values: Any, *, heads: int) -> None:
    queries, keys = (_view(queries_keys_values, heads, 3, part) for part in (0, 1))
    _scores_kernel(xp, out, queries, keys.swapaxes(1, 2))


def _selfatt_qk_gradient(g: V, queries_keys_values: V, *, heads: int) -> tuple[Any]:
    scaled = g * _scale(queries_keys_values.shape[2], heads, 3)
    queries, keys = (_select(queries_keys_values, heads, 3, part) for part in (0, 1))
    d_queries = batch_dot(scaled, keys)
    d_keys = batch_dot(scaled, queries, transpose_a=True)
    return (_interleave([d_queries, d_keys, zeros_like(d_keys)], queries_keys_values.shape),)


SELFATT_QK = register(
    Operator(
        "_contrib_interleaved_matmul_selfatt_qk",
        _selfatt_qk_infer,
        _selfatt_qk_kernel,
        _selfatt_qk_gradient,
        doc=(
            "Self-attention scores: products of queries and keys, divided by sqrt(units).\n\n"
            "Shapes: queries_keys_values (T, N, heads * 3 * units), which holds a query, a key\n"
            "and a value for each head in turn; output (N * heads, T, T)."
        ),
        inputs=("queries_keys_values",),
        schema=_SCHEMA,
        shapes=_expanding(
            "_contrib_interleaved_matmul_selfatt_qk",
            lambda qkv, heads: _products(*(_select(qkv, heads, 3, part) for part in (0, 1))),
        ),
        execution=Execution(heavy=True),
    )
)


def _selfatt_valatt_infer(queries_keys_values: Spec, attention: Spec, *, heads: int) -> tuple[Spec]:
    name = "_contrib_interleaved_matmul_selfatt_valatt"
    return _valatt_infer(name, queries_keys_values, attention, heads, 3)


def _selfatt_valatt_kernel(
    xp: ModuleType, out: Any, queries_keys_values: Any, attention: Any, *, heads: int
) -> None:
    _valatt_kernel(xp, out, queries_keys_values, attention, heads, 3)


def _selfatt_valatt_gradient(
    g: V, queries_keys_values: V, attention: V, *, heads: int
) -> tuple[Any, Any]:
    return _valatt_gradient(g, queries_keys_values, attention, heads, 3)


SELFATT_VALATT = register(
    Operator(
        "_contrib_interleaved_matmul_selfatt_valatt",
        _selfatt_valatt_infer,
        _selfatt_valatt_kernel,
        _selfatt_valatt_gradient,
        doc=(
            "Values of self-attention weighted by attention, summed over the keys.\n\n"
            "Shapes: queries_keys_values (T, N, heads * 3 * units), attention (N * heads, T,\n"
            "T), output (T, N, heads * units)."
        ),
        inputs=("queries_keys_values", "attention"),
        schema=_SCHEMA,
        shapes=_expanding(
            "_contrib_interleaved_matmul_selfatt_valatt",
            lambda qkv, attention, heads: _weighted(qkv, attention, heads, 3),
        ),
        execution=Execution(heavy=True),
    )
)


def _infer(data: Spec) -> tuple[Spec]:
    if not data.shape:
        raise OperatorError("_contrib_div_sqrt_dim: expected data of at least 1 axis, got ()")
    return (data,)


def _kernel(xp: ModuleType, out: Any, data: Any) -> None:
    wide = as_real(xp, data)
    out[...] = (wide / wide.dtype.type(math.sqrt(max(1, data.shape[-1])))).astype(out.dtype)


def _gradient(g: V, data: V) -> tuple[Any]:
    return (g / math.sqrt(max(1, data.shape[-1])),)


DIV_SQRT_DIM = register(
    Operator(
        "_contrib_div_sqrt_dim",
        _infer,
        _kernel,
        _gradient,
        doc="data (..., d) divided by sqrt(d); integers are truncated toward zero.",
        shapes=ShapeFacts(complete=complete_same),
        execution=Execution(elementwise=True),
    )
)
