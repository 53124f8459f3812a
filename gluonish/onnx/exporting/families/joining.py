"""Joining and splitting of arrays."""

from collections.abc import Callable
from typing import Any

from gluonish.onnx.exporting.call import Call
from gluonish.onnx.exporting.steps import (
    axis_of,
    concat,
    reshaped,
    split,
    squeezed,
    to_shape,
    unsqueezed,
)
from gluonish.onnx.exporting.tensors import OpenExtent, Tensor


def _concat(call: Call) -> Tensor:
    axis = call["dim"]
    if call.op == "_npi_concatenate" and axis is None:
        axis = call["axis"]
    chunks = [x.to(call.out.dtype) for x in call.inputs]
    if axis is None:
        chunks, axis = [reshaped(x, [-1]) for x in chunks], 0
    return concat(chunks, axis)


def _stack(call: Call) -> Tensor:
    axis = axis_of(call["axis"], call.out.rank)
    return concat([unsqueezed(x.to(call.out.dtype), axis) for x in call.inputs], axis)


def _joined(axis: int, rank: int) -> Callable[[Call], Tensor]:
    """Return a translator of vstack, hstack or dstack, which joins arrays of at least ``rank``."""

    def translate(call: Call) -> Tensor:
        chunks = []
        for x in call.inputs:
            shape = x.known_shape
            if rank == 3 and len(shape) < 3:
                shape = (*((1,) * (2 - len(shape))), *shape, 1)
            elif len(shape) < rank:
                shape = (*((1,) * (rank - len(shape))), *shape)
            chunks.append(to_shape(x.to(call.out.dtype), x.known_shape, shape))
        along = 0 if axis == 1 and call.out.rank == 1 else axis
        return concat(chunks, along)

    return translate


def _column_stack(call: Call) -> Tensor:
    chunks = [
        to_shape(x, x.known_shape, (*x.known_shape, 1) if x.rank == 1 else x.known_shape)
        if x.rank
        else reshaped(x, [1, 1])
        for x in (y.to(call.out.dtype) for y in call.inputs)
        for x in [x]
    ]
    return concat(chunks, 1)


def _split(call: Call) -> list[Tensor]:
    axis = axis_of(call["axis"], call.x.rank)
    return _parts(call, axis, bool(call.attrs.get("squeeze_axis")))


def _parts(call: Call, axis: int, squeeze: bool) -> list[Tensor]:
    sizes = [1 if squeeze else out.shape[axis] for out in call.outputs]
    if any(isinstance(size, OpenExtent) for size in sizes):
        raise TypeError(f"an axis {axis} of known size to split")
    chunks = split(call.x, sizes, axis)  # type: ignore[arg-type]  # numbers, checked above
    return [squeezed(chunk, axis) for chunk in chunks] if squeeze else chunks


def _axis_split(axis: int) -> Callable[[Call], list[Tensor]]:
    return lambda call: _parts(
        call, axis if call.x.rank > 1 else 0, bool(call.attrs.get("squeeze_axis"))
    )


TABLE: dict[str, Any] = {
    **dict.fromkeys(("Concat", "_rnn_param_concat", "_npi_concatenate"), _concat),
    **dict.fromkeys(("stack", "_npi_stack"), _stack),
    "_npi_vstack": _joined(0, 2),
    "_npi_hstack": _joined(1, 1),
    "_npi_dstack": _joined(2, 3),
    "_npi_column_stack": _column_stack,
    **dict.fromkeys(("_split_v2", "SliceChannel"), _split),
    "_npi_hsplit": _axis_split(1),
    "_npi_dsplit": _axis_split(2),
}
