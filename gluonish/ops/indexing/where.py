"""where: elements of two arrays, selected by a condition."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.spec import Spec, merge_shapes
from gluonish.ops.elementwise.constant_like import zeros_like
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.support.broadcasting import check_same_dtype
from gluonish.ops.support.dtype_rules import dtype_rule
from gluonish.ops.support.shape_rules import Shapes, same_shape


def _infer(condition: Spec, x: Spec, y: Spec) -> tuple[Spec]:
    check_same_dtype("where", x, y)
    if x.shape != y.shape:
        raise OperatorError(f"where: expected x and y of equal shape, got {x.shape} and {y.shape}")
    if condition.shape not in (x.shape, x.shape[:1]):
        raise OperatorError(
            f"where: expected condition of shape {x.shape} or {x.shape[:1]}, got {condition.shape}"
        )
    return (x,)


def _kernel(xp: ModuleType, out: Any, condition: Any, x: Any, y: Any) -> None:
    mask = condition != 0
    if condition.ndim != x.ndim:  # one condition per row
        mask = mask.reshape(-1, *(1,) * (x.ndim - 1))
    out[...] = xp.where(mask, x, y)


def _gradient(g: V, condition: V, x: V, y: V) -> tuple[Any, ...]:
    return (
        None,
        lambda: where(condition, g, zeros_like(g)),
        lambda: where(condition, zeros_like(g), g),
    )


_same_shapes = same_shape(inputs=(1, 2))


def _shapes(inputs: Shapes, outputs: Shapes, attrs: Attrs) -> None:
    condition = inputs[0]
    _same_shapes(inputs, outputs, attrs)
    shape = outputs[0]
    if condition is None:
        return
    if shape is None or len(condition) == len(shape):
        if shape is not None or len(condition) > 1:
            shape = merge_shapes(shape, condition, "where")
    elif len(condition) == 1 and shape:
        rows = merge_shapes(shape[:1], condition, "where")
        shape = (*(rows or ()), *shape[1:])
    inputs[1] = inputs[2] = outputs[0] = shape


WHERE = register(
    Operator(
        "where",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Select x where condition is not 0, else y; condition has the shape of x, or one\n"
            "element for each row.\n\n"
            "Shapes: x, y and output the same, condition the same or (N,) for x (N, ...)."
        ),
        inputs=("condition", "x", "y"),
        aliases=("_sparse_where",),
        shapes=ShapeFacts(complete=dtype_rule(1, 2), rule=_shapes),
        execution=Execution(several_passes=True),
    )
)


def where(condition: Any, x: Any, y: Any) -> Any:
    """Return ``x`` where ``condition`` is not 0, else ``y``."""
    return apply(WHERE, (condition, x, y), {})
