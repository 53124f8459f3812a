"""Gradient arrays of parameters: made, and set to zero, many at once."""

from collections.abc import Iterable, Mapping
from typing import Any

from gluonish.autograd import mark_variables
from gluonish.core.context import Context
from gluonish.ndarray import NDArray, reset_arrays, zeros
from gluonish.numpy.array import gluon_array

__all__ = ["attach_gradients", "zero_arrays"]


def attach_gradients(
    data: Mapping[Context, NDArray], dtype: Any, stype: str, grad_req: str
) -> dict[Context, NDArray]:
    """Attach zero gradients to a parameter's arrays, and return them by device.

    Args:
        data: The arrays, by device.
        dtype: Element type of the gradients.
        stype: Their storage type.
        grad_req: ``"write"`` or ``"add"``.
    """
    made = {ctx: gluon_array(zeros(x.shape, ctx, dtype, stype)) for ctx, x in data.items()}
    mark_variables(list(data.values()), list(made.values()), grad_req)
    return made


def zero_arrays(arrays: Iterable[NDArray]) -> None:
    """Set arrays to zero in place: all dense ones of a device by one operator."""
    dense: dict[Context, list[NDArray]] = {}
    for x in arrays:
        if x.stype == "default":
            dense.setdefault(x.context, []).append(x)
        else:
            zeros(x.shape, x.context, x.dtype, x.stype).copyto(x)
    for same in dense.values():
        reset_arrays(*same, num_arrays=len(same))
