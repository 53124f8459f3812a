"""SequenceMask, SequenceLast and SequenceReverse: padded sequences of different lengths."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer, number, shape
from gluonish.core.spec import PartialSpec, Shape, Spec
from gluonish.ops.facts import ShapeFacts
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.support.dtype_rules import dtype_rule
from gluonish.ops.support.precision import check_number, in_dtype


def _active(attrs: Attrs) -> tuple[str, ...]:
    return ("data", "sequence_length") if attrs["use_sequence_length"] else ("data",)


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    _complete_data(inputs, outputs, attrs)
    if len(inputs) > 1 and inputs[1].dtype is None:
        inputs[1] = PartialSpec(inputs[1].shape, inputs[0].dtype)


_complete_data = dtype_rule(0)


def _check(name: str, data: Spec, length: Spec | None, axis: int) -> None:
    if axis not in (0, 1) or len(data.shape) < 2:
        raise OperatorError(
            f"{name}: expected axis 0 or 1 and data of at least 2 axes, got {axis} and {data.shape}"
        )
    if length is not None and length.shape != (data.shape[1 - axis],):
        raise OperatorError(
            f"{name}: expected sequence_length ({data.shape[1 - axis]},), got {length.shape}"
        )


def _steps(xp: ModuleType, rank: int, extent: int, axis: int) -> Any:
    """Return the indices of the time steps, along the time axis of an array of ``rank`` axes."""
    return xp.arange(extent).reshape([extent if i == axis else 1 for i in range(rank)])


def _lengths(xp: ModuleType, rank: int, length: Any, axis: int) -> Any:
    """Return integer lengths along the batch axis of an array of ``rank`` axes."""
    whole = length.astype(xp.int64)
    return whole.reshape([whole.size if i == 1 - axis else 1 for i in range(rank)])


def _adjoint(op: Operator, g: V, length: V | None, **attrs: Any) -> tuple[Any, ...]:
    """Return the gradients of a rule: ``op`` applied to ``g``, and None for the lengths."""
    if length is None:
        return (apply(op, (g,), {"use_sequence_length": False, **attrs}),)
    return apply(op, (g, length), {"use_sequence_length": True, **attrs}), None


def _mask_infer(
    data: Spec,
    length: Spec | None = None,
    *,
    use_sequence_length: bool,
    value: float,
    axis: int,
) -> tuple[Spec]:
    _check("SequenceMask", data, length, axis)
    check_number("SequenceMask", data.dtype, value)
    return (data,)


def _mask_kernel(
    xp: ModuleType,
    out: Any,
    data: Any,
    length: Any = None,
    *,
    use_sequence_length: bool,
    value: float,
    axis: int,
) -> None:
    if length is None:
        out[...] = data
        return
    inside = _steps(xp, data.ndim, data.shape[axis], axis) < _lengths(xp, data.ndim, length, axis)
    out[...] = xp.where(inside, data, in_dtype(data.dtype, value))


def _mask_gradient(
    g: V,
    data: V,
    length: V | None = None,
    *,
    use_sequence_length: bool,
    value: float,
    axis: int,
) -> tuple[Any, ...]:
    return (g,) if length is None else _adjoint(SEQUENCE_MASK, g, length, value=0.0, axis=axis)


SEQUENCE_MASK = register(
    Operator(
        "SequenceMask",
        _mask_infer,
        _mask_kernel,
        _mask_gradient,
        doc=(
            "data with everything after the end of each sequence set to value.\n\n"
            "Time is axis (0 or 1), and the batch the other of the two. Without\n"
            "use_sequence_length data is returned as it is.\n\n"
            "Shapes: data (T, N, ...), or (N, T, ...) with axis 1, sequence_length (N,), output\n"
            "that of data."
        ),
        inputs=("data", "sequence_length"),
        active_inputs=_active,
        schema=Schema(use_sequence_length=boolean(False), value=number(0.0), axis=integer(0)),
        aliases=("_npx_sequence_mask",),
        shapes=ShapeFacts(complete=_complete),
    )
)


def _last_infer(
    data: Spec, length: Spec | None = None, *, use_sequence_length: bool, axis: int
) -> tuple[Spec]:
    _check("SequenceLast", data, length, axis)
    if data.shape[axis] == 0:
        raise OperatorError(f"SequenceLast: expected at least one time step, got {data.shape}")
    return (Spec((data.shape[1 - axis], *data.shape[2:]), data.dtype),)


def _last_points(xp: ModuleType, whole: Shape, length: Any, axis: int) -> tuple[Any, ...]:
    """Return the index of every sequence's last step."""
    if length is None:
        last = xp.full(whole[1 - axis], whole[axis] - 1)
    else:
        last = xp.clip(length.astype(xp.int64) - 1, 0, whole[axis] - 1)
    batch = xp.arange(whole[1 - axis])
    return (last, batch) if axis == 0 else (batch, last)


def _last_kernel(
    xp: ModuleType,
    out: Any,
    data: Any,
    length: Any = None,
    *,
    use_sequence_length: bool,
    axis: int,
) -> None:
    out[...] = data[_last_points(xp, data.shape, length, axis)]


def _last_gradient(
    g: V, data: V, length: V | None = None, *, use_sequence_length: bool, axis: int
) -> tuple[Any, ...]:
    return _adjoint(_PUT_LAST, g, length, shape=data.shape, axis=axis)


SEQUENCE_LAST = register(
    Operator(
        "SequenceLast",
        _last_infer,
        _last_kernel,
        _last_gradient,
        doc=(
            "The last step of every sequence.\n\n"
            "Time is axis (0 or 1), and the batch the other of the two. Without\n"
            "use_sequence_length it is the last step of data.\n\n"
            "Shapes: data (T, N, ...), or (N, T, ...) with axis 1, sequence_length (N,), output\n"
            "(N, ...)."
        ),
        inputs=("data", "sequence_length"),
        active_inputs=_active,
        schema=Schema(use_sequence_length=boolean(False), axis=integer(0)),
        shapes=ShapeFacts(complete=_complete),
    )
)


def _put_infer(
    data: Spec,
    length: Spec | None = None,
    *,
    shape: Shape,
    use_sequence_length: bool,
    axis: int,
) -> tuple[Spec]:
    return (Spec(shape, data.dtype),)


def _put_kernel(
    xp: ModuleType,
    out: Any,
    data: Any,
    length: Any = None,
    *,
    shape: Shape,
    use_sequence_length: bool,
    axis: int,
) -> None:
    out.fill(0)
    out[_last_points(xp, shape, length, axis)] = data


def _put_gradient(
    g: V,
    data: V,
    length: V | None = None,
    *,
    shape: Shape,
    use_sequence_length: bool,
    axis: int,
) -> tuple[Any, ...]:
    return _adjoint(SEQUENCE_LAST, g, length, axis=axis)


_PUT_LAST = register(
    Operator(
        "_sequence_put_last",
        _put_infer,
        _put_kernel,
        _put_gradient,
        doc="Zeros of a shape, with data at the last step of every sequence.",
        inputs=("data", "sequence_length"),
        active_inputs=_active,
        schema=Schema(shape=shape(), use_sequence_length=boolean(False), axis=integer(0)),
    )
)


def _reverse_infer(
    data: Spec, length: Spec | None = None, *, use_sequence_length: bool, axis: int
) -> tuple[Spec]:
    _check("SequenceReverse", data, length, axis)
    if axis != 0:
        raise OperatorError(f"SequenceReverse: expected axis 0, got {axis}")
    return (data,)


def reversed_steps(xp: ModuleType, length: Any, extent: int) -> Any:
    """Return the source step of each step of reversed sequences: (time, batch)."""
    steps = xp.arange(extent)[:, None]
    # A length beyond the number of steps means all steps.
    whole = xp.minimum(length.astype(xp.int64), extent)
    return xp.where(steps < whole, whole - 1 - steps, steps)


def _reverse_kernel(
    xp: ModuleType,
    out: Any,
    data: Any,
    length: Any = None,
    *,
    use_sequence_length: bool,
    axis: int,
) -> None:
    if length is None:
        out[...] = xp.flip(data, 0)
        return
    out[...] = data[reversed_steps(xp, length, data.shape[0]), xp.arange(data.shape[1])]


def _reverse_gradient(
    g: V, data: V, length: V | None = None, *, use_sequence_length: bool, axis: int
) -> tuple[Any, ...]:
    return _adjoint(SEQUENCE_REVERSE, g, length, axis=axis)


SEQUENCE_REVERSE = register(
    Operator(
        "SequenceReverse",
        _reverse_infer,
        _reverse_kernel,
        _reverse_gradient,
        doc=(
            "Every sequence reversed; the steps after its end are unchanged.\n\n"
            "Without use_sequence_length every sequence is as long as data.\n\n"
            "Shapes: data (T, N, ...), sequence_length (N,), output that of data."
        ),
        inputs=("data", "sequence_length"),
        active_inputs=_active,
        schema=Schema(use_sequence_length=boolean(False), axis=integer(0)),
        shapes=ShapeFacts(complete=_complete),
    )
)
