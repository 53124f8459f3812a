"""Index keys whose arrays are on a device, and MXNet's helper functions for keys.

Index arrays are not copied to the host: their bounds are checked in one operation that returns a
single bool. A mask is converted to indices by the operator `nonzero`, which waits for their number.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.dtype import INT32, INT64
from gluonish.core.errors import ArgumentError
from gluonish.core.spec import Shape
from gluonish.engine import current_engine
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.registry import apply, find_operator
from gluonish_engine import Var

_BASIC, _ADVANCED = 0, 1
_NO_BOOL = -1


def indexing_key_expand_implicit_axes(
    key: Any, shape: Sequence[int]
) -> tuple[tuple[Any, ...], int]:
    """Return a key with an index for each axis, and the value of Python bools in it.

    Args:
        key: A key of an array.
        shape: The array's shape.

    Returns:
        The indices, with ``slice(None)`` for omitted axes and an ellipsis, without bools; and 1 if
        all bools are True, 0 if one is False, -1 if there are none.

    Raises:
        ArgumentError: There are several ellipses.
    """
    indices = list(key) if isinstance(key, tuple) else [key]
    flags = [k for k in indices if isinstance(k, bool | np.bool_)]
    indices = [k for k in indices if not isinstance(k, bool | np.bool_)]
    ellipses = [i for i, k in enumerate(indices) if k is Ellipsis]
    if len(ellipses) > 1:
        raise ArgumentError(f"index: expected one ellipsis at most, got {len(ellipses)}")
    used = sum(k is not None and k is not Ellipsis for k in indices)
    omitted = [slice(None)] * max(len(shape) - used, 0)
    at = ellipses[0] if ellipses else len(indices)
    return (*indices[:at], *omitted, *indices[at + 1 :]), int(all(flags)) if flags else _NO_BOOL


def get_indexing_dispatch_code(key: Sequence[Any]) -> int:
    """Return 1 for a key with arrays, lists or tuples (advanced indexing), else 0 (basic).

    Args:
        key: The indices, without an ellipsis.

    Raises:
        ArgumentError: An index has an unsupported type.
    """
    code = _BASIC
    for index in key:
        if isinstance(index, NDArray | np.ndarray | list | tuple):
            code = _ADVANCED
        elif index is not None and not isinstance(index, int | np.integer | slice):
            raise ArgumentError(
                f"index: expected integers, slices, None and arrays, got {index!r} of {type(index)}"
            )
    return code


def get_oshape_of_gather_nd_op(dshape: Sequence[int], ishape: Sequence[int]) -> tuple[int, ...]:
    """Return the shape of ``gather_nd(data, indices)``.

    Args:
        dshape: Shape of ``data``.
        ishape: Shape of ``indices``, whose first axis goes over the axes of ``data``.
    """
    return (*ishape[1:], *dshape[ishape[0] :])


class DeviceKey(NamedTuple):
    """A key with index arrays on a device.

    Attributes:
        indices: Slices, integers, None, Ellipsis and integer NDArrays.
        checked: Whether the index arrays are known to be in bounds.
    """

    indices: tuple[Any, ...]
    checked: bool

    @property
    def arrays(self) -> list[NDArray]:
        """The index arrays."""
        return [k for k in self.indices if isinstance(k, NDArray)]

    def shape_key(self) -> tuple[Any, ...]:
        """Return a NumPy key that selects the same shape."""
        return tuple(
            np.broadcast_to(np.int64(0), k.shape) if isinstance(k, NDArray) else k
            for k in self.indices
        )

    def raw(self) -> tuple[Any, ...]:
        """Return the key for raw arrays; for engine operations that read `arrays`."""
        return tuple(k._data if isinstance(k, NDArray) else k for k in self.indices)

    def bounds(self, shape: Shape) -> Iterator[tuple[NDArray, int]]:
        """Yield each index array, and the extent of the axis of ``shape`` that it indexes."""
        used = sum(k is not None and k is not Ellipsis for k in self.indices)
        axis = 0
        for k in self.indices:
            if isinstance(k, NDArray):
                yield k, shape[axis]
            if k is Ellipsis:
                axis += len(shape) - used
            elif k is not None:
                axis += 1

    def is_within(self, shape: Shape) -> bool:
        """Whether all indices are in the bounds of ``shape``; waits for them."""
        if self.checked:
            return True
        pairs = list(self.bounds(shape))
        device = pairs[0][0]._device
        found: list[bool] = []
        done = Var()

        def check() -> None:
            outside: Any = False
            for indices, extent in pairs:
                raw = indices._data
                outside |= ((raw < -extent) | (raw >= extent)).any()
            found.append(not bool(outside))

        engine = current_engine()
        engine.push(check, [k._var for k in self.arrays], [done], device.lane, 0, "getitem")
        engine.wait(done)
        return found[0]


def device_key(x: NDArray, key: Any) -> DeviceKey | None:
    """Return a key whose arrays are on the device of ``x``; None if it must go through the host."""
    indices = key if isinstance(key, tuple) else (key,)
    arrays = [k for k in indices if isinstance(k, NDArray)]
    if not x._device.streams or not arrays:
        return None
    if any(k._device is not x._device or k.stype != "default" for k in arrays):
        return None
    if any(k._spec.dtype.kind == "b" for k in arrays):
        return _mask_key(x, indices[0]) if len(indices) == 1 else None
    if not all(_is_basic_index(k) or isinstance(k, NDArray) for k in indices):
        return None
    converted = (_as_integers(k) if isinstance(k, NDArray) else k for k in indices)
    return DeviceKey(tuple(converted), checked=False)


def _is_basic_index(k: Any) -> bool:
    is_integer = isinstance(k, int | np.integer) and not isinstance(k, bool)
    return k is None or k is Ellipsis or isinstance(k, slice) or is_integer


def _as_integers(indices: NDArray) -> NDArray:
    """Return indices in a dtype that CuPy supports; floats are truncated."""
    indices = indices.detach()
    return indices if indices._spec.dtype in (INT32, INT64) else indices.astype(INT64)


def _mask_key(x: NDArray, mask: NDArray) -> DeviceKey | None:
    """Return the key of the elements where a mask is set; None if it does not fit the array."""
    if mask.shape != x.shape[: mask.ndim] or not mask.shape:
        return None
    rows = apply(find_operator("_npx_nonzero"), (mask.detach(),), {})
    columns = (rows[:, axis].reshape(-1) for axis in range(mask.ndim))
    return DeviceKey(tuple(columns), checked=True)
