"""argmax, argmin and argmax_channel: the index of an extreme value, in the dtype of data."""

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer, optional
from gluonish.core.spec import Shape, Spec
from gluonish.ops.facts import zero_gradient
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.broadcasting import refuse_truth_values
from gluonish.ops.support.precision import check_positions, widen
from gluonish.ops.support.shape_rules import named_axes

_ADVICE = "cast the data with astype, or use topk or np.argmax, which return other dtypes"
_SCHEMA = Schema(axis=optional(integer()), keepdims=boolean(False))


def index_operator(
    name: str,
    method: str,
    check: Callable[[str, Spec], None],
    result_spec: Callable[[Shape, Spec], Spec],
    doc: str,
    shapes: str = "",
) -> Operator:
    """Register an operator that returns the index of an extreme value along an axis.

    Args:
        method: ``"argmax"`` or ``"argmin"``.
        check: ``check(name, data)`` raises OperatorError for unsupported data.
        result_spec: Returns the result's spec from its shape in NumPy and the data.
        doc: Documentation of the result's dtype.
        shapes: Documentation of the result's shape.
    """

    def infer(data: Spec, *, axis: int | None, keepdims: bool) -> tuple[Spec]:
        check(name, data)
        shape = data.shape
        every = range(len(shape))
        reduced = every if axis is None else named_axes(name, (axis,), len(shape))
        result = tuple(
            1 if i in reduced else shape[i] for i in every if keepdims or i not in reduced
        )
        count = math.prod(shape[i] for i in reduced)
        if count == 0 and 0 not in result:
            raise OperatorError(f"{name}: expected at least one element, got data {shape}")
        found = result_spec(result, data)
        check_positions(name, count, found.dtype, _ADVICE)
        return (found,)

    def kernel(xp: ModuleType, out: Any, data: Any, *, axis: int | None, keepdims: bool) -> None:
        if out.size:
            out[...] = getattr(widen(data), method)(axis if data.ndim else None).reshape(out.shape)

    return register(
        Operator(
            name,
            infer,
            kernel,
            zero_gradient,
            doc=(
                f"Return the index of the first {method.removeprefix('arg')}imum along axis, or\n"
                f"over all elements in row-major order.\n\n{doc}"
                "Shapes: data any, output data's without axis, or with size 1 there "
                f"(keepdims){shapes}."
            ),
            schema=_SCHEMA,
        )
    )


def _in_dtype_of_data(method: str) -> Operator:
    return index_operator(
        method,
        method,
        refuse_truth_values,
        lambda shape, data: Spec(shape or (1,), data.dtype),
        "The dtype is that of data; it is an error if it cannot represent the last index.\n\n",
        ";\n(1,) without remaining axes",
    )


ARGMAX = _in_dtype_of_data("argmax")
ARGMIN = _in_dtype_of_data("argmin")


def _channel_infer(data: Spec) -> tuple[Spec]:
    refuse_truth_values("argmax_channel", data)
    if len(data.shape) < 2 or data.shape[1] == 0:
        raise OperatorError(f"argmax_channel: expected data (N, C, ...), got {data.shape}")
    check_positions("argmax_channel", data.shape[1], data.dtype, _ADVICE)
    return (Spec((data.shape[0], *data.shape[2:]), data.dtype),)


def _channel_kernel(xp: ModuleType, out: Any, data: Any) -> None:
    out[...] = widen(data).argmax(1)


ARGMAX_CHANNEL = register(
    Operator(
        "argmax_channel",
        _channel_infer,
        _channel_kernel,
        zero_gradient,
        doc=(
            "Return the index of the first maximum along axis 1, in the dtype of data.\n\n"
            "Shapes: data (N, C, ...), output (N, ...)."
        ),
    )
)
