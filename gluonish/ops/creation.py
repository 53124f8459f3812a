"""Arrays from nothing: _zeros, _ones, _full, _arange, _linspace and _eye.

``ctx`` names the device in MXNet's files; who runs the operator decides it here.
"""

import math
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, dtype_attr, integer, number, optional, text
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import MOST_ELEMENTS, Shape, Spec, checked_spec
from gluonish.ops.precision import in_dtype
from gluonish.ops.registry import Operator, register

__all__ = ["ARANGE", "EYE", "FULL", "LINSPACE", "ONES", "ZEROS", "arange_bounds"]

_CTX = text("")
_DTYPE = dtype_attr(FLOAT32)


def _filled(value: int, name: str) -> Operator:
    def infer(*, shape: Shape, ctx: str, dtype: np.dtype[Any]) -> tuple[Spec]:
        return (checked_spec(name, shape, dtype),)

    def kernel(xp: ModuleType, out: Any, *, shape: Shape, ctx: str, dtype: np.dtype[Any]) -> None:
        out.fill(dtype.type(value))

    return register(
        Operator(
            name,
            infer,
            kernel,
            None,
            doc=f"An array of {value}s.\n\nShapes: output shape.",
            inputs=(),
            schema=Schema(shape=shape_attr(()), ctx=_CTX, dtype=_DTYPE),
        )
    )


ZEROS = _filled(0, "_zeros")
ONES = _filled(1, "_ones")


def _full_infer(
    *, shape: Shape | None, ctx: str, dtype: np.dtype[Any], value: float
) -> tuple[Spec]:
    return (checked_spec("_full", shape or (), dtype),)


def _full_kernel(
    xp: ModuleType, out: Any, *, shape: Shape | None, ctx: str, dtype: np.dtype[Any], value: float
) -> None:
    out.fill(in_dtype(dtype, value))


FULL = register(
    Operator(
        "_full",
        _full_infer,
        _full_kernel,
        None,
        doc=(
            "An array of equal values; for integers the value is cut toward zero.\n\n"
            "Shapes: output shape."
        ),
        inputs=(),
        schema=Schema(shape=optional(shape_attr()), ctx=_CTX, dtype=_DTYPE, value=number()),
        aliases=("_npi_full",),
    )
)


def arange_bounds(start: float, stop: float | None, step: float) -> tuple[float, int]:
    """Return the first value and how many there are."""
    if stop is None:
        start, stop = 0.0, start
    steps = (stop - start) / step if step else 0.0
    if not 0 < steps <= MOST_ELEMENTS:
        raise OperatorError(
            f"_arange: expected steps that lead from start to stop, got {start}, {stop} and {step}"
        )
    return start, math.ceil(steps)


def _arange_infer(
    *,
    start: float,
    stop: float | None,
    step: float,
    repeat: int,
    infer_range: bool,
    ctx: str,
    dtype: np.dtype[Any],
) -> tuple[Spec]:
    _, count = arange_bounds(start, stop, step)
    return (checked_spec("_arange", (count * repeat,), dtype),)


def _arange_kernel(
    xp: ModuleType,
    out: Any,
    *,
    start: float,
    stop: float | None,
    step: float,
    repeat: int,
    infer_range: bool,
    ctx: str,
    dtype: np.dtype[Any],
) -> None:
    first, count = arange_bounds(start, stop, step)
    values = first + xp.arange(count, dtype=xp.float64) * step
    out.reshape(count, repeat)[...] = values.astype(dtype)[:, None]


ARANGE = register(
    Operator(
        "_arange",
        _arange_infer,
        _arange_kernel,
        None,
        doc=(
            "Values from start up to stop in steps of step, each repeat times.\n\n"
            "Without stop they run from 0 up to start. infer_range is accepted and ignored.\n\n"
            "Shapes: output (n,), where n is repeat * ceil((stop - start) / step)."
        ),
        inputs=(),
        schema=Schema(
            start=number(),
            stop=optional(number()),
            step=number(1.0),
            repeat=integer(1, low=1),
            infer_range=boolean(False),
            ctx=_CTX,
            dtype=_DTYPE,
        ),
    )
)


def _linspace_infer(
    *, start: float, stop: float, num: int, endpoint: bool, ctx: str, dtype: np.dtype[Any]
) -> tuple[Spec]:
    return (checked_spec("_linspace", (num,), dtype),)


def _linspace_kernel(
    xp: ModuleType,
    out: Any,
    *,
    start: float,
    stop: float,
    num: int,
    endpoint: bool,
    ctx: str,
    dtype: np.dtype[Any],
) -> None:
    step = (stop - start) / max(1, num - 1 if endpoint else num)
    out[...] = (start + xp.arange(num, dtype=xp.float64) * step).astype(dtype)


LINSPACE = register(
    Operator(
        "_linspace",
        _linspace_infer,
        _linspace_kernel,
        None,
        doc=(
            "num values evenly spaced from start to stop, stop included if endpoint.\n\n"
            "Shapes: output (num,)."
        ),
        inputs=(),
        schema=Schema(
            start=number(),
            stop=number(),
            num=integer(low=0),
            endpoint=boolean(True),
            ctx=_CTX,
            dtype=_DTYPE,
        ),
        aliases=("_npi_linspace",),
    )
)


def _eye_infer(*, N: int, M: int, k: int, ctx: str, dtype: np.dtype[Any]) -> tuple[Spec]:
    return (checked_spec("_eye", (N, M or N), dtype),)


def _eye_kernel(
    xp: ModuleType, out: Any, *, N: int, M: int, k: int, ctx: str, dtype: np.dtype[Any]
) -> None:
    out[...] = xp.eye(N, M or N, k=k, dtype=xp.float32).astype(dtype)


EYE = register(
    Operator(
        "_eye",
        _eye_infer,
        _eye_kernel,
        None,
        doc=(
            "A matrix of N rows and M (or N) columns with ones on diagonal k, zeros elsewhere.\n\n"
            "Shapes: output (N, M)."
        ),
        inputs=(),
        schema=Schema(N=integer(low=0), M=integer(0, low=0), k=integer(0), ctx=_CTX, dtype=_DTYPE),
    )
)
