"""Array creation: _zeros, _ones, _full, _arange, _linspace and _eye.

``ctx`` names the device in MXNet's files; here the caller chooses the device.
"""

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
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
from gluonish.core.spec import MOST_ELEMENTS, UNKNOWN, PartialSpec, Shape, Spec, checked_spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, register
from gluonish.ops.support.precision import check_number, in_dtype, warn_of_rounded_steps

_CTX = text("")
_DTYPE = dtype_attr(FLOAT32)


def source_operator(
    name: str,
    infer: Callable[..., tuple[Spec]],
    kernel: Callable[..., None],
    doc: str,
    *aliases: str,
    opens: Callable[[Attrs], PartialSpec | None] | None = None,
    with_shape: Callable[[Attrs, Shape], Attrs] | None = None,
    copies_only: bool = False,
    **attributes: Attribute,
) -> Operator:
    """Register an operator without inputs."""
    return register(
        Operator(
            name,
            infer,
            kernel,
            None,
            doc=doc,
            inputs=(),
            schema=Schema(**attributes),
            aliases=aliases,
            shapes=ShapeFacts(opens=opens, with_shape=with_shape),
            execution=Execution(copies_only=copies_only),
        )
    )


def filled_operator(name: str, value: int, note: str = "") -> Operator:
    """Register an operator that creates an array filled with ``value``."""

    def infer(*, shape: Shape, ctx: str, dtype: np.dtype[Any]) -> tuple[Spec]:
        return (checked_spec(name, shape, dtype),)

    def kernel(xp: ModuleType, out: Any, *, shape: Shape, ctx: str, dtype: np.dtype[Any]) -> None:
        out.fill(dtype.type(value))

    doc = f"An array of {value}s{note}.\n\nShapes: output shape."
    return source_operator(
        name, infer, kernel, doc, copies_only=True, shape=shape_attr(()), ctx=_CTX, dtype=_DTYPE
    )


ZEROS = filled_operator("_zeros", 0)
ONES = filled_operator("_ones", 1)


def _full_infer(
    *, shape: Shape | None, ctx: str, dtype: np.dtype[Any], value: float
) -> tuple[Spec]:
    check_number("_full", dtype, value)
    return (checked_spec("_full", shape or (), dtype),)


def _full_kernel(
    xp: ModuleType, out: Any, *, shape: Shape | None, ctx: str, dtype: np.dtype[Any], value: float
) -> None:
    out.fill(in_dtype(dtype, value))


FULL = source_operator(
    "_full",
    _full_infer,
    _full_kernel,
    (
        "An array filled with one value, which is truncated toward zero for integers.\n\n"
        "Shapes: output shape."
    ),
    "_npi_full",
    copies_only=True,
    shape=optional(shape_attr()),
    ctx=_CTX,
    dtype=_DTYPE,
    value=number(),
)


def progression(xp: ModuleType, first: float, step: float, count: int) -> Any:
    """Return ``count`` values from ``first`` in steps of ``step``.

    The values are float64, or int64 where float64 would round integers.
    """
    if is_rounded(first, step, count):
        return int(first) + xp.arange(count, dtype=xp.int64) * int(step)
    return first + xp.arange(count, dtype=xp.float64) * step


def whole_steps(dtype: np.dtype[Any], first: float, step: float) -> tuple[float, float]:
    """Return start and step of a range in this dtype: truncated for integer dtypes."""
    return (int(first), int(step)) if dtype.kind in "iu" else (first, step)


def is_rounded(first: float, step: float, count: int) -> bool:
    """Whether float64 would round some of these integers although int64 can represent them all."""
    if not (_is_whole(first) and _is_whole(step)):
        return False
    farthest = max(abs(first), abs(int(first) + count * int(step)))
    return 2**53 < farthest < 2**63


def _is_whole(value: float) -> bool:
    return isinstance(value, int) or value.is_integer()


def evenly_spaced(xp: ModuleType, start: float, stop: float, num: int, endpoint: bool) -> Any:
    """Return ``num`` values from ``start`` to ``stop`` (inclusive if ``endpoint``), in float64."""
    return progression(xp, start, (stop - start) / max(1, num - 1 if endpoint else num), num)


def arange_bounds(start: float, stop: float | None, step: float) -> tuple[float, int]:
    """Return the first value and the number of values."""
    if stop is None:
        start, stop = 0.0, start
    steps = steps_between(start, stop, step) if step else 0.0
    if not 0 < steps <= MOST_ELEMENTS:
        raise OperatorError(
            f"_arange: expected a step leading from start to stop, got {start}, {stop} and {step}"
        )
    return start, math.ceil(steps)


def steps_between(start: float, stop: float, step: float) -> float:
    """Return the number of steps (not 0) between two numbers, exact for large integers.

    A fraction of a step counts as one where all three are integers.
    """
    if all(map(_is_whole, (start, stop, step))):
        return -((int(start) - int(stop)) // int(step))
    return (stop - start) / step


def _arange_infer(
    *,
    start: float,
    stop: float | None,
    step: float,
    repeat: int,
    dtype: np.dtype[Any],
    **_: object,
) -> tuple[Spec]:
    first, count = arange_bounds(start, stop, step)
    warn_of_rounded_steps("arange", dtype, *whole_steps(dtype, first, step), count)
    return (checked_spec("_arange", (count * repeat,), dtype),)


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
    first, count = arange_bounds(start, stop, step)
    values = progression(xp, *whole_steps(dtype, first, step), count)
    out.reshape(count, repeat)[...] = values.astype(dtype)[:, None]


def _arange_opens(attrs: Attrs) -> PartialSpec | None:
    if not attrs["infer_range"] or attrs["stop"] is not None:
        return None
    return PartialSpec((UNKNOWN,), attrs["dtype"])


def _arange_with_shape(attrs: Attrs, shape: Shape) -> Attrs:
    """Return the attributes that create as many values as the inferred shape has."""
    count = -(-shape[0] // attrs["repeat"])
    if count * attrs["repeat"] != shape[0]:
        raise OperatorError(
            f"_arange: expected a size that repeat={attrs['repeat']} divides, got {shape}"
        )
    return {**attrs, "stop": attrs["start"] + count * attrs["step"]}


ARANGE = source_operator(
    "_arange",
    _arange_infer,
    _arange_kernel,
    (
        "Values from start up to stop in steps of step, each repeated repeat times.\n\n"
        "Without stop, values run from 0 up to start. With infer_range, values begin at start,\n"
        "and their number is inferred from the array they are combined with; eager calls\n"
        "ignore infer_range.\n\n"
        "Shapes: output (n,), where n is repeat * ceil((stop - start) / step)."
    ),
    start=number(),
    stop=optional(number()),
    step=number(1.0),
    opens=_arange_opens,
    with_shape=_arange_with_shape,
    repeat=integer(1, low=1),
    infer_range=boolean(False),
    ctx=_CTX,
    dtype=_DTYPE,
)


def _linspace_infer(
    *, start: float, stop: float, num: int, endpoint: bool, dtype: np.dtype[Any], **_: object
) -> tuple[Spec]:
    step = (stop - start) / max(1, num - 1 if endpoint else num)
    if _is_whole(start) and _is_whole(step):  # fractions are rounded anyway
        warn_of_rounded_steps("linspace", dtype, start, step, num)
    return (checked_spec("_linspace", (num,), dtype),)


def _linspace_kernel(
    xp: ModuleType,
    out: Any,
    *,
    start: float,
    stop: float,
    num: int,
    endpoint: bool,
    dtype: np.dtype[Any],
    **_: object,
) -> None:
    out[...] = evenly_spaced(xp, start, stop, num, endpoint).astype(dtype)


LINSPACE = source_operator(
    "_linspace",
    _linspace_infer,
    _linspace_kernel,
    (
        "num evenly spaced values from start to stop, including stop if endpoint.\n\n"
        "Shapes: output (num,)."
    ),
    "_npi_linspace",
    start=number(),
    stop=number(),
    num=integer(low=0),
    endpoint=boolean(True),
    ctx=_CTX,
    dtype=_DTYPE,
)


def ones_on_diagonal(out: Any, k: int) -> None:
    """Fill a C-contiguous matrix with ones on diagonal ``k``, zeros elsewhere."""
    out.fill(out.dtype.type(0))
    rows, columns = out.shape
    first = max(0, -k)
    count = min(rows - first, columns - max(0, k))
    if count > 0:
        begin = first * columns + max(0, k)
        end = begin + (count - 1) * (columns + 1) + 1
        out.reshape(-1)[begin : end : columns + 1] = out.dtype.type(1)


def _eye_infer(*, N: int, M: int, k: int, ctx: str, dtype: np.dtype[Any]) -> tuple[Spec]:
    return (checked_spec("_eye", (N, M or N), dtype),)


def _eye_kernel(
    xp: ModuleType, out: Any, *, N: int, M: int, k: int, ctx: str, dtype: np.dtype[Any]
) -> None:
    ones_on_diagonal(out, k)


EYE_DOC = (
    "A matrix of N rows and M (or N) columns with ones on diagonal k, and zeros\n"
    "elsewhere.\n\n"
    "Shapes: output (N, M)."
)
EYE = source_operator(
    "_eye",
    _eye_infer,
    _eye_kernel,
    EYE_DOC,
    N=integer(low=0),
    M=integer(0, low=0),
    k=integer(0),
    ctx=_CTX,
    dtype=_DTYPE,
)
