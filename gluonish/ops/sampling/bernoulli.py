"""_npi_bernoulli: Bernoulli samples, by probability or logit."""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.core.errors import OperatorError
from gluonish.core.schema import REQUIRED, Schema, boolean, dtype_attr, number, optional, text
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, register
from gluonish.ops.sampling.numpy_limits import check_numbers, result_shape
from gluonish.ops.sampling.random import check_limits, work_dtype
from gluonish.ops.support.dtype_rules import named_dtype
from gluonish.ops.support.philox import uniform
from gluonish.ops.support.zero_gradient import zero_gradient

Key = tuple[int, int]

_NAME = "_npi_bernoulli"
_RANGE = {"prob": ("from 0 to 1", lambda value: 0 <= value <= 1)}


def _parameter(attrs: Attrs) -> float | None:
    value: float | None = attrs["logit" if attrs["is_logit"] else "prob"]
    return value


def _active(attrs: Attrs) -> tuple[str, ...]:
    return () if _parameter(attrs) is not None else ("input1",)


def _infer(
    *arrays: Spec, size: Shape | None, ctx: str, dtype: np.dtype[Any], **attrs: Any
) -> tuple[Spec]:
    if len(arrays) != len(_active(attrs)):
        name = "logit" if attrs["is_logit"] else "prob"
        raise OperatorError(f"{_NAME}: expected {name} or an array, got {len(arrays)} arrays")
    check_numbers(_NAME, arrays)
    return (Spec(result_shape(_NAME, arrays, size), dtype),)


def _kernel(xp: ModuleType, out: Any, *arrays: Any, key: Key, **attrs: Any) -> None:
    if not attrs["is_logit"]:
        check_limits(_NAME, _RANGE, attrs)
    parameter = arrays[0] if arrays else _parameter(attrs)
    work = work_dtype(arrays[0].dtype) if arrays else FLOAT32
    p = xp.asarray(parameter).astype(work)
    if attrs["is_logit"]:
        p = 1 / (1 + xp.exp(-p))
    elif arrays and not bool(xp.all((p >= 0) & (p <= 1))):
        raise OperatorError(f"{_NAME}: expected prob from 0 to 1, got an array with other numbers")
    out[...] = (uniform(xp, key, out.shape, work) < p).astype(out.dtype)


BERNOULLI = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        zero_gradient,
        doc=(
            "Draw 1 with probability prob, or with is_logit 1 / (1 + exp(-logit)), else 0.\n\n"
            "If the parameter is None the input is used. Without size the result has the shape\n"
            "of the input.\n\n"
            "Shapes: input1 any that broadcasts to size, output size."
        ),
        inputs=("input1",),
        active_inputs=_active,
        schema=Schema(
            prob=optional(number(), REQUIRED),
            logit=optional(number(), REQUIRED),
            size=optional(shape_attr()),
            ctx=text("cpu"),
            dtype=dtype_attr(FLOAT32),
            is_logit=boolean(),
        ),
        execution=Execution(random=True),
        shapes=ShapeFacts(complete=named_dtype),
    )
)
