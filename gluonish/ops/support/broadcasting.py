"""Checks and inference of operators on several arrays: broadcasting and common dtypes."""

from collections.abc import Callable
from typing import Any

from gluonish.core.dtype import BOOL, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.spec import (
    UNKNOWN,
    PartialSpec,
    Shape,
    Spec,
    merge_dtypes,
    merge_shapes,
)
from gluonish.ops.registry import Attrs


def broadcast_shapes(operator: str, a: Shape, b: Shape) -> Shape:
    """Return the shape that two shapes broadcast to.

    Raises:
        OperatorError: A pair of extents, aligned at the end, differs and neither is 1.
    """
    if a == b:
        return a
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    padded = (1,) * (len(longer) - len(shorter)) + shorter
    if any(x != y and 1 not in (x, y) for x, y in zip(longer, padded, strict=True)):
        raise OperatorError(
            f"{operator}: expected shapes that broadcast (equal, or 1, from the last axis), got "
            f"{a} and {b}"
        )
    return tuple(y if x == 1 else x for x, y in zip(longer, padded, strict=True))


def check_same_dtype(operator: str, a: Spec, b: Spec) -> None:
    """Check that two arrays have the same dtype, as MXNet requires.

    Raises:
        OperatorError: The dtypes differ.
    """
    if a.dtype != b.dtype:
        raise OperatorError(
            f"{operator}: expected arrays of equal dtype, got {a.dtype.name} and {b.dtype.name}; "
            "cast one with astype"
        )


def check_parameter_dtypes(operator: str, data: Spec, weight: Spec, bias: Spec | None) -> None:
    """Check that weight and bias have the data's dtype.

    Raises:
        OperatorError: A dtype differs; the message names it.
    """
    for name, spec in (("weight", weight), ("bias", bias)):
        if spec is not None and spec.dtype != data.dtype:
            if is_floating(spec.dtype) and not is_floating(data.dtype):
                raise OperatorError(
                    f"{operator}: expected data of dtype {spec.dtype.name}, got {data.dtype.name}; "
                    f"convert it: x.astype({spec.dtype.name!r})"
                )
            raise OperatorError(
                f"{operator}: expected {name} of data's dtype {data.dtype.name}, "
                f"got {spec.dtype.name}; cast the block or the data"
            )


def infer_broadcast(operator: str, a: Spec, b: Spec) -> Spec:
    """Return the spec of an operation on two broadcast arrays; ``a`` if both are equal."""
    if a == b:
        return a
    check_same_dtype(operator, a, b)
    return Spec(broadcast_shapes(operator, a.shape, b.shape), a.dtype)


def infer_same(x: Spec, **_attrs: Any) -> tuple[Spec]:
    """Infer an output like the input."""
    return (x,)


def refuse_truth_values(operator: str, spec: Spec) -> None:
    """Reject bool arrays, as most numeric functions of MXNet do.

    Raises:
        OperatorError: The array has dtype bool.
    """
    if spec.dtype == BOOL:
        raise OperatorError(
            f"{operator}: expected numbers, got bool{spec.shape}; cast them with astype"
        )


def infer_numbers(operator: str) -> Callable[..., tuple[Spec]]:
    """Return inference for numeric inputs with an output like the input."""

    def infer(x: Spec, **_attrs: Any) -> tuple[Spec]:
        if x.dtype is BOOL:
            refuse_truth_values(operator, x)
        return (x,)

    return infer


def complete_same(
    inputs: list[PartialSpec], outputs: list[PartialSpec], _attrs: Attrs, name: str = "elementwise"
) -> None:
    """Fill in unknown shapes and dtypes of an operator whose inputs and output 0 have equal specs.

    Known shapes that differ are left alone: they broadcast, and inference checks them.
    """
    dtype = None
    shape: Shape | None = None
    for spec in (*inputs, outputs[0]):
        dtype = merge_dtypes(dtype, spec.dtype, name)
        try:
            shape = merge_shapes(shape, spec.shape, name)
        except OperatorError:
            return
    for specs in (inputs, outputs[:1]):
        for i, spec in enumerate(specs):
            missing = spec.shape is None or UNKNOWN in spec.shape
            specs[i] = PartialSpec(shape if missing else spec.shape, spec.dtype or dtype)
    outputs[0] = PartialSpec(outputs[0].shape or shape, outputs[0].dtype or dtype)
