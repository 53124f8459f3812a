"""Keys of indexing, on the host and as arrays on a device.

The positions are not copied to the host. That they lie in range is asked in one operation, whose
answer is a single number; a mask becomes positions by the operator `nonzero`, which has to wait for
how many there are.
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
    """Return an index with a part for each axis, and the plain bool among its parts.

    Args:
        key: An index of an array.
        shape: The array's shape.

    Returns:
        The parts, where slices stand for what the index leaves out and for an ellipsis; and 1 for
        True among the parts, 0 for False, -1 for neither. It is not in the tuple.

    Raises:
        ArgumentError: There are several ellipses.
    """
    parts = list(key) if isinstance(key, tuple) else [key]
    flags = [part for part in parts if isinstance(part, bool | np.bool_)]
    parts = [part for part in parts if not isinstance(part, bool | np.bool_)]
    ellipses = [i for i, part in enumerate(parts) if part is Ellipsis]
    if len(ellipses) > 1:
        raise ArgumentError(f"index: expected one ellipsis at most, got {len(ellipses)}")
    taken = sum(part is not None and part is not Ellipsis for part in parts)
    whole = [slice(None)] * max(len(shape) - taken, 0)
    at = ellipses[0] if ellipses else len(parts)
    return (*parts[:at], *whole, *parts[at + 1 :]), int(all(flags)) if flags else _NO_BOOL


def get_indexing_dispatch_code(key: Sequence[Any]) -> int:
    """Return 1 if an index has arrays, lists or tuples among its parts, 0 if it has none.

    Args:
        key: The parts, with no ellipsis.

    Raises:
        ArgumentError: A part is nothing that an array is indexed by.
    """
    code = _BASIC
    for part in key:
        if isinstance(part, NDArray | np.ndarray | list | tuple):
            code = _ADVANCED
        elif part is not None and not isinstance(part, int | np.integer | slice):
            raise ArgumentError(
                f"index: expected integers, slices, None and arrays, got {part!r} of {type(part)}"
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
    """A key with arrays of positions on a device.

    Attributes:
        parts: What stands for each axis: slices, integers, None, Ellipsis and int NDArrays.
        checked: Whether the positions are known to lie in range.
    """

    parts: tuple[Any, ...]
    checked: bool

    @property
    def arrays(self) -> list[NDArray]:
        """The arrays of positions."""
        return [part for part in self.parts if isinstance(part, NDArray)]

    def like_numpy(self) -> tuple[Any, ...]:
        """Return a key that selects the same shape of a NumPy array."""
        return tuple(
            np.broadcast_to(np.int64(0), part.shape) if isinstance(part, NDArray) else part
            for part in self.parts
        )

    def raw(self) -> tuple[Any, ...]:
        """Return the key for the device's arrays; for engine operations that read `arrays`."""
        return tuple(part._data if isinstance(part, NDArray) else part for part in self.parts)

    def bounds(self, shape: Shape) -> Iterator[tuple[NDArray, int]]:
        """Yield each array of positions, and the extent of the axis of ``shape`` it goes along."""
        used = sum(part is not None and part is not Ellipsis for part in self.parts)
        axis = 0
        for part in self.parts:
            if isinstance(part, NDArray):
                yield part, shape[axis]
            if part is Ellipsis:
                axis += len(shape) - used
            elif part is not None:
                axis += 1

    def is_within(self, shape: Shape) -> bool:
        """Whether all positions lie in an array of that shape; waits for them.

        Args:
            shape: The array's, with an axis for each part of the key.
        """
        if self.checked:
            return True
        pairs = list(self.bounds(shape))
        device = pairs[0][0]._device
        found: list[bool] = []
        known = Var()

        def look() -> None:
            outside: Any = False
            for positions, extent in pairs:
                raw = positions._data
                outside |= ((raw < -extent) | (raw >= extent)).any()
            found.append(not bool(outside))

        engine = current_engine()
        engine.push(look, [part._var for part in self.arrays], [known], device.lane, 0, "getitem")
        engine.wait(known)
        return found[0]


def device_key(x: NDArray, key: Any) -> DeviceKey | None:
    """Return a key whose arrays stay where they are; None if the key has to go over the host.

    Args:
        x: What is indexed.
        key: What Python gives to ``__getitem__``.
    """
    parts = key if isinstance(key, tuple) else (key,)
    arrays = [part for part in parts if isinstance(part, NDArray)]
    if not x._device.streams or not arrays:
        return None
    if any(part._device is not x._device or part.stype != "default" for part in arrays):
        return None
    if any(part._spec.dtype.kind == "b" for part in arrays):
        return _of_mask(x, parts[0]) if len(parts) == 1 else None
    if not all(_is_plain(part) or isinstance(part, NDArray) for part in parts):
        return None
    whole = (_positions(part) if isinstance(part, NDArray) else part for part in parts)
    return DeviceKey(tuple(whole), checked=False)


def _is_plain(part: Any) -> bool:
    """Whether this selects along one axis, or makes one, without an array."""
    whole = isinstance(part, int | np.integer) and not isinstance(part, bool)
    return part is None or part is Ellipsis or isinstance(part, slice) or whole


def _positions(part: NDArray) -> NDArray:
    """Return positions as integers that CuPy takes; fractions are cut off."""
    part = part.detach()
    known = part._spec.dtype in (INT32, INT64)
    return part if known else part.astype(INT64)


def _of_mask(x: NDArray, mask: NDArray) -> DeviceKey | None:
    """Return the positions where a mask is set; None if it does not fit the array."""
    if mask.shape != x.shape[: mask.ndim] or not mask.shape:
        return None
    rows = apply(find_operator("_npx_nonzero"), (mask.detach(),), {})
    columns = (rows[:, axis].reshape(-1) for axis in range(mask.ndim))
    return DeviceKey(tuple(columns), checked=True)
