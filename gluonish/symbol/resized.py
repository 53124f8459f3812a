"""Resizing of an executor's arrays, in the same memory if that is large enough."""

from collections.abc import Mapping
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.core.spec import Shape, Spec
from gluonish.ndarray.creation import zeros
from gluonish.ndarray.ndarray import NDArray
from gluonish.symbol.shapes import infer_shape
from gluonish.symbol.symbol import Symbol

Arrays = list[NDArray]
Named = Mapping[str, NDArray]


def fitted(array: NDArray, shape: Shape) -> NDArray:
    """Return an array of the given shape in the memory of another, which may be larger.

    Args:
        array: Array whose memory is used; returned unchanged if it has the shape.
        shape: Shape of the result.
    """
    if array.shape == shape:
        return array
    spec = Spec(shape, array._spec.dtype)
    raw = array._make_contiguous().reshape(-1)[: spec.size].reshape(shape)
    return NDArray(raw, spec, array._device, array._var)


def resized_arrays(
    symbol: Symbol,
    arrays: tuple[Named, Mapping[str, NDArray | None], Named],
    given: Mapping[str, Any],
    *,
    partial_shaping: bool,
    allow_up_sizing: bool,
) -> tuple[Arrays, list[NDArray | None], Arrays]:
    """Return an executor's arguments, gradients and auxiliary states in other shapes.

    Args:
        symbol: The graph.
        arrays: The current arguments, gradients and auxiliary states, by name.
        given: New shapes by argument name.
        partial_shaping: Whether shapes of arguments that are not listed may change, too.
        allow_up_sizing: Whether arrays may grow, which allocates new memory.

    Raises:
        ArgumentError: A shape changes or grows without permission, or cannot be inferred.
    """
    arguments, gradients, auxiliary = arrays
    unknown = [name for name in given if name not in arguments]
    if unknown:
        raise ArgumentError(f"reshape: expected arguments among {[*arguments]}, got {unknown}")
    shapes, _, states = infer_shape(symbol, **given)
    if shapes is None:
        raise ArgumentError(
            "reshape: expected enough shapes to infer those of all arguments, got "
            f"{dict(given) or 'none'}; give the shapes of more arguments"
        )

    def resize(name: str, array: NDArray, shape: Shape) -> NDArray:
        if shape != array.shape and name not in given and not partial_shaping:
            raise ArgumentError(
                f"reshape: expected {name} to keep its shape {array.shape}, got {shape}; set "
                "partial_shaping=True if that is intended"
            )
        if array.stype != "default":  # a sparse array has no dense memory to share
            same = shape == array.shape
            return array if same else zeros(shape, array.context, array.dtype, array.stype)
        if Spec(shape, array._spec.dtype).size <= array.size:
            return fitted(array, shape)
        if not allow_up_sizing:
            raise ArgumentError(
                f"reshape: expected {name} not to grow from {array.shape}, got {shape}; set "
                "allow_up_sizing=True to allocate new memory"
            )
        return zeros(shape, array.context, array.dtype)

    named = dict(zip(arguments, shapes, strict=True))
    grown = [resize(name, x, named[name]) for name, x in arguments.items()]
    slopes = [None if x is None else resize(name, x, named[name]) for name, x in gradients.items()]
    moved = [
        resize(name, x, shape) for (name, x), shape in zip(auxiliary.items(), states, strict=True)
    ]
    return grown, slopes, moved
