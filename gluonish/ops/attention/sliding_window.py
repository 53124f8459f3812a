"""Attention to a window around each position instead of all positions.

Window entry j of position i and head h is the key at ``i + dilation[h] * (j - w)``: w keys before
the position, itself, and with ``symmetric`` w keys after it. Entries outside the sequence are zero.

References:
    I. Beltagy, M. E. Peters, A. Cohan, Longformer: The Long-Document Transformer, 2020.
"""

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution, ShapeFacts, zero_gradient
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.support.broadcasting import check_same_dtype
from gluonish.ops.support.dtype_rules import dtype_rule
from gluonish.ops.support.precision import widen

_SCHEMA = Schema(w=integer(low=0), symmetric=boolean())


def _width(w: int, symmetric: bool) -> int:
    return 2 * w + 1 if symmetric else w + 1


def _check(name: str, x: Spec, dilation: Spec, last: int | None = None) -> None:
    """Raise OperatorError unless x is (batch, length, heads, last), with one dilation per head."""
    if len(x.shape) != 4 or not is_floating(x.dtype) or last not in (None, x.shape[3]):
        units = "units" if last is None else last
        raise OperatorError(
            f"{name}: expected floating arrays (batch, length, heads, {units}), got {x}"
        )
    if dilation.shape != x.shape[2:3]:
        raise OperatorError(
            f"{name}: expected dilation ({x.shape[2]},), one for each head, got {dilation.shape}"
        )


def _windows(
    xp: ModuleType, length: int, dilation: Any, attrs: Attrs, *, back: bool = False
) -> Iterator[tuple[int, Any, Any]]:
    """Yield each window entry's index, its positions (length, heads), and the mask of valid ones.

    With ``back``, yield the positions whose windows contain each position as that entry.
    """
    step = dilation.astype(xp.int64)[None, :]
    if back:
        step = -step
    for j in range(_width(attrs["w"], attrs["symmetric"])):
        position = xp.arange(length)[:, None] + step * (j - attrs["w"])
        inside = (position >= 0) & (position < length)
        yield j, xp.where(inside, position, 0), inside


def _read(xp: ModuleType, x: Any, position: Any, inside: Any) -> Any:
    """Gather x (batch, length, heads, units) at one entry's positions, with 0 where invalid."""
    found = x[:, position, xp.arange(x.shape[2])[None, :]]
    return xp.where(inside[None, :, :, None], found, 0)


def _score_infer(query: Spec, key: Spec, dilation: Spec, *, w: int, symmetric: bool) -> tuple[Spec]:
    name = "_contrib_sldwin_atten_score"
    check_same_dtype(name, query, key)
    _check(name, query, dilation)
    if key.shape != query.shape:
        raise OperatorError(f"{name}: expected key like query {query.shape}, got {key.shape}")
    return (Spec((*query.shape[:3], _width(w, symmetric)), query.dtype),)


def _score_kernel(
    xp: ModuleType, out: Any, query: Any, key: Any, dilation: Any, **attrs: Any
) -> None:
    q, k = widen(query), widen(key)
    for j, position, inside in _windows(xp, q.shape[1], dilation, attrs):
        out[..., j] = (q * _read(xp, k, position, inside)).sum(axis=3)


def _score_gradient(g: V, query: V, key: V, dilation: V, **attrs: Any) -> tuple[Any, ...]:
    return (
        lambda: apply(SLDWIN_CONTEXT, (g, key, dilation), attrs),
        lambda: apply(_SPREAD, (g, query, dilation), attrs),
        None,
    )


SLDWIN_SCORE = register(
    Operator(
        "_contrib_sldwin_atten_score",
        _score_infer,
        _score_kernel,
        _score_gradient,
        doc=(
            "Products of each query with the keys in its sliding window.\n\n"
            "Without symmetric a position sees only itself and the positions before it. Entries\n"
            "outside the sequence are 0.\n\n"
            "Shapes: query and key (batch, length, heads, units), dilation (heads,), output\n"
            "(batch, length, heads, 2 * w + 1), or w + 1 in place of 2 * w + 1 without\n"
            "symmetric."
        ),
        inputs=("query", "key", "dilation"),
        schema=_SCHEMA,
        aliases=("_npx_sldwin_atten_score",),
        shapes=ShapeFacts(complete=dtype_rule(0, 1)),
        execution=Execution(heavy=True),
    )
)


def _weighted_infer(name: str) -> Callable[..., tuple[Spec]]:
    def infer(score: Spec, value: Spec, dilation: Spec, **attrs: Any) -> tuple[Spec]:
        check_same_dtype(name, score, value)
        _check(name, value, dilation)
        _check(name, score, dilation, _width(attrs["w"], attrs["symmetric"]))
        if score.shape[:3] != value.shape[:3]:
            raise OperatorError(
                f"{name}: expected score {value.shape[:3]} and windows for value {value.shape}, "
                f"got {score.shape}"
            )
        return (value,)

    return infer


def _context_kernel(
    xp: ModuleType, out: Any, score: Any, value: Any, dilation: Any, **attrs: Any
) -> None:
    s, v = widen(score), widen(value)
    total = xp.zeros(v.shape, dtype=v.dtype)
    for j, position, inside in _windows(xp, v.shape[1], dilation, attrs):
        total += s[..., j, None] * _read(xp, v, position, inside)
    out[...] = total


def _context_gradient(g: V, score: V, value: V, dilation: V, **attrs: Any) -> tuple[Any, ...]:
    return (
        lambda: apply(SLDWIN_SCORE, (g, value, dilation), attrs),
        lambda: apply(_SPREAD, (score, g, dilation), attrs),
        None,
    )


SLDWIN_CONTEXT = register(
    Operator(
        "_contrib_sldwin_atten_context",
        _weighted_infer("_contrib_sldwin_atten_context"),
        _context_kernel,
        _context_gradient,
        doc=(
            "Values in each position's sliding window, weighted by score and summed.\n\n"
            "Shapes: score (batch, length, heads, window) as sldwin_atten_score returns it,\n"
            "value and output (batch, length, heads, units), dilation (heads,)."
        ),
        inputs=("score", "value", "dilation"),
        schema=_SCHEMA,
        aliases=("_npx_sldwin_atten_context",),
        shapes=ShapeFacts(complete=dtype_rule(0, 1)),
        execution=Execution(heavy=True),
    )
)


def _spread_kernel(
    xp: ModuleType, out: Any, score: Any, query: Any, dilation: Any, **attrs: Any
) -> None:
    s, q = widen(score), widen(query)
    total = xp.zeros(q.shape, dtype=q.dtype)
    heads = xp.arange(q.shape[2])[None, :]
    for j, source, inside in _windows(xp, q.shape[1], dilation, attrs, back=True):
        weight = s[..., j][:, source, heads]
        total += weight[..., None] * _read(xp, q, source, inside)
    out[...] = total


def _spread_gradient(g: V, score: V, query: V, dilation: V, **attrs: Any) -> tuple[Any, ...]:
    return (
        lambda: apply(SLDWIN_SCORE, (query, g, dilation), attrs),
        lambda: apply(SLDWIN_CONTEXT, (score, g, dilation), attrs),
        None,
    )


_SPREAD = register(
    Operator(
        "_sldwin_spread",
        _weighted_infer("_sldwin_spread"),
        _spread_kernel,
        _spread_gradient,
        doc="Contribution of each position to the keys in its window: sums of score * query.",
        inputs=("score", "query", "dilation"),
        schema=_SCHEMA,
        shapes=ShapeFacts(complete=dtype_rule(0, 1)),
        execution=Execution(heavy=True),
    )
)


def _mask_infer(score: Spec, dilation: Spec, valid_length: Spec, **attrs: Any) -> tuple[Spec]:
    name = "_contrib_sldwin_atten_mask_like"
    _check(name, score, dilation, _width(attrs["w"], attrs["symmetric"]))
    if valid_length.shape != score.shape[:1]:
        raise OperatorError(
            f"{name}: expected valid_length {score.shape[:1]}, got {valid_length.shape}"
        )
    return (score,)


def _mask_kernel(
    xp: ModuleType, out: Any, score: Any, dilation: Any, valid_length: Any, **attrs: Any
) -> None:
    limit = valid_length.astype(xp.int64)[:, None, None]
    here = xp.arange(score.shape[1])[None, :, None] < limit
    for j, position, inside in _windows(xp, score.shape[1], dilation, attrs):
        out[..., j] = inside[None] & here & (position[None] < limit)


SLDWIN_MASK_LIKE = register(
    Operator(
        "_contrib_sldwin_atten_mask_like",
        _mask_infer,
        _mask_kernel,
        zero_gradient,
        doc=(
            "1 where both a position and the entry of its window lie within the sequence, else\n"
            "0.\n\n"
            "Shapes: score and output (batch, length, heads, window), dilation (heads,),\n"
            "valid_length (batch,), the length of each sequence."
        ),
        inputs=("score", "dilation", "valid_length"),
        schema=_SCHEMA,
        aliases=("_npx_sldwin_atten_mask_like",),
        shapes=ShapeFacts(complete=dtype_rule(0)),
    )
)
