"""How a kernel on single elements goes through memory: the axes of its loops.

All arrays are seen in the shape of the outputs, with stride 0 where they are stretched. Axes are
sorted by the first output's strides, so that the innermost one runs through memory, and
neighbouring axes become one wherever all arrays allow it: arrays that lie alike give one loop.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from gluonish.core.spec import Shape


class Loops(NamedTuple):
    """Nested loops, the outermost first.

    Attributes:
        extents: Of each loop; at least one.
        strides: For each array, in elements, its step in each loop.
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


def broadcast_strides(array: Any, own: Shape, shape: Shape) -> tuple[int, ...] | None:
    """Return an array's strides in elements when it is stretched to ``shape``.

    Args:
        own: The shape that broadcasts, of as many elements as the array; axes of size 1 are
            added behind.

    Returns:
        None for an array with elements off their alignment.
    """
    if not array.flags.aligned or any(step % array.itemsize for step in array.strides):
        return None
    steps = [step // array.itemsize for step in array.strides] + [0] * (len(own) - array.ndim)
    return stretch(steps, own, shape)


def stretch(steps: Sequence[int], own: Shape, shape: Shape) -> tuple[int, ...]:
    """Return the strides of an array of shape ``own``, here ``steps``, stretched to ``shape``."""
    lead = len(shape) - len(own)
    return (0,) * lead + tuple(
        0 if extent == 1 else step for extent, step in zip(own, steps, strict=True)
    )


def find_loops(shape: Shape, strides: Sequence[Sequence[int]]) -> Loops:
    """Return the loops over arrays of one shape.

    Args:
        shape: Extents.
        strides: Of each array, in elements; the first decides the order.
    """
    axes = [axis for axis, extent in enumerate(shape) if extent != 1]
    axes.sort(key=lambda axis: -abs(strides[0][axis]))
    extents: list[int] = []
    steps: list[list[int]] = []  # for each loop, that of each array
    for axis in axes:
        inner = [own[axis] for own in strides]
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
