"""The loops of an elementwise kernel.

All arrays are broadcast to the shape of the outputs, with stride 0 along broadcast axes. Axes are
sorted by the first output's strides, so that the innermost loop is contiguous. Adjacent axes merge
if the strides of all arrays allow it: contiguous arrays need one loop.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from gluonish.core.spec import Shape


class Loops(NamedTuple):
    """Nested loops, the outermost first; at least one.

    Attributes:
        strides: The stride of each array in each loop, in elements.
    """

    extents: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]


def row_major(shape: Shape) -> tuple[int, ...]:
    """Return the strides of a C-contiguous array, in elements."""
    strides = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def broadcast_strides(array: Any, array_shape: Shape, shape: Shape) -> tuple[int, ...] | None:
    """Return an array's strides, in elements, when it is broadcast to ``shape``.

    Args:
        array_shape: The array's shape, with trailing axes of size 1 if it has more axes.

    Returns:
        None for an array that is not aligned.
    """
    if not array.flags.aligned or any(step % array.itemsize for step in array.strides):
        return None
    steps = [step // array.itemsize for step in array.strides] + [0] * (
        len(array_shape) - array.ndim
    )
    return stretch(steps, array_shape, shape)


def stretch(steps: Sequence[int], array_shape: Shape, shape: Shape) -> tuple[int, ...]:
    """Return strides, ``steps`` for ``array_shape``, when broadcast to ``shape``."""
    lead = len(shape) - len(array_shape)
    return (0,) * lead + tuple(
        0 if extent == 1 else step for extent, step in zip(array_shape, steps, strict=True)
    )


def find_loops(shape: Shape, strides: Sequence[Sequence[int]]) -> Loops:
    """Return the loops over arrays of one shape.

    Args:
        strides: The strides of each array, in elements; the first array decides the order.
    """
    axes = [axis for axis, extent in enumerate(shape) if extent != 1]
    axes.sort(key=lambda axis: -abs(strides[0][axis]))
    extents: list[int] = []
    steps: list[list[int]] = []  # of each array in each loop
    for axis in axes:
        inner = [array_strides[axis] for array_strides in strides]
        if extents and all(
            outer == step * shape[axis] for outer, step in zip(steps[-1], inner, strict=True)
        ):
            extents[-1] *= shape[axis]
            steps[-1] = inner
        else:
            extents.append(shape[axis])
            steps.append(inner)
    if not extents:
        return Loops((1,), tuple((1,) for _ in strides))
    return Loops(tuple(extents), tuple(zip(*steps, strict=True)))
