"""Operators that change the shape but not the order of elements, such as Reshape."""

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Attribute, Schema, boolean, integer, optional
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import UNKNOWN, Shape, Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, ShapeRule, V, apply, register
from gluonish.ops.support.dtype_rules import dtype_rule
from gluonish.ops.support.shape_codes import (
    Exchange,
    axis_count,
    fill_rest,
    resolve_shape,
)
from gluonish.ops.support.shape_rules import (
    Shapes,
    merge_shape,
    named_axes,
    normalize_axis,
    same_rows,
    unknown_of,
)


def copy_kernel(xp: ModuleType, out: Any, data: Any, *_others: Any, **_attrs: Any) -> None:
    """Copy the elements of ``data`` in order."""
    # Writing in the shape of data preserves the order of elements for any strides of data.
    out.reshape(data.shape)[...] = data


def reshape_back(g: V, data: V, **_attrs: Any) -> tuple[Any]:
    """Return the gradient of a reshape: ``g`` in the shape of ``data``."""
    return (reshape(g, data.shape),)


def shape_operator(
    name: str,
    infer: Callable[..., tuple[Spec]],
    doc: str,
    *aliases: str,
    input_name: str = "data",
    shapes: ShapeRule | None = None,
    **attributes: Attribute,
) -> Operator:
    """Register an operator that reshapes its input, named ``input_name``."""
    return register(
        Operator(
            name,
            infer,
            copy_kernel,
            reshape_back,
            doc=doc,
            inputs=(input_name,),
            schema=Schema(**attributes),
            aliases=aliases,
            execution=Execution(identity=True, copies_only=True),
            shapes=ShapeFacts(rule=shapes),
        )
    )


def _infer(
    data: Spec, *, shape: Shape, reverse: bool, target_shape: Shape, keep_highest: bool
) -> tuple[Spec]:
    if shape or not target_shape:
        return (Spec(resolve_shape(data.shape, shape, reverse), data.dtype),)
    # The older attributes: 0 is inferred, and keep_highest preserves axis 0.
    codes = tuple(extent or -1 for extent in target_shape)
    if keep_highest:
        codes = (*data.shape[:1], *codes[1:])
    return (Spec(resolve_shape(data.shape, codes), data.dtype),)


def _shapes(inputs: Shapes, outputs: Shapes, attrs: Attrs) -> None:
    """Infer the extents that follow from the codes and the number of elements."""
    source, codes = inputs[0], attrs["shape"]
    if source is None or not codes:
        return
    direction = slice(None, None, -1 if attrs["reverse"] else None)
    count = axis_count(len(source), codes[direction])
    if count is None:
        return
    merge_shape(outputs, 0, unknown_of(count))
    extents, target = list(source[direction]), list((outputs[0] or ())[direction])
    Exchange(extents, target, codes[direction]).run()
    fill_rest(target, extents)
    fill_rest(extents, target)
    merge_shape(inputs, 0, tuple(extents[direction]))
    merge_shape(outputs, 0, tuple(target[direction]))


RESHAPE = register(
    Operator(
        "Reshape",
        _infer,
        copy_kernel,
        reshape_back,
        doc=(
            "Reshape data without changing the order of its elements.\n\n"
            "In shape, 0 copies a size of data, -1 is inferred from the remaining elements, -2\n"
            "copies all remaining sizes, -3 merges two axes into one, and -4 splits one axis\n"
            "into the two sizes that follow it; reverse matches shapes from the right.\n"
            "target_shape and keep_highest are older attributes with the same purpose.\n\n"
            "Shapes: data any, output shape, with the same number of elements."
        ),
        schema=Schema(
            shape=shape_attr(()),
            reverse=boolean(False),
            target_shape=shape_attr(()),
            keep_highest=boolean(False),
        ),
        aliases=("reshape",),
        shapes=ShapeFacts(rule=_shapes),
        execution=Execution(identity=True, copies_only=True),
    )
)


def _exact_infer(data: Spec, *, shape: Shape) -> tuple[Spec]:
    if math.prod(shape) != data.size:
        raise OperatorError(
            f"reshape: expected a shape with the {data.size} elements of data {data.shape}, got "
            f"{shape} with {math.prod(shape)}"
        )
    return (Spec(shape, data.dtype),)


# Reshape cannot express an extent of 0 or a shape (); gradients of empty arrays need both.
_RESHAPE_EXACT = shape_operator(
    "_reshape_exact",
    _exact_infer,
    "Reshape data to exactly this shape, where 0 means a size of 0.",
    shape=shape_attr(),
)


def reshape(x: Any, shape: Shape) -> Any:
    """Reshape ``x``; one extent may be -1, and 0 means an extent of 0."""
    if x.shape == shape:
        return x
    if shape and 0 not in shape:
        attrs = {"shape": shape, "reverse": False, "target_shape": (), "keep_highest": False}
        return apply(RESHAPE, (x,), attrs)
    if -1 in shape:
        shape = resolve_shape(x.shape, shape)
    return apply(_RESHAPE_EXACT, (x,), {"shape": shape})


def _flatten_infer(data: Spec) -> tuple[Spec]:
    if not data.shape:
        raise OperatorError("Flatten: expected data of at least 1 axis, got ()")
    return (Spec((data.shape[0], math.prod(data.shape[1:])), data.dtype),)


def _flatten_shapes(inputs: Shapes, outputs: Shapes, attrs: Attrs) -> None:
    data = inputs[0]
    if data:
        rest = UNKNOWN if UNKNOWN in data[1:] else math.prod(data[1:])
        merge_shape(outputs, 0, (data[0], rest))
        same_rows(inputs, outputs, attrs)


FLATTEN = shape_operator(
    "Flatten",
    _flatten_infer,
    (
        "Flatten all axes after the first: (N, ...) becomes (N, features).\n\n"
        "Shapes: data (N, ...), output (N, features)."
    ),
    "flatten",
    "_npx_batch_flatten",
    shapes=_flatten_shapes,
)


def _bounds(rank: int, begin: int | None, end: int | None, side: str) -> tuple[int, int]:
    first = 0 if begin is None else begin + rank * (begin < 0)
    last = rank if end is None else end + rank * (end < 0)
    if not 0 <= first <= last <= rank:
        raise OperatorError(
            f"reshape_like: expected {side}_begin <= {side}_end within {rank} axes, got {begin} "
            f"and {end}"
        )
    return first, last


def _like_infer(
    lhs: Spec,
    rhs: Spec,
    *,
    lhs_begin: int | None,
    lhs_end: int | None,
    rhs_begin: int | None,
    rhs_end: int | None,
) -> tuple[Spec]:
    if lhs_begin is lhs_end is rhs_begin is rhs_end is None:
        shape = rhs.shape
    else:
        first, last = _bounds(len(lhs.shape), lhs_begin, lhs_end, "lhs")
        begin, end = _bounds(len(rhs.shape), rhs_begin, rhs_end, "rhs")
        shape = lhs.shape[:first] + rhs.shape[begin:end] + lhs.shape[last:]
    if math.prod(shape) != lhs.size:
        raise OperatorError(
            f"reshape_like: expected a shape of {lhs.size} elements for lhs {lhs.shape}, got "
            f"{shape} from rhs {rhs.shape}"
        )
    return (Spec(shape, lhs.dtype),)


def _like_gradient(g: V, lhs: V, rhs: V, **_attrs: int | None) -> tuple[Any, None]:
    return reshape(g, lhs.shape), None


RESHAPE_LIKE = register(
    Operator(
        "reshape_like",
        _like_infer,
        copy_kernel,
        _like_gradient,
        doc=(
            "Reshape lhs to the shape of rhs.\n\n"
            "With begin or end, the axes of lhs from lhs_begin up to lhs_end are replaced by\n"
            "the sizes of the axes of rhs from rhs_begin up to rhs_end.\n\n"
            "Shapes: lhs and rhs with the same number of elements, output that of rhs."
        ),
        inputs=("lhs", "rhs"),
        schema=Schema(
            lhs_begin=optional(integer()),
            lhs_end=optional(integer()),
            rhs_begin=optional(integer()),
            rhs_end=optional(integer()),
        ),
        aliases=("_npx_reshape_like",),
        execution=Execution(identity=True, copies_only=True),
        shapes=ShapeFacts(complete=dtype_rule(0)),
    )
)


def _expand_infer(data: Spec, *, axis: int) -> tuple[Spec]:
    axis = normalize_axis("expand_dims", axis, len(data.shape) + 1)
    return (Spec((*data.shape[:axis], 1, *data.shape[axis:]), data.dtype),)


def _expand_shapes(inputs: Shapes, outputs: Shapes, attrs: Attrs) -> None:
    data, out = inputs[0], outputs[0]
    rank = len(data) + 1 if data is not None else len(out) if out is not None else 0
    axis = attrs["axis"] + rank * (attrs["axis"] < 0)
    if not 0 <= axis < rank:
        return
    if data is not None:
        merge_shape(outputs, 0, (*data[:axis], 1, *data[axis:]))
    out = outputs[0]
    if out is not None and len(out) == rank:
        merge_shape(inputs, 0, (*out[:axis], *out[axis + 1 :]))


EXPAND_DIMS = shape_operator(
    "expand_dims",
    _expand_infer,
    (
        "Insert an axis of size 1 at position axis.\n\n"
        "Shapes: data any, output the same with one more axis."
    ),
    "_npi_expand_dims",
    shapes=_expand_shapes,
    axis=integer(),
)


def squeezed(name: str, shape: Shape, axis: Shape | None) -> Shape:
    """Return a shape without its axes of size 1, or without the axes ``axis``.

    Raises:
        OperatorError: A removed axis does not have size 1.
    """
    if axis is None:
        return tuple(extent for extent in shape if extent != 1)
    removed = named_axes(name, axis, len(shape))
    if any(shape[i] != 1 for i in removed):
        raise OperatorError(f"{name}: expected axes of size 1, got axis {axis} of {shape}")
    return tuple(extent for i, extent in enumerate(shape) if i not in removed)


def _squeeze_infer(data: Spec, *, axis: Shape | None) -> tuple[Spec]:
    shape = squeezed("squeeze", data.shape, axis)
    return (Spec(shape or (1,) * bool(data.shape), data.dtype),)


SQUEEZE = shape_operator(
    "squeeze",
    _squeeze_infer,
    (
        "Remove the axes of size 1, or only those in axis.\n\n"
        "If all axes would be removed, one remains.\n\n"
        "Shapes: data any, output the same without axes of size 1."
    ),
    axis=optional(shape_attr()),
)


def expand_dims(x: Any, axis: int) -> Any:
    """Insert an axis of size 1 at position ``axis``."""
    return apply(EXPAND_DIMS, (x,), {"axis": axis})
