"""concatenate, the stack functions, hsplit and dsplit: joining and splitting arrays."""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Attribute, Schema, boolean, integer, optional
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec
from gluonish.ops.elementwise.constant_like import zeros_like
from gluonish.ops.facts import Execution
from gluonish.ops.indexing.slice import slice_axis
from gluonish.ops.registry import Attrs, Operator, V, register
from gluonish.ops.shape.concat import STACK
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.shape.split import Bounds, bounds_from, fill_pieces, infer_pieces, join_gradients
from gluonish.ops.support.broadcasting import check_same_dtype
from gluonish.ops.support.shape_rules import normalize_axis

_MOST_PIECES = 2**15

Raise = Callable[[Shape, Attrs], Shape]  # the shape in which an array is joined
AxisOf = Callable[[int, Attrs], int]  # (axes of the joined arrays, attributes) -> axis


def _row(name: str, doc: str, raised: Raise, axis_of: AxisOf, **attributes: Attribute) -> Operator:
    def layout(shapes: Sequence[Shape], attrs: Attrs) -> tuple[list[Shape], int]:
        joined = [raised(shape, attrs) for shape in shapes]
        axis = normalize_axis(name, axis_of(len(joined[0]), attrs), len(joined[0]))
        rests = {(len(s), *s[:axis], *s[axis + 1 :]) for s in joined}
        if len(rests) != 1:
            raise OperatorError(
                f"{name}: expected shapes that differ along axis {axis} only, "
                f"got {', '.join(map(str, shapes))}"
            )
        return joined, axis

    def infer(*data: Spec, **attrs: Any) -> tuple[Spec]:
        for spec in data:
            check_same_dtype(name, data[0], spec)
        joined, axis = layout([spec.shape for spec in data], attrs)
        total = sum(shape[axis] for shape in joined)
        return (Spec((*joined[0][:axis], total, *joined[0][axis + 1 :]), data[0].dtype),)

    def kernel(xp: ModuleType, out: Any, *data: Any, **attrs: Any) -> None:
        joined, axis = layout([x.shape for x in data], attrs)
        parts = [x.reshape(shape) for x, shape in zip(data, joined, strict=True)]
        xp.concatenate(parts, axis=axis, out=out)

    def gradient(g: V, *data: V, **attrs: Any) -> tuple[Any, ...]:
        joined, axis = layout([x.shape for x in data], attrs)
        entries: list[Any] = []
        begin = 0
        for x, shape in zip(data, joined, strict=True):
            end = begin + shape[axis]
            entries.append(lambda x=x, begin=begin, end=end: _cut(g, x, axis, begin, end))
            begin = end
        return tuple(entries)

    return register(
        Operator(
            name,
            infer,
            kernel,
            gradient,
            doc=doc,
            inputs=("data",),
            schema=Schema(num_args=integer(low=1), **attributes),
            variadic="num_args",
            execution=Execution(copies_only=True),
        )
    )


def _cut(g: Any, x: Any, axis: int, begin: int, end: int) -> Any:
    """Return the gradient of the input array that fills [begin, end) of the result."""
    if 0 in x.shape:
        return zeros_like(x)
    return reshape(slice_axis(g, axis, begin, end), x.shape)


def _axis_of(attrs: Attrs) -> int | None:
    axis: int | None = attrs["axis"] if attrs["dim"] is None else attrs["dim"]
    return axis


def _flat_without_axis(shape: Shape, attrs: Attrs) -> Shape:
    if _axis_of(attrs) is not None:
        return shape
    size = 1
    for extent in shape:
        size *= extent
    return (size,)


CONCATENATE = _row(
    "_npi_concatenate",
    (
        "Join arrays along an existing axis; if axis is None they are flattened first.\n\n"
        "dim is an alias of axis.\n\n"
        "Shapes: arrays (..., n_i, ...) with n_i along axis, output (..., sum of n_i, ...)."
    ),
    _flat_without_axis,
    lambda rank, attrs: _axis_of(attrs) or 0,
    dim=optional(integer()),
    axis=optional(integer(), 0),
)
_row(
    "_npi_vstack",
    (
        "Stack arrays vertically, along axis 0; a vector is one row.\n\n"
        "Shapes: arrays (n_i, ...), where (w,) stands for (1, w), output (sum of n_i, ...)."
    ),
    lambda shape, attrs: (1,) * (2 - len(shape)) + shape,
    lambda rank, attrs: 0,
)
# hstack and dstack have an attribute without effect.
_row(
    "_npi_hstack",
    (
        "Stack arrays horizontally: along axis 1, or along axis 0 for vectors. dim is\n"
        "ignored.\n\n"
        "Shapes: arrays (h, n_i, ...) or (n_i,), output (h, sum of n_i, ...) or (sum of\n"
        "n_i,)."
    ),
    lambda shape, attrs: shape or (1,),
    lambda rank, attrs: min(1, rank - 1),
    dim=integer(1),
)
_row(
    "_npi_dstack",
    (
        "Stack arrays in depth, along axis 2. dim is ignored.\n\n"
        "Shapes: arrays (h, w, n_i), where (n,) stands for (1, n, 1) and (h, w) for (h, w,\n"
        "1), output (h, w, sum of n_i)."
    ),
    lambda shape, attrs: shape if len(shape) > 2 else _with_depth(shape),
    lambda rank, attrs: 2,
    dim=integer(1),
)
_row(
    "_npi_column_stack",
    (
        "Join arrays along axis 1; a vector is one column.\n\n"
        "Shapes: arrays (n,) or (n, m_i), output (n, total number of columns)."
    ),
    lambda shape, attrs: shape if len(shape) > 1 else ((*shape, 1) if shape else (1, 1)),
    lambda rank, attrs: 1,
)


def _with_depth(shape: Shape) -> Shape:
    """Return the shape of an array of up to two axes with a third axis added."""
    return ((1,) * (2 - len(shape)) + shape) + (1,)


def _stack_infer(*data: Spec, num_args: int, axis: int) -> tuple[Spec]:
    normalize_axis("_npi_stack", axis, len(data[0].shape) + 1)
    for spec in data:
        check_same_dtype("_npi_stack", data[0], spec)
        if spec.shape != data[0].shape:
            raise OperatorError(
                f"_npi_stack: expected arrays of equal shape, got {data[0].shape} and {spec.shape}"
            )
    (spec,) = STACK.infer(*data, num_args=num_args, axis=axis)
    return (spec,)


register(
    Operator(
        "_npi_stack",
        _stack_infer,
        STACK.kernel,
        STACK.gradient,
        doc=STACK.doc,
        inputs=("data",),
        schema=STACK.schema,
        variadic="num_args",
        execution=Execution(copies_only=True),
    )
)


def _split(name: str, least: int, axis_of: Callable[[int], int], word: str) -> Operator:
    def layout(shape: Shape, indices: Shape, sections: int) -> tuple[int, Bounds]:
        if len(shape) < least:
            raise OperatorError(f"{name}: expected data of at least {least} axes, got {shape}")
        axis = axis_of(len(shape))
        extent = shape[axis]
        if sections > _MOST_PIECES:
            raise OperatorError(f"{name}: expected at most {_MOST_PIECES} sections, got {sections}")
        begins: Sequence[int] = indices
        if sections > 0:
            length, longer = divmod(extent, sections)
            begins = [i * length + min(i, longer) for i in range(sections)]
        return axis, bounds_from(name, extent, begins)

    def infer(
        data: Spec, *, indices: Shape, axis: int, squeeze_axis: bool, sections: int
    ) -> tuple[Spec, ...]:
        along, bounds = layout(data.shape, indices, sections)
        return infer_pieces(name, data, along, bounds, squeeze_axis)

    def kernel(
        xp: ModuleType,
        out: Any,
        data: Any,
        *,
        indices: Shape,
        axis: int,
        squeeze_axis: bool,
        sections: int,
    ) -> None:
        results = out if isinstance(out, tuple | list) else (out,)
        fill_pieces(results, data, *layout(data.shape, indices, sections))

    def gradient(
        g: Any, data: V, *, indices: Shape, axis: int, squeeze_axis: bool, sections: int
    ) -> tuple[Any]:
        return (join_gradients(g, data, *layout(data.shape, indices, sections)),)

    return register(
        Operator(
            name,
            infer,
            kernel,
            gradient,
            doc=(
                f"Split data {word}.\n\n"
                "The data is split into sections pieces, the first ones longer by 1 where sizes\n"
                "cannot be equal, or before indices, the first of which is 0.\n\n"
                "squeeze_axis removes the axis of pieces of size 1. axis is ignored.\n\n"
                "Shapes: data any, outputs the same with a section of the axis each."
            ),
            schema=Schema(
                indices=shape_attr(),
                axis=integer(1),
                squeeze_axis=boolean(False),
                sections=integer(0),
            ),
            outputs=_piece_count,
            output_names=("output",),
            execution=Execution(copies_only=True),
        )
    )


def _piece_count(attrs: Attrs) -> int:
    return attrs["sections"] if attrs["sections"] > 0 else len(attrs["indices"])


_split("_npi_hsplit", 1, lambda rank: min(1, rank - 1), "along axis 1, or 0 of a vector")
_split("_npi_dsplit", 3, lambda rank: 2, "along axis 2")
