"""_sample_multinomial: classes drawn by probability, and the gradient of the log likelihood.

_npi_multinomial: counts of each class in independent trials.

_sample_unique_zipfian: rows of distinct integers from a Zipfian distribution.
"""

import math
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT64, INT32, INT64, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, dtype_attr, integer, numbers, optional
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import PartialSpec, Shape, Spec, checked_spec
from gluonish.ops.elementwise.unary import EXP
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.indexing.pick import ONE_HOT
from gluonish.ops.reductions.reduction import sum_
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.sampling.numpy_limits import check_numbers
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support import variates
from gluonish.ops.support.dtype_rules import named_dtype
from gluonish.ops.support.philox import uniform
from gluonish.ops.support.precision import check_positions, widen
from gluonish.ops.support.variates import substream

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


_NAME = "_npi_multinomial"
_TOLERANCE = 1e-5  # by which the sum of float32 probabilities may exceed 1


def _active(attrs: Attrs) -> tuple[str, ...]:
    return ("a",) if attrs["pvals"] is None else ()


def _check_probabilities(smallest: float, total: float) -> None:
    """Raise OperatorError for negative probabilities or a sum above 1."""
    if not (smallest >= 0 and total <= 1 + _TOLERANCE):
        raise OperatorError(
            f"{_NAME}: expected probabilities of at least 0 that add up to at most 1, "
            f"got a minimum of {smallest} and a sum of {total}"
        )


def _infer_numpy_multinomial(
    *arrays: Spec, n: int, pvals: tuple[float, ...] | None, size: Shape | None
) -> tuple[Spec]:
    if len(arrays) != (pvals is None):
        raise OperatorError(f"{_NAME}: expected pvals or an array, got {len(arrays)} arrays")
    for spec in arrays:
        if len(spec.shape) != 1:
            raise OperatorError(f"{_NAME}: expected probabilities of 1 axis, got {spec}")
    check_numbers(_NAME, arrays)
    classes = arrays[0].shape if pvals is None else (len(pvals),)
    return (checked_spec(_NAME, (size or ()) + classes, INT64),)


def _kernel_numpy_multinomial(
    xp: ModuleType,
    out: Any,
    *arrays: Any,
    key: Key,
    n: int,
    pvals: tuple[float, ...] | None,
    size: Shape | None,
) -> None:
    if n < 0:
        raise OperatorError(f"{_NAME}: expected n of at least 0, got {n}")
    shares = arrays[0].astype(xp.float64).tolist() if pvals is None else list(pvals)
    if not shares:
        return
    _check_probabilities(min(shares), sum(shares))
    columns = out.reshape(-1, len(shares))
    index = xp.arange(columns.shape[0])
    left, rest = xp.full(index.size, float(n)), 1.0
    for i, share in enumerate(shares[:-1]):
        chance = min(share / rest, 1.0) if rest > 0 else 0.0
        stream = variates.substream(key, i)
        found = variates.binomial(xp, stream, index, left, xp.full(index.size, chance))
        columns[:, i] = found.astype(out.dtype)
        left = left - found
        rest -= share
    columns[:, -1] = left.astype(out.dtype)


def _complete(_inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    outputs[0] = PartialSpec(outputs[0].shape, INT64)


NUMPY_MULTINOMIAL = register(
    Operator(
        _NAME,
        _infer_numpy_multinomial,
        _kernel_numpy_multinomial,
        None,
        doc=(
            "Draw how often each class occurs in n trials: an array of counts for each element\n"
            "of size.\n\n"
            "The probabilities are pvals, or the input if pvals is None; they add up to 1.\n\n"
            "Shapes: a (K,), output (*size, K)."
        ),
        inputs=("a",),
        active_inputs=_active,
        schema=Schema(n=integer(), pvals=optional(numbers()), size=optional(shape_attr())),
        execution=Execution(random=True, heavy=True),
        shapes=ShapeFacts(complete=_complete),
    )
)


_ZIPFIAN = "_sample_unique_zipfian"
_MAX_BATCH = 1 << 20  # numbers drawn at a time


def _infer_zipfian(*, range_max: int, shape: Shape | None) -> tuple[Spec, Spec]:
    extents = shape or ()
    if range_max < 1:
        raise OperatorError(f"{_ZIPFIAN}: expected range_max of at least 1, got {range_max}")
    if len(extents) != 2 or not 0 <= extents[1] <= range_max or extents[0] < 0:
        raise OperatorError(
            f"{_ZIPFIAN}: expected a shape (rows, numbers) with at most range_max = {range_max} "
            f"numbers in a row, got {shape}"
        )
    return checked_spec(_ZIPFIAN, extents, INT64), checked_spec(_ZIPFIAN, extents[:1], INT64)


def _row(key: Key, range_max: int, count: int) -> tuple[Any, int]:
    """Return the first ``count`` distinct numbers of a random stream, and how many were drawn."""
    drawn = np.empty(0, np.int64)
    first = np.empty(0, np.int64)
    length = 2 * count
    for batch in range(1 << 16):
        u = uniform(np, substream(key, batch), (length,), FLOAT64)
        numbers = np.exp(u * math.log(range_max + 1)).astype(np.int64) - 1
        drawn = np.concatenate([drawn, np.clip(numbers, 0, range_max - 1)])
        first = np.sort(np.unique(drawn, return_index=True)[1])
        if first.size >= count:
            break
        length = min(2 * length, _MAX_BATCH)
    first = first[:count]
    return drawn[first], int(first[-1]) + 1 if count else 0


def _kernel_zipfian(
    xp: ModuleType, out: Any, *, key: Key, range_max: int, shape: Shape | None
) -> None:
    samples, tries = out
    for i in range(samples.shape[0]):
        numbers, count = _row(substream(key, (i + 1) << 16), range_max, samples.shape[1])
        samples[i] = xp.asarray(numbers)
        tries[i] = count


SAMPLE_UNIQUE_ZIPFIAN = register(
    Operator(
        _ZIPFIAN,
        _infer_zipfian,
        _kernel_zipfian,
        None,
        doc=(
            "Draw rows of integers below range_max, without repeats in a row.\n\n"
            "A number k is drawn with probability log((k + 2) / (k + 1)) / log(range_max + 1),\n"
            "and again if it is already in the row. The second output is the number of draws\n"
            "for each row. shape is (rows, numbers in a row).\n\n"
            "Shapes: outputs shape and (rows,)."
        ),
        inputs=(),
        schema=Schema(range_max=integer(), shape=optional(shape_attr())),
        outputs=2,
        execution=Execution(random=True, heavy=True),
    )
)
