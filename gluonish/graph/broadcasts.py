"""Values that only repeat, cast and reshape a smaller one, and values that no input changes.

A `Spread` says from which element of a smaller value each element of a value comes: by factors of
its axes, from the slowest to the fastest, each an extent and a stride of the smaller value; a
stride of 0 repeats. Reshapes only group factors anew.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.spec import Shape, Spec
from gluonish.graph.ir import Value
from gluonish.ops.registry import apply
from gluonish.ops.shape.reshape import reshape

_RESHAPES = frozenset(
    {"Reshape", "_reshape_exact", "Flatten", "expand_dims", "reshape_like", "squeeze"}
)
_BROADCASTS = frozenset({"broadcast_axis", "broadcast_to", "broadcast_like", "_npi_broadcast_to"})
_COPIES = frozenset({"_copy", "BlockGrad"})
_SUMS = frozenset({"elemwise_add", "broadcast_add"})
_PRODUCTS = frozenset({"elemwise_mul", "broadcast_mul"})
# Operators that read no more than the shape and dtype of their first input.
READ_NO_ELEMENTS = frozenset({"zeros_like", "ones_like", "_contrib_arange_like", "_npi_full_like"})

_DEPTH = 24  # operators behind one another that are looked through
_LIMIT = 1 << 22  # elements of a value that is computed here

Factor = tuple[int, int]
Axis = tuple[Factor, ...]


class Spread(NamedTuple):
    """A value whose elements are those of a smaller one, in order and some of them repeatedly.

    Attributes:
        source: The smaller value.
        axes: For each axis of the value its factors: extents, and strides in elements of the
            source in row-major order.
    """

    source: Value
    axes: tuple[Axis, ...]

    @property
    def shape(self) -> Shape:
        """Extents of the value."""
        return tuple(math.prod(extent for extent, _ in axis) for axis in self.axes)

    def regrouped(self, shape: Shape) -> "Spread | None":
        """Return the value after a reshape; None if an axis would need half of a factor."""
        left = list(_joined([factor for axis in self.axes for factor in axis]))[::-1]
        axes = []
        for extent in shape:
            axis: list[Factor] = []
            while extent > 1:
                if not left:
                    return None
                size, stride = left.pop()
                taken = math.gcd(size, extent)
                if taken not in (size, extent):
                    return None
                if taken < size:
                    left.append((size // taken, stride))
                    stride *= size // taken
                axis.append((taken, stride))
                extent //= taken
            axes.append(_joined(axis))
        return None if left else Spread(self.source, tuple(axes))

    def broadcast(self, shape: Shape) -> "Spread":
        """Return the value broadcast to a shape by NumPy's rule."""
        axes: list[Axis] = [()] * (len(shape) - len(self.axes)) + list(self.axes)
        return Spread(
            self.source,
            tuple(
                axis if math.prod(n for n, _ in axis) == extent else _axis(extent, 0)
                for axis, extent in zip(axes, shape, strict=True)
            ),
        )

    def compact_shape(self) -> Shape | None:
        """Return the shape with an extent of 1 for each axis that only repeats.

        None if the source, in that shape, does not broadcast to the value.
        """
        shape, step = [], self.source.size
        for axis in self.axes:
            strides = [factor for factor in axis if factor[1]]
            if len(strides) not in (0, len(axis)):
                return None
            for size, stride in strides:
                step //= size
                if stride != step:
                    return None
            shape.append(math.prod(size for size, _ in strides))
        return tuple(shape) if step == 1 else None


def _axis(extent: int, stride: int) -> Axis:
    return ((extent, stride),) if extent > 1 else ()


def _joined(factors: Sequence[Factor]) -> Axis:
    """Return factors with neighbours joined that are one run of elements."""
    found: list[Factor] = []
    for size, stride in factors:
        if found and found[-1][1] == size * stride:
            found[-1] = (found[-1][0] * size, stride)
        else:
            found.append((size, stride))
    return tuple(found)


def reshaped(value: Value, shape: Shape) -> Value:
    """Return a value in another shape."""
    return value if value.shape == shape else reshape(value, shape)


def whole(value: Value) -> Spread:
    """Return a value as the spread of itself."""
    axes, stride = [], 1
    for extent in reversed(value.shape):
        axes.append(_axis(extent, stride))
        stride *= extent
    return Spread(value, tuple(reversed(axes)))


def spread(value: Value, depth: int = _DEPTH) -> Spread:
    """Return a value as the spread of the smallest value found; casts and the like come behind it.

    Operators of one input are applied to the smaller value, so that the source may be new.
    """
    node = value.node
    if node.op is None or not node.inputs or value.index or not depth or 0 in value.shape:
        return whole(value)
    name, first = node.op.name, node.inputs[0]
    found: Spread | None = None
    if name in _COPIES:
        found = spread(first, depth - 1)
    elif name in _RESHAPES:
        found = spread(first, depth - 1).regrouped(value.shape)
    elif name in _BROADCASTS:
        found = spread(first, depth - 1).broadcast(value.shape)
    elif name in ("repeat", "tile"):
        found = _repeated(value, spread(first, depth - 1))
    elif name in _SUMS or name in _PRODUCTS:
        neutral = 0.0 if name in _SUMS else 1.0
        for one, other in (node.inputs, node.inputs[::-1]):
            if uniform(other) == neutral and one.spec.dtype == value.spec.dtype:
                found = spread(one, depth - 1).broadcast(value.shape)
                break
    elif name == "Cast" or (
        node.op.elementwise and node.op.single and node.op.stateless and len(node.inputs) == 1
    ):
        inner = spread(first, depth - 1)
        if inner.source.key != first.key:
            found = Spread(apply(node.op, (inner.source,), node.attrs), inner.axes)
    return whole(value) if found is None else found


def _repeated(value: Value, inner: Spread) -> Spread | None:
    """Return the result of ``repeat`` or ``tile`` of a spread."""
    node = value.node
    assert node.op is not None
    if node.op.name == "tile":
        counts = tuple(node.attrs["reps"])
        if len(counts) > len(value.shape):
            return None
        counts = (1,) * (len(value.shape) - len(counts)) + counts
        axes: list[Axis] = [()] * (len(value.shape) - len(inner.axes)) + list(inner.axes)
        pairs = zip(counts, axes, strict=True)
        return Spread(inner.source, tuple(_joined((*_axis(n, 0), *axis)) for n, axis in pairs))
    axis, count = node.attrs["axis"], node.attrs["repeats"]
    if not isinstance(count, int):
        return None
    axes = list(inner.axes)
    if axis is None:
        axis, axes = 0, [_joined([factor for axis in axes for factor in axis])]
    axes[axis] = _joined((*axes[axis], *_axis(count, 0)))
    return Spread(inner.source, tuple(axes))


def uniform(value: Value, depth: int = _DEPTH) -> float | None:
    """Return the number that all elements of a value are; None if there may be several."""
    node = value.node
    if node.op is None or value.index or not depth:
        return None
    name, attrs = node.op.name, node.attrs
    known = {"zeros_like": 0.0, "_zeros": 0.0, "ones_like": 1.0, "_ones": 1.0}
    if name in known:
        return known[name]
    if name == "_full":
        return float(attrs["value"])
    if name == "_npi_full_like":
        return float(attrs["fill_value"])
    if name in _COPIES or name in _RESHAPES or name in _BROADCASTS or name in ("repeat", "tile"):
        return uniform(node.inputs[0], depth - 1)
    if name not in _OF_NUMBERS:
        return None
    inner = uniform(node.inputs[0], depth - 1)
    return None if inner is None else _OF_NUMBERS[name](inner, float(attrs.get("scalar", 0.0)))


_OF_NUMBERS: Mapping[str, Callable[[float, float], float | None]] = {
    "Cast": lambda x, _: x,
    "negative": lambda x, _: -x,
    "_mul_scalar": lambda x, y: x * y,
    "_div_scalar": lambda x, y: x / y if y else None,
    "_plus_scalar": lambda x, y: x + y,
    "_minus_scalar": lambda x, y: x - y,
    "_rminus_scalar": lambda x, y: y - x,
}


class Constants:
    """Computes values that depend on no input of a graph, and remembers them."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[Any, np.ndarray[Any, Any] | None]] = {}

    def of(self, value: Value, depth: int = _DEPTH) -> np.ndarray[Any, Any] | None:
        """Return a value's elements; None if they depend on an input, or are too many."""
        node = value.node
        if value.index or not depth or value.size > _LIMIT:
            return None
        if id(node) not in self._found:
            self._found[id(node)] = node, self._compute(value, depth)  # the node keeps its id
        return self._found[id(node)][1]

    def _compute(self, value: Value, depth: int) -> np.ndarray[Any, Any] | None:
        node, op = value.node, value.node.op
        if op is None:
            return None if node.array is None else np.asarray(node.array.asnumpy())
        if not (op.stateless and op.single) or op.mutated_inputs(node.attrs):
            return None
        inputs = []
        for read in node.inputs:
            given = (
                _anything(read.spec) if op.name in READ_NO_ELEMENTS else self.of(read, depth - 1)
            )
            if given is None:
                return None
            inputs.append(given)
        out = np.empty(value.shape, value.spec.dtype)
        op.kernel(np, out, *inputs, **node.attrs)
        return out


def _anything(spec: Spec) -> np.ndarray[Any, Any]:
    return np.broadcast_to(np.zeros((), spec.dtype), spec.shape)
