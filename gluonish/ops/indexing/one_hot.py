"""one_hot: one-hot encoding of indices."""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.core.schema import Schema, dtype_attr, integer, number
from gluonish.core.spec import Spec, checked_spec
from gluonish.ops.facts import ShapeFacts
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.dtype_rules import named_dtype
from gluonish.ops.support.precision import check_number, in_dtype
from gluonish.ops.support.zero_gradient import zero_gradient


def _infer(
    indices: Spec, *, depth: int, on_value: float, off_value: float, dtype: np.dtype[Any]
) -> tuple[Spec]:
    check_number("one_hot", dtype, on_value)
    check_number("one_hot", dtype, off_value)
    return (checked_spec("one_hot", (*indices.shape, depth), dtype),)


def _kernel(
    xp: ModuleType,
    out: Any,
    indices: Any,
    *,
    depth: int,
    on_value: float,
    off_value: float,
    dtype: np.dtype[Any],
) -> None:
    out.fill(in_dtype(dtype, off_value))
    hit = indices.astype(xp.int64)[..., None] == xp.arange(depth)
    out[hit] = in_dtype(dtype, on_value)


ONE_HOT = register(
    Operator(
        "one_hot",
        _infer,
        _kernel,
        zero_gradient,
        doc=(
            "Return rows of depth values: on_value at the index, off_value elsewhere.\n\n"
            "An index outside [0, depth) gives a row of off_value.\n\n"
            "Shapes: indices any, output (*indices.shape, depth)."
        ),
        inputs=("indices",),
        schema=Schema(
            depth=integer(low=0),
            on_value=number(1.0),
            off_value=number(0.0),
            dtype=dtype_attr(FLOAT32),
        ),
        aliases=("_npx_one_hot",),
        shapes=ShapeFacts(complete=named_dtype),
    )
)
