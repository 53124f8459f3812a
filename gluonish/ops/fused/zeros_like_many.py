"""Zeros in the shapes of several arrays by one operator.

It appears in planned graphs only, and has no gradient.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.schema import Schema, dtype_attr, integer
from gluonish.core.spec import Spec
from gluonish.ops.registry import Attrs, Operator, register


def _infer(*data: Spec, num_args: int, dtype: np.dtype[Any]) -> tuple[Spec, ...]:
    return tuple(Spec(each.shape, dtype) for each in data)


def _kernel(xp: ModuleType, out: Any, *data: Any, **_: object) -> None:
    for target in out if isinstance(out, tuple) else (out,):
        target[...] = 0


def _count(attrs: Attrs) -> int:
    count: int = attrs["num_args"]
    return count


ZEROS_LIKE_MANY = register(
    Operator(
        "_zeros_like_many",
        _infer,
        _kernel,
        None,
        doc=(
            "Zeros of dtype in the shapes of several arrays.\n\n"
            "Shapes: data any, outputs the same, one for each."
        ),
        inputs=("data",),
        schema=Schema(num_args=integer(low=1), dtype=dtype_attr()),
        outputs=_count,
        variadic="num_args",
    )
)
