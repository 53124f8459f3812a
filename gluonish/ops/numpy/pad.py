"""pad: padding of arrays, in six modes."""

import ast
from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Attribute, Schema, choice, number, shape, text
from gluonish.core.spec import MOST_ELEMENTS, Spec
from gluonish.ops.facts import Execution
from gluonish.ops.numpy.rearrangement import moved_gradient
from gluonish.ops.numpy.reduction import MAX, MIN
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.shape.broadcast_to import broadcast_to
from gluonish.ops.shape.concat import concat
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.precision import check_number, in_dtype

Widths = tuple[tuple[int, int], ...]

_PAIR = shape()


def _parse_widths(value: object) -> Widths:
    if isinstance(value, str):
        value = ast.literal_eval(value.strip().replace("L", ""))
    if not isinstance(value, tuple | list):
        raise ValueError
    if len(value) == 2 and not any(isinstance(v, tuple | list) for v in value):
        value = (value,)  # MXNet's form of one pair
    pairs = tuple(_PAIR.parse(pair) for pair in value)
    if any(len(pair) != 2 for pair in pairs):
        raise ValueError
    return pairs


def _infer(
    data: Spec, *, pad_width: Widths, mode: str, constant_value: float, reflect_type: str
) -> tuple[Spec]:
    if len(pad_width) != len(data.shape) or any(min(pair) < 0 for pair in pad_width):
        raise OperatorError(
            f"_npi_pad: expected two widths from 0 for each axis of {data.shape}, got {pad_width}"
        )
    for extent, pair in zip(data.shape, pad_width, strict=True):
        if mode != "constant" and not extent and any(pair):
            raise OperatorError(
                f"_npi_pad: expected elements along the axes to pad in mode {mode}, "
                f"got {data.shape}"
            )
    if mode == "constant":
        check_number("_npi_pad", data.dtype, constant_value)
    spec = Spec(
        tuple(n + sum(pair) for n, pair in zip(data.shape, pad_width, strict=True)), data.dtype
    )
    if spec.size > MOST_ELEMENTS:
        raise OperatorError(
            f"_npi_pad: expected a result of at most {MOST_ELEMENTS} elements, got {spec.shape}"
        )
    return (spec,)


def _kernel(
    xp: ModuleType,
    out: Any,
    data: Any,
    *,
    pad_width: Widths,
    mode: str,
    constant_value: float,
    reflect_type: str,
) -> None:
    if not data.ndim:
        out[...] = data
    elif mode == "constant":
        is_bool = data.dtype.kind == "b"
        out.fill(bool(constant_value) if is_bool else in_dtype(out.dtype, constant_value))
        inner = [
            slice(before, before + n) for n, (before, _) in zip(data.shape, pad_width, strict=True)
        ]
        out[tuple(inner)] = data
    elif out.size:
        out[...] = xp.pad(data, pad_width, mode=mode)


_moved = moved_gradient("_npi_pad", _kernel, constants={"constant_value": 0.0})


def _extreme_padded(
    data: Any, *, pad_width: Widths, mode: str, constant_value: float, reflect_type: str
) -> Any:
    """Pad one axis after the other with the maxima or minima along the axis."""
    op = MAX if mode == "maximum" else MIN
    for axis, pair in enumerate(pad_width):
        attrs = {"axis": (axis,), "keepdims": True, "initial": None}
        edge = apply(op, (data,), attrs) if any(pair) else None
        shape = data.shape
        sides = [
            broadcast_to(edge, (*shape[:axis], width, *shape[axis + 1 :])) if width else None
            for width in pair
        ]
        parts = [part for part in (sides[0], data, sides[1]) if part is not None]
        data = concat(parts, axis) if len(parts) > 1 else data
    return data


_extreme_rule = composite_gradient(_extreme_padded)


def _gradient(g: V, data: V, **attrs: Any) -> tuple[Any, ...]:
    if attrs["mode"] not in ("maximum", "minimum"):
        return _moved(g, data, **attrs)
    return _extreme_rule(g, data, **attrs) if any(map(any, attrs["pad_width"])) else (g,)


PAD = register(
    Operator(
        "_npi_pad",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "data padded along each axis, with the number of elements before and after in\n"
            "pad_width.\n\n"
            "The padding is constant_value, the edge, the reflection without (reflect) or with\n"
            "(symmetric) the edge, or the maximum or minimum along the axis. reflect_type is\n"
            "accepted and ignored.\n\n"
            "Shapes: data any, output data's size plus before and after along each axis.\n"
            "pad_width holds a pair for each axis."
        ),
        schema=Schema(
            pad_width=Attribute(_parse_widths, "a tuple of pairs of ints"),
            mode=choice(
                "constant",
                "edge",
                "maximum",
                "minimum",
                "reflect",
                "symmetric",
                default="constant",
            ),
            constant_value=number(0.0),
            reflect_type=text("even"),
        ),
        execution=Execution(copies_only=True),
    )
)
