"""slice, slice_axis, slice_like, and assignment to a region of an array."""

import ast
from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Attribute, Schema, integer, number, optional, shape
from gluonish.core.spec import UNKNOWN, Shape, Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.support.dtype_rules import dtype_rule
from gluonish.ops.support.precision import check_number, in_dtype
from gluonish.ops.support.shape_rules import Shapes, merge_shape, normalize_axes, normalize_axis

Ends = tuple[int | None, ...]

_INT = optional(integer())


def _parse_ends(value: object) -> Ends:
    if isinstance(value, str):
        value = ast.literal_eval(value.strip().replace("L", ""))
    entries = value if isinstance(value, tuple | list) else (value,)
    return tuple(_INT.parse(entry) for entry in entries)


def _parse_steps(value: object) -> Ends:
    """Parse the attribute ``step``; None means the default step for all axes."""
    return () if value is None or value == "None" else _parse_ends(value)


_ENDS = Attribute(_parse_ends, "a tuple of ints and None")
_STEPS = Attribute(_parse_steps, "a tuple of ints and None", ())
_REGION = {"begin": _ENDS, "end": _ENDS, "step": _STEPS}


def _region(name: str, shape: Shape, begin: Ends, end: Ends, step: Ends) -> tuple[slice, ...]:
    """Return the slices of a region, one for each of the leading axes."""
    if not step or (step == (None,) and not begin):  # NumPy's None for all axes
        step = (None,) * len(begin)
    if not len(begin) == len(end) == len(step) or len(begin) > len(shape):
        raise OperatorError(
            f"{name}: expected begin, end and step of equal length up to {len(shape)}, "
            f"got {begin}, {end} and {step}"
        )
    if 0 in step:
        raise OperatorError(f"{name}: expected a step other than 0, got {step}")
    return tuple(slice(b, e, s) for b, e, s in zip(begin, end, step, strict=True))


def _region_shape(shape: Shape, region: tuple[slice, ...]) -> Shape:
    selected = [len(range(*ends.indices(n))) for ends, n in zip(region, shape, strict=False)]
    return (*selected, *shape[len(region) :])


def _infer(data: Spec, *, begin: Ends, end: Ends, step: Ends) -> tuple[Spec]:
    region = _region("slice", data.shape, begin, end, step)
    return (Spec(_region_shape(data.shape, region), data.dtype),)


def _kernel(xp: ModuleType, out: Any, data: Any, *, begin: Ends, end: Ends, step: Ends) -> None:
    out[...] = data[_region("slice", data.shape, begin, end, step)]


def _gradient(g: V, data: V, *, begin: Ends, end: Ends, step: Ends) -> tuple[Any]:
    return (_slice_put(g, data.shape, begin, end, step),)


SLICE = register(
    Operator(
        "slice",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Slice data from begin up to end in steps of step, as Python slices.\n\n"
            "None means the first or last element in the direction of the step; the remaining\n"
            "axes are not sliced.\n\n"
            "Shapes: data any, output the shape of the region, with the same number of axes."
        ),
        schema=Schema(**_REGION),
        aliases=("crop", "_npi_slice", "_npx_slice", "_sparse_slice"),
        execution=Execution(copies_only=True),
    )
)


def slice_(x: Any, begin: Ends, end: Ends, step: Ends = ()) -> Any:
    """Slice ``x`` from ``begin`` up to ``end``; None means the end of an axis."""
    return apply(SLICE, (x,), {"begin": begin, "end": end, "step": step})


def _put_infer(data: Spec, *, shape: Shape, begin: Ends, end: Ends, step: Ends) -> tuple[Spec]:
    return (Spec(shape, data.dtype),)


def _put_kernel(
    xp: ModuleType, out: Any, data: Any, *, shape: Shape, begin: Ends, end: Ends, step: Ends
) -> None:
    out.fill(0)
    out[_region("slice", shape, begin, end, step)] = data


def _put_gradient(g: V, data: V, *, shape: Shape, begin: Ends, end: Ends, step: Ends) -> tuple[Any]:
    return (slice_(g, begin, end, step),)


_SLICE_PUT = register(
    Operator(
        "_slice_put",
        _put_infer,
        _put_kernel,
        _put_gradient,
        doc="Write data to a region of zeros.",
        schema=Schema(shape=shape(), **_REGION),
        execution=Execution(copies_only=True),
    )
)


def _slice_put(x: Any, shape: Shape, begin: Ends, end: Ends, step: Ends) -> Any:
    return apply(_SLICE_PUT, (x,), {"shape": shape, "begin": begin, "end": end, "step": step})


def _axis_bounds(extent: int, begin: int, end: int | None) -> tuple[int, int]:
    """Return nonnegative begin and end."""
    first = begin + extent * (begin < 0)
    last = extent if end is None else end + extent * (end < 0)
    if not 0 <= first <= last <= extent:
        raise OperatorError(
            f"slice_axis: expected begin <= end within {extent} elements, got {begin} and {end}"
        )
    return first, last


def _axis_infer(data: Spec, *, axis: int, begin: int, end: int | None) -> tuple[Spec]:
    axis = normalize_axis("slice_axis", axis, len(data.shape))
    first, last = _axis_bounds(data.shape[axis], begin, end)
    return (Spec((*data.shape[:axis], last - first, *data.shape[axis + 1 :]), data.dtype),)


def _axis_region(shape: Shape, axis: int, begin: int, end: int | None) -> tuple[Ends, Ends]:
    axis %= len(shape)
    first, last = _axis_bounds(shape[axis], begin, end)
    return (*(None,) * axis, first), (*(None,) * axis, last)


def _axis_kernel(
    xp: ModuleType, out: Any, data: Any, *, axis: int, begin: int, end: int | None
) -> None:
    out[...] = data[
        _region("slice_axis", data.shape, *_axis_region(data.shape, axis, begin, end), ())
    ]


def _axis_gradient(g: V, data: V, *, axis: int, begin: int, end: int | None) -> tuple[Any]:
    return (_slice_put(g, data.shape, *_axis_region(data.shape, axis, begin, end), ()),)


def _axis_shapes(inputs: Shapes, outputs: Shapes, attrs: Attrs) -> None:
    """Infer extents both ways; the sliced axis of the output, if that of data is known."""
    shape = inputs[0] or outputs[0]
    if shape is None:
        return
    axis = attrs["axis"] + len(shape) * (attrs["axis"] < 0)
    if not 0 <= axis < len(shape):
        return
    if outputs[0] is not None:
        whole = tuple(UNKNOWN if i == axis else n for i, n in enumerate(outputs[0]))
        merge_shape(inputs, 0, whole)
        shape = inputs[0] or whole
    length = UNKNOWN
    if shape[axis] != UNKNOWN:
        length = len(range(*slice(attrs["begin"], attrs["end"]).indices(shape[axis])))
    merge_shape(outputs, 0, (*shape[:axis], length, *shape[axis + 1 :]))


SLICE_AXIS = register(
    Operator(
        "slice_axis",
        _axis_infer,
        _axis_kernel,
        _axis_gradient,
        doc=(
            "Slice data from begin up to end along axis; negative positions count from the end,\n"
            "and an end of None is the end of the axis.\n\n"
            "Shapes: data any, output the same with size end - begin along axis."
        ),
        # end is required, but may be None.
        schema=Schema(axis=integer(), begin=integer(), end=Attribute(_INT.parse, _INT.expected)),
        shapes=ShapeFacts(rule=_axis_shapes),
    )
)


def slice_axis(x: Any, axis: int, begin: int, end: int | None) -> Any:
    """Slice ``x`` from ``begin`` up to ``end`` along ``axis``."""
    return apply(SLICE_AXIS, (x,), {"axis": axis, "begin": begin, "end": end})


def _like_ends(data: Shape, like: Shape, axes: Shape) -> Ends:
    """Return the end of each axis of data: the extents of ``like`` along ``axes``, else None."""
    named = normalize_axes("slice_like", axes, len(data)) if axes else range(len(data))
    if any(i >= len(like) for i in named) or (not axes and len(data) != len(like)):
        raise OperatorError(
            f"slice_like: expected shape_like with the sliced axes of data {data}, got {like}"
        )
    ends = tuple(like[i] if i in named else None for i in range(len(data)))
    if any(end is not None and end > extent for end, extent in zip(ends, data, strict=True)):
        raise OperatorError(f"slice_like: expected shape_like within data {data}, got {like}")
    return ends


def _like_infer(data: Spec, shape_like: Spec, *, axes: Shape) -> tuple[Spec]:
    ends = _like_ends(data.shape, shape_like.shape, axes)
    shape = (n if end is None else end for end, n in zip(ends, data.shape, strict=True))
    return (Spec(tuple(shape), data.dtype),)


def _like_kernel(xp: ModuleType, out: Any, data: Any, shape_like: Any, *, axes: Shape) -> None:
    out[...] = data[tuple(slice(n) for n in out.shape)]


def _like_gradient(g: V, data: V, shape_like: V, *, axes: Shape) -> tuple[Any, None]:
    ends = _like_ends(data.shape, shape_like.shape, axes)
    return _slice_put(g, data.shape, (None,) * len(ends), ends, ()), None


def _like_shapes(inputs: Shapes, outputs: Shapes, attrs: Attrs) -> None:
    data, like = inputs
    if data is None or like is None:
        return
    axes = {axis % len(data) for axis in attrs["axes"]} or set(range(min(len(data), len(like))))
    if all(axis < len(like) for axis in axes):
        extents = (like[i] if i in axes else n for i, n in enumerate(data))
        merge_shape(outputs, 0, tuple(extents))


SLICE_LIKE = register(
    Operator(
        "slice_like",
        _like_infer,
        _like_kernel,
        _like_gradient,
        doc=(
            "Slice the first elements of data along axes (all by default), to the sizes of\n"
            "shape_like.\n\n"
            "Shapes: data any, output the same with shape_like's sizes along axes."
        ),
        inputs=("data", "shape_like"),
        schema=Schema(axes=shape(())),
        shapes=ShapeFacts(complete=dtype_rule(0), rule=_like_shapes),
        execution=Execution(copies_only=True),
    )
)


def _assign_infer(lhs: Spec, rhs: Spec, *, begin: Ends, end: Ends, step: Ends) -> tuple[Spec]:
    region = _region("_slice_assign", lhs.shape, begin, end, step)
    expected = _region_shape(lhs.shape, region)
    if rhs.shape != expected:
        raise OperatorError(f"_slice_assign: expected rhs of shape {expected}, got {rhs.shape}")
    if rhs.dtype != lhs.dtype:
        raise OperatorError(
            f"_slice_assign: expected rhs of dtype {lhs.dtype.name}, got {rhs.dtype.name}"
        )
    return (lhs,)


def _assign_kernel(
    xp: ModuleType, out: Any, lhs: Any, rhs: Any, *, begin: Ends, end: Ends, step: Ends
) -> None:
    out[...] = lhs
    out[_region("_slice_assign", lhs.shape, begin, end, step)] = rhs


def _assign_gradient(
    g: V, lhs: V, rhs: V, *, begin: Ends, end: Ends, step: Ends
) -> tuple[Any, Any]:
    attrs = {"begin": begin, "end": end, "step": step}
    return (
        lambda: apply(SLICE_ASSIGN_SCALAR, (g,), {"scalar": 0.0, **attrs}),
        lambda: apply(SLICE, (g,), attrs),
    )


SLICE_ASSIGN = register(
    Operator(
        "_slice_assign",
        _assign_infer,
        _assign_kernel,
        _assign_gradient,
        doc=(
            "Replace a region of lhs by rhs.\n\n"
            "Shapes: lhs any, rhs the shape of the region, output that of lhs."
        ),
        inputs=("lhs", "rhs"),
        schema=Schema(**_REGION),
        aliases=("_crop_assign", "_npi_slice_assign"),
        execution=Execution(copies_only=True),
    )
)


def _scalar_infer(data: Spec, *, scalar: float, begin: Ends, end: Ends, step: Ends) -> tuple[Spec]:
    _region("_slice_assign_scalar", data.shape, begin, end, step)
    check_number("_slice_assign_scalar", data.dtype, scalar)
    return (data,)


def _scalar_kernel(
    xp: ModuleType, out: Any, data: Any, *, scalar: float, begin: Ends, end: Ends, step: Ends
) -> None:
    out[...] = data
    region = _region("_slice_assign_scalar", data.shape, begin, end, step)
    out[region] = in_dtype(out.dtype, scalar)


def _scalar_gradient(
    g: V, data: V, *, scalar: float, begin: Ends, end: Ends, step: Ends
) -> tuple[Any]:
    attrs = {"scalar": 0.0, "begin": begin, "end": end, "step": step}
    return (apply(SLICE_ASSIGN_SCALAR, (g,), attrs),)


SLICE_ASSIGN_SCALAR = register(
    Operator(
        "_slice_assign_scalar",
        _scalar_infer,
        _scalar_kernel,
        _scalar_gradient,
        doc="Set a region of data to a number.\n\nShapes: data any, output the same.",
        schema=Schema(scalar=number(0.0), **_REGION),
        aliases=("_crop_assign_scalar", "_npi_slice_assign_scalar"),
        execution=Execution(copies_only=True),
    )
)
