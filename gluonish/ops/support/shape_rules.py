"""Bidirectional shape rules for partially known shapes.

A rule is ``rule(inputs, outputs, attrs)``; it refines two lists of partial shapes (None, or tuples
with `UNKNOWN` extents), forward and backward. It raises an error only for contradictions; the
operator's inference checks known shapes. `probe` infers the outputs of operators without a rule.
"""

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.core.errors import GluonishError, OperatorError
from gluonish.core.spec import UNKNOWN, PartialSpec, Shape, Spec, merge_shapes
from gluonish.ops.registry import Attrs, Operator, ShapeRule

Shapes = list[Shape | None]

# Trial values of an unknown extent: numbers with many divisors, the small ones first.
_TRIALS = (1, 2, 5040, 15120)


def is_known(shape: Shape | None) -> bool:
    """Whether rank and all extents are known."""
    return shape is not None and UNKNOWN not in shape


def unknown_of(rank: int) -> Shape:
    """Return a shape of known rank and unknown extents."""
    return (UNKNOWN,) * rank


def merge_shape(shapes: Shapes, index: int, found: Shape | None) -> None:
    """Merge an inferred shape into the list.

    Raises:
        OperatorError: The shapes contradict each other.
    """
    shapes[index] = merge_shapes(shapes[index], found, "shape")


def probe(
    op: Operator,
    inputs: Sequence[Shape | None],
    dtypes: Sequence[np.dtype[np.generic]],
    attrs: Attrs,
) -> Shapes | None:
    """Infer outputs from partial input shapes with the operator's inference.

    It runs with several trial values of the unknown extents; extents that do not vary are known.

    Returns:
        A partial shape for each output; None if a rank is unknown, or fewer than two trials
        succeeded.
    """
    if any(shape is None for shape in inputs) or op.measure is not None or not inputs:
        return None
    answers = []
    for trial in _TRIALS:
        specs = [
            Spec(tuple(trial if n == UNKNOWN else n for n in shape or ()), dtype)
            for shape, dtype in zip(inputs, dtypes, strict=True)
        ]
        try:
            answers.append([spec.shape for spec in op.infer(*specs, **attrs)])
        except (GluonishError, LookupError, TypeError, ValueError, ArithmeticError):
            continue
    if len(answers) < 2:
        return None
    return [_common(shapes) for shapes in zip(*answers, strict=True)]


def _common(shapes: Sequence[Shape]) -> Shape | None:
    if len({len(shape) for shape in shapes}) > 1:
        return None
    return tuple(
        extents[0] if len(set(extents)) == 1 else UNKNOWN for extents in zip(*shapes, strict=True)
    )


def same_shape(*, inputs: Sequence[int] | None = None) -> ShapeRule:
    """Return the rule that the output and these inputs (all by default) have the same shape."""

    def rule(given: Shapes, outputs: Shapes, attrs: Attrs) -> None:
        shape = outputs[0]
        positions = range(len(given)) if inputs is None else inputs
        for i in positions:
            shape = merge_shapes(shape, given[i], "shape")
        for i in positions:
            given[i] = shape
        outputs[0] = shape

    return rule


def broadcast(inputs: Shapes, outputs: Shapes, attrs: Attrs) -> None:
    """Infer the output of two broadcast inputs; an unknown extent may be 1, so it infers nothing.

    Raises:
        OperatorError: Known extents do not broadcast.
    """
    a, b = inputs
    if a is None or b is None:
        return
    rank = max(len(a), len(b))
    a, b = ((1,) * (rank - len(x)) + x for x in (a, b))
    if any(x != y and not {x, y} & {1, UNKNOWN} for x, y in zip(a, b, strict=True)):
        return  # the operator's inference raises the error
    extents = (
        UNKNOWN if UNKNOWN in (x, y) else max(x, y) if x and y else 0
        for x, y in zip(a, b, strict=True)
    )
    merge_shape(outputs, 0, tuple(extents))


def permuted(order: Callable[[int, Attrs], Sequence[int]]) -> ShapeRule:
    """Return the rule of an output whose axis i is axis ``order(rank, attrs)[i]`` of the input."""

    def rule(inputs: Shapes, outputs: Shapes, attrs: Attrs) -> None:
        source = inputs[0] if inputs[0] is not None else outputs[0]
        if source is None:
            return
        axes = [axis % len(source) for axis in order(len(source), attrs)]
        if inputs[0] is not None:
            merge_shape(outputs, 0, tuple(inputs[0][axis] for axis in axes))
        out = outputs[0]
        if out is not None and len(out) == len(axes):
            back = dict(zip(axes, out, strict=True))
            merge_shape(inputs, 0, tuple(back[axis] for axis in range(len(axes))))

    return rule


def same_rows(inputs: Shapes, outputs: Shapes, attrs: Attrs) -> None:
    """Unify the first extent of input 0 and output 0, whose ranks are known."""
    data, out = inputs[0], outputs[0]
    if data and out:
        merge_shape(inputs, 0, (out[0], *unknown_of(len(data) - 1)))
        merge_shape(outputs, 0, (data[0], *unknown_of(len(out) - 1)))


def open_spec(op: Operator, attrs: Attrs) -> PartialSpec | None:
    """Return the partial spec of a created array, or None if its shape is fully known.

    Open extents of the attribute ``shape`` are inferred from the array's consumers: 0 or -1 in
    classic operators, -1 in NumPy's, where 0 is an extent.
    """
    if op.opens is not None:
        return op.opens(attrs)
    shape = attrs.get("shape")
    if not isinstance(shape, tuple) or op.schema.attributes.get("shape") is None:
        return None
    least = 0 if op.name.startswith(("_np", "_npi", "_npx")) else 1
    if all(n >= least for n in shape):
        return None
    return PartialSpec(open_extents(shape, least), attrs.get("dtype") or FLOAT32)


def open_extents(shape: Shape, least: int = 1) -> Shape:
    """Return a shape with `UNKNOWN` for extents below ``least``."""
    return tuple(n if n >= least else UNKNOWN for n in shape)


def normalize_axis(operator: str, axis: int, rank: int) -> int:
    """Return a non-negative axis.

    Raises:
        OperatorError: An array of ``rank`` axes has no such axis.
    """
    if not -rank <= axis < rank:
        raise OperatorError(
            f"{operator}: expected axis in [{-rank}, {rank}) for an array of {rank} axes, got "
            f"{axis}"
        )
    return axis % rank


def parameter_error(
    operator: str, name: str, expected: Spec, got: Spec, data: Spec, axis: int
) -> OperatorError:
    """Return the error for a vector of parameters that does not fit the data.

    If the length of the first one differs, gamma, the data has another number of channels than the
    layer was made for.

    Args:
        operator: Name of the operator.
        name: Name of the vector.
        expected: Its spec for this data.
        got: Its spec.
        data: The data.
        axis: The data's axis of channels.
    """
    if name == "gamma" and got.dtype == expected.dtype and len(got.shape) == 1:
        return OperatorError(
            f"{operator}: expected data with {got.shape[0]} channels along axis {axis}, got "
            f"{expected.shape[0]} in data {data}, with {name} {got}"
        )
    return OperatorError(f"{operator}: expected {name} {expected} for data {data}, got {got}")


def normalize_axes(operator: str, axes: Iterable[int], rank: int) -> Shape:
    """Return sorted non-negative axes.

    Raises:
        OperatorError: An axis does not exist or is repeated.
    """
    found = sorted(normalize_axis(operator, axis, rank) for axis in axes)
    if len(set(found)) != len(found):
        raise OperatorError(f"{operator}: expected every axis once, got {tuple(found)}")
    return tuple(found)


def named_axes(operator: str, axes: Iterable[int], rank: int) -> Shape:
    """Return sorted non-negative axes; a 0-d array accepts axis 0 or -1.

    As in NumPy, this applies to operators that remove axes: reductions and squeeze.

    Raises:
        OperatorError: An axis does not exist or is repeated.
    """
    axes = tuple(axes)
    return () if not rank and axes in ((0,), (-1,)) else normalize_axes(operator, axes, rank)


_MOST_ELEMENTS = 2**31 - 1  # limit of MXNet's arrays


def limited(operator: str, shape: Shape, what: str = "an output") -> Shape:
    """Return the shape of an output or a temporary (``what``), after a size check.

    The limit protects against allocating all memory by mistake.

    Raises:
        OperatorError: The array has more than 2**31 - 1 elements, with extents of 0 counted as 1.
    """
    if math.prod(extent or 1 for extent in shape) > _MOST_ELEMENTS:
        raise OperatorError(
            f"{operator}: expected {what} of at most {_MOST_ELEMENTS} elements, got {shape}"
        )
    return shape
