"""insert: insert elements into an array, before an index, a slice or several indices.

Indices refer to the original array. Several insertions before one index keep their order.
"""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, NamedTuple

from gluonish.core.dtype import INT64, is_floating
from gluonish.core.errors import OperatorError, OperatorIndexError
from gluonish.core.schema import Schema, integer, number, optional
from gluonish.core.spec import Shape, Spec
from gluonish.ops.elementwise.cast import convert
from gluonish.ops.numpy.rearrangement import moved_gradient
from gluonish.ops.registry import Attrs, Operator, register
from gluonish.ops.support.broadcasting import broadcast_shapes
from gluonish.ops.support.precision import check_number, in_dtype
from gluonish.ops.support.shape_rules import normalize_axis

_SCHEMA = Schema(
    val=optional(number()),
    start=optional(integer()),
    stop=optional(integer()),
    step=optional(integer()),
    int_ind=optional(integer()),
    axis=optional(integer()),
)


class _Layout(NamedTuple):
    """Shapes of an insertion: the array's, and the values' before broadcasting; and its axis."""

    shape: Shape
    axis: int
    values: Shape
    values_lead: bool  # the values' first axis is the one they are inserted along
    added: int


def _layout(
    name: str, shape: Shape, values: Shape, axis: int | None, slots: int, *, is_scalar: bool
) -> _Layout:
    """Return the layout of an insertion.

    Args:
        values: Shape of the values, () for a number.
        axis: The attribute; None flattens the array.
        slots: Number of indices to insert before.
        is_scalar: Whether the index is a number.
    """
    if axis is None:
        size = 1
        for extent in shape:
            size *= extent
        shape, axis = (size,), 0
    axis = normalize_axis(name, axis, len(shape))
    values = (1,) * (len(shape) - len(values)) + values
    if len(values) != len(shape):
        raise OperatorError(f"{name}: expected values of at most {len(shape)} axes, got {values}")
    values_lead = is_scalar and slots == 1
    turned = (*values[1 : axis + 1], values[0], *values[axis + 1 :]) if values_lead else values
    count = turned[axis] if slots == 1 else slots
    target = (*shape[:axis], count, *shape[axis + 1 :])
    if broadcast_shapes(name, turned, target) != target:
        raise OperatorError(f"{name}: expected values that broadcast to {target}, got {turned}")
    return _Layout(shape, axis, values, values_lead, count)


def _result(layout: _Layout) -> Shape:
    shape, axis = layout.shape, layout.axis
    return (*shape[:axis], shape[axis] + layout.added, *shape[axis + 1 :])


def _fill(xp: ModuleType, out: Any, arr: Any, values: Any, layout: _Layout, before: Any) -> None:
    """Fill ``out`` from an array and the values inserted before indices ``before``."""
    order = xp.argsort(before, kind="stable")
    slots = xp.empty(before.shape, INT64)
    slots[order] = before[order] + xp.arange(before.shape[0])
    remaining = xp.ones((out.shape[layout.axis],), bool)
    remaining[slots] = False
    target = xp.moveaxis(out, layout.axis, 0)
    target[remaining] = xp.moveaxis(arr.reshape(layout.shape), layout.axis, 0)
    block = values.reshape(layout.values)
    block = xp.moveaxis(block, 0, layout.axis) if layout.values_lead else block
    wanted = (*layout.shape[: layout.axis], layout.added, *layout.shape[layout.axis + 1 :])
    target[slots] = xp.moveaxis(xp.broadcast_to(block, wanted), layout.axis, 0)


def _as_values(xp: ModuleType, dtype: Any, given: Sequence[Any], val: float | None) -> Any:
    """Return the values in the array's dtype."""
    if val is not None:
        return xp.full((), in_dtype(dtype, val), dtype)
    made = xp.empty(given[0].shape, dtype)
    convert(made, given[0])
    return made


def _value_shape(name: str, dtype: Any, given: Sequence[Spec], val: float | None) -> Shape:
    if val is None:
        return given[0].shape
    check_number(name, dtype, val)
    return ()


def _position(name: str, index: int, extent: int) -> int:
    if not -extent <= index <= extent:
        raise OperatorIndexError(
            f"{name}: expected positions in [{-extent}, {extent}], got {index}"
        )
    return index + extent if index < 0 else index


def _scalar_layout(
    shape: Shape, values: Shape, int_ind: int | None, axis: int | None
) -> tuple[_Layout, int]:
    name = "_npi_insert_scalar"
    if int_ind is None:
        raise OperatorError(f"{name}: expected int_ind, the position to insert before, got None")
    layout = _layout(name, shape, values, axis, 1, is_scalar=True)
    return layout, _position(name, int_ind, layout.shape[layout.axis])


def _scalar_infer(
    arr: Spec, *values: Spec, val: float | None, int_ind: int | None, axis: int | None, **_: Any
) -> tuple[Spec]:
    given = _value_shape("_npi_insert_scalar", arr.dtype, values, val)
    layout, _position = _scalar_layout(arr.shape, given, int_ind, axis)
    return (Spec(_result(layout), arr.dtype),)


def _scalar_kernel(
    xp: ModuleType,
    out: Any,
    arr: Any,
    *values: Any,
    val: float | None,
    int_ind: int | None,
    axis: int | None,
    **_: Any,
) -> None:
    given = _as_values(xp, out.dtype, values, val)
    layout, position = _scalar_layout(arr.shape, given.shape, int_ind, axis)
    _fill(xp, out, arr, given, layout, xp.full((layout.added,), position, INT64))


def _slice_layout(
    shape: Shape, values: Shape, axis: int | None, bounds: tuple[int | None, ...]
) -> tuple[_Layout, range]:
    name = "_npi_insert_slice"
    if bounds[2] == 0:
        raise OperatorError(f"{name}: expected a step other than 0, got 0")
    extent = _layout(name, shape, (), axis, 1, is_scalar=True)
    slots = range(*slice(*bounds).indices(extent.shape[extent.axis]))
    return _layout(name, shape, values, axis, len(slots), is_scalar=False), slots


def _slice_infer(
    arr: Spec,
    *values: Spec,
    val: float | None,
    start: int | None,
    stop: int | None,
    step: int | None,
    int_ind: int | None,
    axis: int | None,
) -> tuple[Spec]:
    given = _value_shape("_npi_insert_slice", arr.dtype, values, val)
    layout, _slots = _slice_layout(arr.shape, given, axis, (start, stop, step))
    return (Spec(_result(layout), arr.dtype),)


def _slice_kernel(
    xp: ModuleType,
    out: Any,
    arr: Any,
    *values: Any,
    val: float | None,
    start: int | None,
    stop: int | None,
    step: int | None,
    int_ind: int | None,
    axis: int | None,
) -> None:
    given = _as_values(xp, out.dtype, values, val)
    layout, slots = _slice_layout(arr.shape, given.shape, axis, (start, stop, step))
    if len(slots) > 1:
        before = xp.arange(slots.start, slots.stop, slots.step, dtype=INT64)
    else:
        before = xp.full((layout.added,), slots.start, INT64)
    _fill(xp, out, arr, given, layout, before)


def _tensor_layout(shape: Shape, values: Shape, obj: Shape, axis: int | None) -> _Layout:
    name = "_npi_insert_tensor"
    if len(obj) > 1:
        raise OperatorError(f"{name}: expected obj of at most one axis, got {obj}")
    return _layout(name, shape, values, axis, obj[0] if obj else 1, is_scalar=not obj)


def _tensor_infer(
    arr: Spec, *others: Spec, val: float | None, axis: int | None, **_: Any
) -> tuple[Spec]:
    *values, obj = others
    if is_floating(obj.dtype) or obj.dtype.kind == "b":
        raise OperatorError(
            f"_npi_insert_tensor: expected obj of integers, got {obj.dtype.name}; cast it"
        )
    layout = _tensor_layout(
        arr.shape, _value_shape("_npi_insert_tensor", arr.dtype, values, val), obj.shape, axis
    )
    return (Spec(_result(layout), arr.dtype),)


def _tensor_kernel(
    xp: ModuleType,
    out: Any,
    arr: Any,
    *others: Any,
    val: float | None,
    axis: int | None,
    **_: Any,
) -> None:
    *values, obj = others
    given = _as_values(xp, out.dtype, values, val)
    layout = _tensor_layout(arr.shape, given.shape, obj.shape, axis)
    before = obj.astype(INT64).reshape(-1)
    extent = layout.shape[layout.axis]
    if before.size:
        for index in (int(before.min()), int(before.max())):
            _position("_npi_insert_tensor", index, extent)
    before = xp.where(before < 0, before + extent, before)
    if before.size == 1:
        before = xp.broadcast_to(before, (layout.added,))
    _fill(xp, out, arr, given, layout, before)


def _with_values(attrs: Attrs) -> tuple[str, ...]:
    return ("arr", "values") if attrs["val"] is None else ("arr",)


def _with_positions(attrs: Attrs) -> tuple[str, ...]:
    return (*_with_values(attrs), "obj")


_NO_VALUE = {"val": 0.0}


def _insertion(
    word: str,
    infer: Callable[..., tuple[Spec]],
    kernel: Callable[..., None],
    doc: str,
    *,
    obj: bool = False,
) -> Operator:
    """Register a form of insert, with the indices as a third input ``obj`` or in attributes."""
    name = f"_npi_insert_{word}"
    slots = ", obj (count,) or ()" if obj else ""
    return register(
        Operator(
            name,
            infer,
            kernel,
            moved_gradient(name, kernel, -1 if obj else 2, _NO_VALUE),
            doc=(
                f"Insert values, or the number val, before {doc}\n\n"
                f"Shapes: arr any{slots}, values broadcasts to what is inserted, output arr's\n"
                "with more along axis."
            ),
            inputs=("arr", "values", "obj") if obj else ("arr", "values"),
            active_inputs=_with_positions if obj else _with_values,
            schema=_SCHEMA,
        )
    )


INSERT_SCALAR = _insertion(
    "scalar",
    _scalar_infer,
    _scalar_kernel,
    "position int_ind along axis.\n\n"
    "Without axis arr is flattened. values is inserted along its first axis.\n"
    "start, stop and step are ignored.",
)
INSERT_SLICE = _insertion(
    "slice",
    _slice_infer,
    _slice_kernel,
    "the positions of a slice along axis, one for each.\n\n"
    "Without axis arr is flattened. int_ind is ignored.",
)
INSERT_TENSOR = _insertion(
    "tensor",
    _tensor_infer,
    _tensor_kernel,
    "the positions in obj along axis, one for each.\n\n"
    "Without axis arr is flattened. start, stop, step and int_ind are ignored.",
    obj=True,
)
