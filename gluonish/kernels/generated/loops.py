"""The loops of an elementwise kernel.

All arrays are broadcast to the shape of the outputs, with stride 0 along broadcast axes. Axes are
sorted by the first output's strides, so that the innermost loop is contiguous. Adjacent axes merge
if the strides of all arrays allow it: contiguous arrays need one loop.

Also source expressions for positions along an axis, truncated to integers, clipped or wrapped. They
name the array ``positions``, its index ``i``, the result ``chosen`` and the axis' extent ``count``.

Also kernel sources for arrays of 16-bit floats, derived from sources for float32. Elements are
converted on load and store, so that all arithmetic is in float32.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32
from gluonish.core.spec import Shape
from gluonish.kernels.compiler.machine_code import has_float16
from gluonish.ops.kernel import Array


class Loops(NamedTuple):
    """Nested loops over arrays, the outermost first; at least one loop.

    Attributes:
        strides: For each array, its stride in each loop, in elements.
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
        array_shape: The array's shape, possibly with trailing axes of size 1 appended.

    Returns:
        The strides; None if the array is not aligned.
    """
    if not array.flags.aligned or any(step % array.itemsize for step in array.strides):
        return None
    steps = [step // array.itemsize for step in array.strides] + [0] * (
        len(array_shape) - array.ndim
    )
    return stretch(steps, array_shape, shape)


def stretch(steps: Sequence[int], array_shape: Shape, shape: Shape) -> tuple[int, ...]:
    """Broadcast the strides ``steps`` of an array of ``array_shape`` to ``shape``."""
    lead = len(shape) - len(array_shape)
    return (0,) * lead + tuple(
        0 if extent == 1 else step for extent, step in zip(array_shape, steps, strict=True)
    )


def find_loops(shape: Shape, strides: Sequence[Sequence[int]]) -> Loops:
    """Return the loops over arrays of equal shape, with as many axes merged as possible.

    Args:
        strides: The strides of each array, in elements; those of the first decide the order.
    """
    axes = [axis for axis, extent in enumerate(shape) if extent != 1]
    axes.sort(key=lambda axis: -abs(strides[0][axis]))
    extents: list[int] = []
    steps: list[list[int]] = []  # strides of each array in each loop
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


# The view and the int64 position of each dtype. NaN and numbers out of range become the lowest
# int64, as with NumPy on most machines.
_INTEGER = "int64(positions[i])"
_TRUNCATED = (
    "select(fabs(positions[i]) < 9.223372036854775808e18, int64(positions[i]), "
    "int64(-9223372036854775808))"
)
POSITIONS: dict[np.dtype[Any], tuple[str, str]] = {
    np.dtype(name): form
    for name, form in {
        "float32": ("f32", _TRUNCATED),
        "float64": ("f64", _TRUNCATED),
        "int8": ("i8", _INTEGER),
        "uint8": ("u8", _INTEGER),
        "int32": ("i32", _INTEGER),
        "int64": ("i64", _INTEGER),
    }.items()
}

WITHIN = {  # keyed by the operator's ``mode``
    "clip": "select(chosen < 0, int64(0), select(chosen < count, chosen, count - 1))",
    "wrap": "chosen % count",
}


def readable(positions: Array) -> Array:
    """Return the positions, converted to a contiguous array of a supported dtype if necessary."""
    if positions.dtype not in POSITIONS:
        positions = positions.astype(np.int64)
    return np.ascontiguousarray(positions)


_LOAD_AND_STORE = {BFLOAT16: ("load_bf16", "store_bf16"), FLOAT16: ("load_f16", "store_f16")}


def is_narrow(dtype: np.dtype[Any]) -> bool:
    """Whether a dtype is a 16-bit float that this CPU can convert."""
    return dtype == BFLOAT16 or (dtype == FLOAT16 and has_float16())


def narrowed(source: str, names: Sequence[str], dtypes: Sequence[np.dtype[Any]]) -> str:
    """Translate a source for float32 arrays to other dtypes.

    Args:
        source: A source that reads elements only as ``name[...]``, and writes them only in lines
            ``name[...] = ...``.
        names: Names of the arrays, in the order in which the params have their addresses.
        dtypes: Dtypes of the arrays: float32, or one for which `is_narrow` is true.
    """
    for i, (name, dtype) in enumerate(zip(names, dtypes, strict=True)):
        if dtype == FLOAT32:
            continue
        load, store = _LOAD_AND_STORE[dtype]
        source = source.replace(f"f32(params[{i}])", f"u16(params[{i}])")
        source = re.sub(rf"\b({name}\[[^\]]+\])(?! = )", rf"{load}(\1)", source)
        source = re.sub(rf"( {name}\[[^\]]+\] = )(.+)", rf"\1{store}(\2)", source)
    return source
