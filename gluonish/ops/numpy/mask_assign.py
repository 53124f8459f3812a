"""boolean_mask_assign: an array with the elements under a mask replaced.

MXNet writes into the array itself; here the result is a new array, which the caller may assign to
the input.
"""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import BOOL
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer, number
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec
from gluonish.ops.elementwise.constant_like import zeros_like
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.broadcasting import check_same_dtype
from gluonish.ops.support.precision import check_number, in_dtype

_SCALAR_NAME = "_npi_boolean_mask_assign_scalar"
_TENSOR_NAME = "_npi_boolean_mask_assign_tensor"


def _check(name: str, data: Spec, mask: Spec, start_axis: int) -> None:
    end = start_axis + len(mask.shape)
    fits = 0 <= start_axis <= len(data.shape) and data.shape[start_axis:end] == mask.shape
    if mask.dtype != BOOL or not fits:
        raise OperatorError(
            f"{name}: expected a bool mask of the sizes of data {data.shape} from axis "
            f"{start_axis}, got {mask.dtype.name} {mask.shape}"
        )


def _index(mask: Any, start_axis: int) -> tuple[Any, ...]:
    return (*(slice(None),) * start_axis, mask)


def _scalar_infer(data: Spec, mask: Spec, *, value: float, start_axis: int) -> tuple[Spec]:
    _check(_SCALAR_NAME, data, mask, start_axis)
    check_number(_SCALAR_NAME, data.dtype, value)
    return (data,)


def _scalar_kernel(
    xp: ModuleType, out: Any, data: Any, mask: Any, *, value: float, start_axis: int
) -> None:
    out[...] = data
    number = bool(value) if out.dtype == BOOL else in_dtype(out.dtype, value)
    out[_index(mask, start_axis)] = number


def _scalar_gradient(g: V, data: V, mask: V, *, value: float, start_axis: int) -> tuple[Any, None]:
    attrs = {"value": 0.0, "start_axis": start_axis}
    return apply(MASK_ASSIGN_SCALAR, (g, mask), attrs), None


MASK_ASSIGN_SCALAR = register(
    Operator(
        _SCALAR_NAME,
        _scalar_infer,
        _scalar_kernel,
        _scalar_gradient,
        doc=(
            "data with the number value where mask is true; mask covers the axes of data from\n"
            "start_axis on.\n\n"
            "Shapes: data any, mask as data from start_axis on, output that of data."
        ),
        inputs=("data", "mask"),
        schema=Schema(value=number(), start_axis=integer(0)),
    )
)


def _block_rank(data: Shape, mask: Shape) -> int:
    """Return the rank of the selected elements; the mask's axes are merged into one."""
    return len(data) - len(mask) + 1


def _tensor_infer(data: Spec, mask: Spec, value: Spec, *, start_axis: int) -> tuple[Spec]:
    _check(_TENSOR_NAME, data, mask, start_axis)
    check_same_dtype(_TENSOR_NAME, data, value)
    if len(value.shape) > _block_rank(data.shape, mask.shape):
        raise OperatorError(
            f"{_TENSOR_NAME}: expected value of at most {_block_rank(data.shape, mask.shape)} "
            f"axes, got {value.shape}"
        )
    return (data,)


def _block_shape(xp: ModuleType, whole: Shape, mask: Any, value: Shape, start_axis: int) -> Shape:
    """Return the shape of the elements selected by a mask.

    Raises:
        OperatorError: ``value`` does not broadcast to that shape.
    """
    count = int(xp.count_nonzero(mask))
    block = (*whole[:start_axis], count, *whole[start_axis + mask.ndim :])
    padded = (1,) * (len(block) - len(value)) + value
    if any(n not in (1, extent) for n, extent in zip(padded, block, strict=True)):
        raise OperatorError(
            f"{_TENSOR_NAME}: expected value that broadcasts to {block}, got {value}"
        )
    return block


def _tensor_kernel(
    xp: ModuleType, out: Any, data: Any, mask: Any, value: Any, *, start_axis: int
) -> None:
    block = _block_shape(xp, data.shape, mask, value.shape, start_axis)
    out[...] = data
    out[_index(mask, start_axis)] = xp.broadcast_to(value, block)


def _tensor_gradient(g: V, data: V, mask: V, value: V, *, start_axis: int) -> tuple[Any, ...]:
    scalar = {"value": 0.0, "start_axis": start_axis}
    under = {"start_axis": start_axis, "shape": value.shape}
    return (
        lambda: apply(MASK_ASSIGN_SCALAR, (g, mask), scalar),
        None,
        lambda: apply(_SUM_UNDER_MASK, (g, mask), under),
    )


MASK_ASSIGN_TENSOR = register(
    Operator(
        _TENSOR_NAME,
        _tensor_infer,
        _tensor_kernel,
        _tensor_gradient,
        doc=(
            "data with the elements of value where mask is true.\n\n"
            "mask covers the axes of data from start_axis on; value broadcasts to the selected\n"
            "elements, in which those axes are one axis.\n\n"
            "Shapes: data any, mask as data from start_axis on, output that of data."
        ),
        inputs=("data", "mask", "value"),
        schema=Schema(start_axis=integer(0)),
    )
)


def _under_infer(data: Spec, mask: Spec, *, start_axis: int, shape: Shape) -> tuple[Spec]:
    return (Spec(shape, data.dtype),)


def _under_kernel(
    xp: ModuleType, out: Any, data: Any, mask: Any, *, start_axis: int, shape: Shape
) -> None:
    block = data[_index(mask, start_axis)]
    lead = block.ndim - len(shape)
    axes = tuple(range(lead)) + tuple(
        lead + i for i, n in enumerate(shape) if n == 1 and block.shape[lead + i] != 1
    )
    out[...] = block.sum(axis=axes).reshape(shape)


def _under_gradient(g: V, data: V, mask: V, *, start_axis: int, shape: Shape) -> tuple[Any, None]:
    attrs = {"start_axis": start_axis}
    return apply(MASK_ASSIGN_TENSOR, (zeros_like(data), mask, g), attrs), None


_SUM_UNDER_MASK = register(
    Operator(
        "_sum_under_mask",
        _under_infer,
        _under_kernel,
        _under_gradient,
        doc=(
            "The elements of data where mask is true, summed to the shape that they were\n"
            "broadcast from."
        ),
        inputs=("data", "mask"),
        schema=Schema(start_axis=integer(0), shape=shape_attr()),
    )
)
