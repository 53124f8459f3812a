"""_sample_multinomial: classes drawn by probability, and the gradient of the log likelihood."""

import math
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT64, INT32, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, dtype_attr
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec, checked_spec
from gluonish.ops.elementwise.unary import EXP
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.indexing.one_hot import ONE_HOT
from gluonish.ops.reductions.reduction import sum_
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.dtype_rules import named_dtype
from gluonish.ops.support.philox import uniform
from gluonish.ops.support.precision import check_positions, widen

Key = tuple[int, int]


def _infer(data: Spec, *, shape: Shape, get_prob: bool, dtype: np.dtype[Any]) -> tuple[Spec, ...]:
    if not data.shape or data.shape[-1] == 0 or not is_floating(data.dtype):
        raise OperatorError(
            f"sample_multinomial: expected probabilities along the last axis, got {data}"
        )
    advice = "use a wider dtype, such as dtype='int32'"
    check_positions("sample_multinomial", data.shape[-1], dtype, advice)
    result = (*data.shape[:-1], *shape) or (1,)
    samples = checked_spec("sample_multinomial", result, dtype)
    return (samples, Spec(result, data.dtype)) if get_prob else (samples,)


def _kernel(
    xp: ModuleType,
    out: Any,
    data: Any,
    *,
    key: Key,
    shape: Shape,
    get_prob: bool,
    dtype: np.dtype[Any],
) -> None:
    rows = widen(data).reshape(-1, data.shape[-1]).astype(xp.float64)
    count = math.prod(shape)
    draws = uniform(xp, key, (len(rows), count), FLOAT64)
    samples = _classes(xp, rows, draws)
    xp.minimum(samples, rows.shape[1] - 1, out=samples)
    out[0][...] = samples.reshape(out[0].shape).astype(dtype)
    if get_prob:
        chosen = xp.take_along_axis(rows, samples, axis=1)
        out[1][...] = xp.log(chosen).reshape(out[1].shape).astype(data.dtype)


def _classes(xp: ModuleType, rows: Any, draws: Any) -> Any:
    """Invert the cumulative distribution of each row, in a loop over rows or classes."""
    ends = xp.cumsum(rows, axis=1)
    lengths = ends[:, -1:]
    classes = xp.zeros(draws.shape, dtype=xp.int64)
    by_class = ends.shape[1] < len(ends)
    if by_class and xp is np:  # only NumPy checks for invalid probabilities
        by_class = bool(np.all(rows >= 0)) and bool(np.all(np.isfinite(lengths)))
    if by_class:
        values = draws * lengths
        for j in range(ends.shape[1]):
            classes += ends[:, j : j + 1] <= values
        return classes
    for row, draw, found in zip(ends, draws, classes, strict=True):
        found[...] = xp.searchsorted(row, draw * row[-1], side="right")
    return classes


def _gradient(
    g: Any,
    data: V,
    samples: V,
    log_probability: Any = None,
    *,
    shape: Shape,
    get_prob: bool,
    **attrs: Any,
) -> tuple[Any]:
    if not get_prob or g[1] is None:
        return (None,)
    classes = data.shape[-1]
    rows = math.prod(data.shape[:-1])
    each = (rows, math.prod(shape))
    # d log p / d p = 1 / p, at the drawn class.
    weight = reshape(g[1] * EXP(-log_probability), (*each, 1))
    dtype = np.dtype(log_probability.dtype)
    hot_attrs = {"depth": classes, "on_value": 1.0, "off_value": 0.0, "dtype": dtype}
    hot = apply(ONE_HOT, (reshape(samples, each),), hot_attrs)
    return (reshape(sum_(hot * weight, axis=(1,)), data.shape),)


def _outputs(attrs: Attrs) -> int:
    return 2 if attrs["get_prob"] else 1


SAMPLE_MULTINOMIAL = register(
    Operator(
        "_sample_multinomial",
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True),
        doc=(
            "Draw classes with the probabilities along the last axis, an array of shape for each\n"
            "row.\n\n"
            "get_prob also returns the logarithm of the probability of each drawn class, which\n"
            "has a gradient.\n\n"
            "Shapes: data (..., K), outputs (..., *shape)."
        ),
        schema=Schema(shape=shape_attr(()), get_prob=boolean(False), dtype=dtype_attr(INT32)),
        aliases=("sample_multinomial",),
        outputs=_outputs,
        execution=Execution(random=True, heavy=True),
        shapes=ShapeFacts(complete=named_dtype),
    )
)
