"""Array creation: zeros, ones, arange, eye, identity, indices, logspace and windows.

``ctx`` names the device in MXNet's files; here the caller chooses the device.
"""

import math
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import BOOL, FLOAT32, FLOAT64, INT32, INT64, normalize_dtype
from gluonish.core.errors import OperatorError
from gluonish.core.schema import (
    Attribute,
    Schema,
    boolean,
    dtype_attr,
    integer,
    number,
    optional,
    text,
)
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import MOST_ELEMENTS, Shape, Spec, checked_spec
from gluonish.ops.creation import (
    EYE_DOC,
    evenly_spaced,
    filled_operator,
    ones_on_diagonal,
    progression,
    source_operator,
    steps_between,
    whole_steps,
)
from gluonish.ops.facts import zero_gradient
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.precision import check_number, in_dtype, warn_of_rounded_steps

_CTX = text("")
_DTYPE = dtype_attr(FLOAT32)
_OPTIONAL_DTYPE = Attribute(
    lambda value: None if value in (None, "None") else normalize_dtype(value),
    "a dtype or None",
    None,
)

_NUMBER = "; shape () gives a scalar"

Made = tuple[Spec]


ZEROS = filled_operator("_npi_zeros", 0, _NUMBER)
ONES = filled_operator("_npi_ones", 1, _NUMBER)


def _arange_bounds(start: float, stop: float | None, step: float, repeat: int) -> tuple[float, int]:
    """Return the first value and the number of values."""
    if stop is None:
        start, stop = 0.0, start
    if not all(map(math.isfinite, (start, stop, step))) or step == 0 or repeat != 1:
        raise OperatorError(
            f"_npi_arange: expected numbers, a step other than 0 and repeat 1, got start {start}, "
            f"stop {stop}, step {step} and repeat {repeat}"
        )
    steps = steps_between(start, stop, step)
    if steps > MOST_ELEMENTS:
        raise OperatorError(
            f"_npi_arange: expected at most {MOST_ELEMENTS} elements, got {steps:.0f}"
        )
    return start, max(0, math.ceil(steps))


def _arange_infer(
    *,
    start: float,
    stop: float | None,
    step: float,
    repeat: int,
    dtype: np.dtype[Any],
    **_: object,
) -> Made:
    first, count = _arange_bounds(start, stop, step, repeat)
    warn_of_rounded_steps("arange", dtype, *whole_steps(dtype, first, step), count)
    return (Spec((count,), dtype),)


def _arange_kernel(
    xp: ModuleType,
    out: Any,
    *,
    start: float,
    stop: float | None,
    step: float,
    repeat: int,
    dtype: np.dtype[Any],
    **_: object,
) -> None:
    first, count = _arange_bounds(start, stop, step, repeat)
    out[...] = progression(xp, *whole_steps(dtype, first, step), count).astype(dtype)


ARANGE = source_operator(
    "_npi_arange",
    _arange_infer,
    _arange_kernel,
    "Values from start up to stop in steps of step; without stop from 0 up to start.\n\n"
    "repeat is 1. infer_range is accepted and ignored.\n\n"
    "Shapes: output (n,), where n is ceil((stop - start) / step).",
    start=number(),
    stop=optional(number()),
    step=number(1.0),
    repeat=integer(1),
    infer_range=boolean(False),
    ctx=_CTX,
    dtype=_DTYPE,
)


def _eye_infer(*, N: int, M: int | None, k: int, ctx: str, dtype: np.dtype[Any]) -> Made:
    return (checked_spec("_npi_eye", (N, N if M is None else M), dtype),)


def _eye_kernel(
    xp: ModuleType, out: Any, *, N: int, M: int | None, k: int, ctx: str, dtype: np.dtype[Any]
) -> None:
    ones_on_diagonal(out, k)


EYE = source_operator(
    "_npi_eye",
    _eye_infer,
    _eye_kernel,
    EYE_DOC,
    N=integer(),
    M=optional(integer()),
    k=integer(0),
    ctx=_CTX,
    dtype=_DTYPE,
)


def _identity_infer(*, shape: Shape, ctx: str, dtype: np.dtype[Any]) -> Made:
    if len(shape) != 2 or shape[0] != shape[1]:
        raise OperatorError(f"_npi_identity: expected the shape of a square matrix, got {shape}")
    return (checked_spec("_npi_identity", shape, dtype),)


def _identity_kernel(
    xp: ModuleType, out: Any, *, shape: Shape, ctx: str, dtype: np.dtype[Any]
) -> None:
    ones_on_diagonal(out, 0)


IDENTITY = source_operator(
    "_npi_identity",
    _identity_infer,
    _identity_kernel,
    (
        "A square matrix with ones on its diagonal, zeros elsewhere.\n\n"
        "Shapes: output shape, which is (n, n)."
    ),
    shape=shape_attr(()),
    ctx=_CTX,
    dtype=_DTYPE,
)


def _indices_infer(*, dimensions: Shape, dtype: np.dtype[Any], ctx: str) -> Made:
    return (checked_spec("_npi_indices", (len(dimensions), *dimensions), dtype),)


def _indices_kernel(
    xp: ModuleType, out: Any, *, dimensions: Shape, dtype: np.dtype[Any], ctx: str
) -> None:
    for axis, extent in enumerate(dimensions):
        column = (1,) * axis + (extent,) + (1,) * (len(dimensions) - axis - 1)
        out[axis] = xp.arange(extent).astype(dtype).reshape(column)


INDICES = source_operator(
    "_npi_indices",
    _indices_infer,
    _indices_kernel,
    (
        "Coordinates of the points of a grid: entry i along the first axis holds coordinate\n"
        "i of each point.\n\n"
        "Shapes: output (axes, *dimensions)."
    ),
    dimensions=shape_attr(),
    dtype=dtype_attr(INT32),
    ctx=_CTX,
)


def _logspace_infer(*, num: int, dtype: np.dtype[Any], **_: object) -> Made:
    return (checked_spec("_npi_logspace", (num,), dtype),)


def _logspace_kernel(
    xp: ModuleType,
    out: Any,
    *,
    start: float,
    stop: float,
    num: int,
    endpoint: bool,
    base: float,
    dtype: np.dtype[Any],
    **_: object,
) -> None:
    powers = evenly_spaced(xp, start, stop, num, endpoint)
    out[...] = xp.power(FLOAT64.type(base), powers).astype(dtype)


LOGSPACE = source_operator(
    "_npi_logspace",
    _logspace_infer,
    _logspace_kernel,
    (
        "num powers of base, with exponents evenly spaced from start to stop, including\n"
        "stop if endpoint.\n\n"
        "Shapes: output (num,)."
    ),
    start=number(),
    stop=number(),
    num=integer(),
    endpoint=boolean(True),
    base=number(10.0),
    ctx=_CTX,
    dtype=_DTYPE,
)


def _window(name: str, word: str, *weights: float) -> None:
    """Register a window: a sum of cosines of 0, 1, 2 ... periods with these weights."""

    def infer(*, M: int | None, ctx: str, dtype: np.dtype[Any]) -> Made:
        if M is None:
            raise OperatorError(f"{name}: expected M, the number of points, got None")
        return (checked_spec(name, (max(0, M),), dtype),)

    def kernel(xp: ModuleType, out: Any, *, M: int | None, ctx: str, dtype: np.dtype[Any]) -> None:
        count = out.shape[0]
        if count == 1:
            out.fill(dtype.type(1))
            return
        angles = xp.arange(count, dtype=xp.float64) * (2 * math.pi / max(1, count - 1))
        values = sum(weight * xp.cos(i * angles) for i, weight in enumerate(weights))
        out[...] = xp.asarray(values).astype(dtype)

    doc = f"The {word} window of M points.\n\nShapes: output (M,)."
    source_operator(name, infer, kernel, doc, M=optional(integer()), ctx=_CTX, dtype=_DTYPE)


_window("_npi_hanning", "Hann", 0.5, -0.5)
_window("_npi_hamming", "Hamming", 0.54, -0.46)
_window("_npi_blackman", "Blackman", 0.42, -0.5, 0.08)


def _like_infer(
    a: Spec, *, fill_value: float, ctx: str, dtype: np.dtype[Any] | None
) -> tuple[Spec]:
    chosen = a.dtype if dtype is None else dtype
    check_number("_npi_full_like", chosen, fill_value)
    return (Spec(a.shape, chosen),)


def _like_kernel(
    xp: ModuleType,
    out: Any,
    a: Any,
    *,
    fill_value: float,
    ctx: str,
    dtype: np.dtype[Any] | None,
) -> None:
    out.fill(bool(fill_value) if out.dtype == BOOL else in_dtype(out.dtype, fill_value))


FULL_LIKE = register(
    Operator(
        "_npi_full_like",
        _like_infer,
        _like_kernel,
        zero_gradient,
        doc=(
            "An array filled with one value, with the shape of a, and its dtype unless dtype is\n"
            "given.\n\n"
            "Shapes: a any, output the same."
        ),
        inputs=("a",),
        schema=Schema(fill_value=number(), ctx=_CTX, dtype=_OPTIONAL_DTYPE),
    )
)


def _diagonal_infer(data: Spec) -> tuple[Spec]:
    if len(data.shape) < 2 or len(set(data.shape)) != 1:
        raise OperatorError(
            f"_npi_diag_indices_from: expected two or more axes of equal size, got {data.shape}"
        )
    return (Spec((len(data.shape), data.shape[0]), INT64),)


def _diagonal_kernel(xp: ModuleType, out: Any, data: Any) -> None:
    out[...] = xp.arange(data.shape[0])


DIAG_INDICES_FROM = register(
    Operator(
        "_npi_diag_indices_from",
        _diagonal_infer,
        _diagonal_kernel,
        zero_gradient,
        doc=(
            "Coordinates of the main diagonal of data, a row for each axis, as int64.\n\n"
            "Shapes: data (n, ..., n), output (axes, n)."
        ),
    )
)
