"""Pad: pad an array with a constant, its edge or its reflection."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, choice, number, shape
from gluonish.core.spec import Shape, Spec, checked_spec
from gluonish.ops.facts import Execution
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.precision import check_number, in_dtype, widen

_MODE = choice("constant", "edge", "reflect")


def _check(shape: Shape, mode: str, pad_width: Shape) -> None:
    if len(pad_width) != 2 * len(shape) or min(pad_width, default=0) < 0:
        raise OperatorError(
            f"Pad: expected pad_width with two counts an axis of data {shape}, got {pad_width}"
        )
    for i, extent in enumerate(shape):
        widest = max(pad_width[2 * i], pad_width[2 * i + 1])
        if mode == "reflect" and widest and widest >= extent:
            raise OperatorError(
                f"Pad: expected less than {extent} reflected elements along axis {i}, got {widest}"
            )
        if mode == "edge" and widest and not extent:
            raise OperatorError(f"Pad: expected a nonempty axis {i} in mode edge, got data {shape}")


def _infer(data: Spec, *, mode: str, pad_width: Shape, constant_value: float) -> tuple[Spec]:
    _check(data.shape, mode, pad_width)
    if mode == "constant":
        check_number("Pad", data.dtype, constant_value)
    shape = (n + pad_width[2 * i] + pad_width[2 * i + 1] for i, n in enumerate(data.shape))
    return (checked_spec("Pad", tuple(shape), data.dtype),)


def _along(axis: int, begin: int | None, end: int | None, step: int = 1) -> tuple[slice, ...]:
    return (*(slice(None),) * axis, slice(begin, end, step))


def _margins(axis: int, mode: str, before: int, after: int, extent: int) -> list[tuple[Any, Any]]:
    """Return (margin, source) pairs of regions along one axis of the padded array.

    An edge source has size 1 and broadcasts to its margin.
    """
    last = before + extent
    if mode == "edge":
        first, final = _along(axis, before, before + 1), _along(axis, last - 1, last)
    else:
        first = _along(axis, before + before, before, -1)
        final = _along(axis, last - 2, last - 2 - after if last - 2 - after >= 0 else None, -1)
    pairs = [(_along(axis, 0, before), first)] if before else []
    return pairs + ([(_along(axis, last, last + after), final)] if after else [])


def _inner(shape: Shape, pad_width: Shape) -> tuple[slice, ...]:
    return tuple(slice(pad_width[2 * i], pad_width[2 * i] + n) for i, n in enumerate(shape))


def _kernel(
    xp: ModuleType, out: Any, data: Any, *, mode: str, pad_width: Shape, constant_value: float
) -> None:
    if mode == "constant":
        out.fill(in_dtype(out.dtype, constant_value))
    out[_inner(data.shape, pad_width)] = data
    if mode == "constant":
        return
    # Axis by axis over the full padded array, so that corners are copied from earlier margins.
    for axis, extent in enumerate(data.shape):
        before, after = pad_width[2 * axis], pad_width[2 * axis + 1]
        for margin, source in _margins(axis, mode, before, after, extent):
            out[margin] = out[source]


def _gradient(g: V, data: V, *, mode: str, pad_width: Shape, constant_value: float) -> tuple[Any]:
    attrs = {"shape": data.shape, "mode": mode, "pad_width": pad_width}
    return (apply(_UNPAD, (g,), attrs),)


PAD = register(
    Operator(
        "Pad",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Pad data.\n\n"
            "pad_width holds the number of elements before and after, for each axis in order.\n"
            "The padding is constant_value, the nearest element (edge), or the reflection of\n"
            "data without its edge (reflect). MXNet supports 4 and 5 axes, with no padding on\n"
            "the first two; here any axis of any number of axes can be padded.\n\n"
            "Shapes: data any, output data's size plus before and after along each axis."
        ),
        schema=Schema(mode=_MODE, pad_width=shape(), constant_value=number(0.0)),
        aliases=("pad",),
        execution=Execution(copies_only=True),
    )
)


def _unpad_infer(data: Spec, *, shape: Shape, mode: str, pad_width: Shape) -> tuple[Spec]:
    return (Spec(shape, data.dtype),)


def _unpad_kernel(
    xp: ModuleType, out: Any, data: Any, *, shape: Shape, mode: str, pad_width: Shape
) -> None:
    inner = _inner(shape, pad_width)
    if mode == "constant":
        out[...] = data[inner]
        return
    total = widen(data).copy()
    for axis in reversed(range(len(shape))):
        before, after = pad_width[2 * axis], pad_width[2 * axis + 1]
        for margin, source in _margins(axis, mode, before, after, shape[axis]):
            values = total[margin]
            total[source] += values.sum(axis=axis, keepdims=True) if mode == "edge" else values
    out[...] = total[inner].astype(out.dtype)


def _unpad_gradient(g: V, data: V, *, shape: Shape, mode: str, pad_width: Shape) -> tuple[Any]:
    attrs = {"mode": mode, "pad_width": pad_width, "constant_value": 0.0}
    return (apply(PAD, (g,), attrs),)


_UNPAD = register(
    Operator(
        "_unpad",
        _unpad_infer,
        _unpad_kernel,
        _unpad_gradient,
        doc=("Crop the padding of an array, and add it to the elements that Pad copied it from."),
        schema=Schema(shape=shape(), mode=_MODE, pad_width=shape()),
        execution=Execution(copies_only=True),
    )
)
