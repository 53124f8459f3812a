"""Casts of several weights by one operator.

It appears in planned graphs only, and has no gradient.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.schema import Schema, dtype_attr, integer
from gluonish.core.spec import Spec
from gluonish.ops.elementwise.cast import convert
from gluonish.ops.registry import Attrs, Operator, register


def _infer(*weights: Spec, num_args: int, dtype: np.dtype[Any]) -> tuple[Spec, ...]:
    return tuple(Spec(weight.shape, dtype) for weight in weights)


def _kernel(xp: ModuleType, out: Any, *weights: Any, **_: object) -> None:
    for target, weight in zip(out if isinstance(out, tuple) else (out,), weights, strict=True):
        convert(target, weight)


def _count(attrs: Attrs) -> int:
    count: int = attrs["num_args"]
    return count


CAST_WEIGHTS = register(
    Operator(
        "_cast_weights",
        _infer,
        _kernel,
        None,
        doc=(
            "Cast several weights to dtype.\n\n"
            "A plan may lay the outputs out in other memory layouts than the weights.\n\n"
            "Shapes: weights any, outputs the same, one for each."
        ),
        inputs=("weights",),
        schema=Schema(num_args=integer(low=1), dtype=dtype_attr()),
        outputs=_count,
        variadic="num_args",
    )
)
