"""The arguments of `export_model` in one form: shapes with dynamic axes, types, the opset."""

import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import ArgumentError
from gluonish.core.numpy_mode import is_np_shape
from gluonish.onnx.exporting.package import newest_opset
from gluonish.onnx.exporting.tensors import Extent, OpenExtent

OLDEST_OPSET = 13
# Has LayerNormalization and bitwise operators; runtimes of 2023 and later read it.
DEFAULT_OPSET = 18
# Dynamic axes are traced with two sizes, to find the extents that depend on them. The defaults:
_FIRST_BATCH, _FIRST_SPACE = 2, 64


def opset_of(opset: int | None) -> int:
    """Return the version of ONNX's operators to write.

    Raises:
        ArgumentError: It is not one that can be written.
    """
    if opset is None:
        return min(DEFAULT_OPSET, newest_opset())
    if not (
        isinstance(opset, numbers.Integral)
        and int(opset) in range(OLDEST_OPSET, newest_opset() + 1)
    ):
        raise ArgumentError(
            f"export_model: expected an opset_version from {OLDEST_OPSET} to {newest_opset()}, "
            f"which the installed package onnx knows, got {opset!r}"
        )
    return int(opset)


def dtypes_of(types: Any) -> list[np.dtype[Any]]:
    """Return the element types of the inputs: one for all, or one for each."""
    several = types if isinstance(types, list | tuple) else [types]
    return [normalize_dtype(dtype) for dtype in several]


def shapes_of(
    shapes: Any, dynamic: Any
) -> tuple[list[tuple[Extent, ...]], Mapping[OpenExtent, str]]:
    """Return the shapes of the inputs, and the names of their dynamic axes.

    Args:
        shapes: A shape for each input. None, -1, 0 or a name marks a dynamic axis.
        dynamic: None, or shapes in which None or a name marks the dynamic axes; True for all axes.

    Raises:
        ArgumentError: These are no shapes, or both do not fit each other.
    """
    given = _as_shapes(shapes, "in_shapes")
    marks: list[Sequence[Any]]
    if dynamic is True:
        marks = [[None] * len(shape) for shape in given]
    elif dynamic is None:
        marks = [list(shape) for shape in given]
    else:
        marks = list(_as_shapes(dynamic, "dynamic_input_shapes"))
    if [len(shape) for shape in given] != [len(shape) for shape in marks]:
        raise ArgumentError(
            "export_model: expected dynamic_input_shapes with as many axes as in_shapes, got "
            f"{dynamic} for {given}"
        )
    named: dict[str, OpenExtent] = {}
    found = [
        tuple(
            _extent(size, mark, index, axis, named)
            for axis, (size, mark) in enumerate(zip(shape, own, strict=True))
        )
        for index, (shape, own) in enumerate(zip(given, marks, strict=True))
    ]
    return found, {extent: name for name, extent in named.items()}


def _as_shapes(shapes: Any, name: str) -> list[tuple[Any, ...]]:
    if shapes is None:
        return []
    if isinstance(shapes, tuple) and not any(isinstance(x, list | tuple) for x in shapes):
        shapes = [shapes]  # the shape of the one input
    if not isinstance(shapes, list | tuple) or not all(isinstance(s, list | tuple) for s in shapes):
        raise ArgumentError(
            f"export_model: expected {name} to be a list of shapes, one for each input, got "
            f"{shapes!r}"
        )
    return [tuple(shape) for shape in shapes]


def _is_size(x: Any) -> bool:
    """Whether a value is an extent; 0 is an unknown one, except under NumPy shape semantics."""
    return isinstance(x, numbers.Integral) and int(x) >= (0 if is_np_shape() else 1)


def _may_be_open(x: Any) -> bool:
    """Whether a value is a size, or marks a dynamic axis: None, -1, or 0 for an unknown one."""
    return x is None or (isinstance(x, numbers.Integral) and int(x) >= -1)


def _extent(size: Any, mark: Any, index: int, axis: int, named: dict[str, OpenExtent]) -> Extent:
    if _is_size(mark):
        return int(size if _is_size(size) else mark)
    word = next((x for x in (mark, size) if isinstance(x, str)), None)
    if word is None and not all(map(_may_be_open, (size, mark))):
        raise ArgumentError(f"export_model: expected a size, None or a name, got {mark!r}")
    name = word if word is not None else ("batch" if axis == 0 else f"input{index}_axis{axis}")
    if name not in named:
        first = int(size) if _is_size(size) else (_FIRST_BATCH if axis == 0 else _FIRST_SPACE)
        # Different sizes for each name distinguish the names; 32 is a multiple of
        # the usual strides of networks.
        step = 32 * (1 + len(named)) if axis else 1 + len(named)
        named[name] = OpenExtent(first, first + step)
    return named[name]
