"""Random bits and Dropout: Philox4x32-10 in one launch, with the bits of `ops.support.philox`.

A CUDA graph repeats launches with the same arguments. To draw other numbers each time, captured
kernels read their key from device memory: the seed of the key is then a `StoredKey`.

Subnormal float32 numbers become 0, as in all kernels that CuPy compiles.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.kernels.cupy.copies import contiguous, contiguous_target
from gluonish.kernels.cupy.source import launch
from gluonish.ops.nn.dropout import DROPOUT, drops
from gluonish.ops.support.philox import Key
from gluonish.ops.support.precision import accumulator

_MASK = 2**64 - 1
_NULL = np.uint64(0)


class StoredKey:
    """A random key in device memory, which replaces the seed of a `Key`.

    The offset of such a key is relative to the stored one. It is not a number: a kernel that
    computes with the seed on the host fails, and cannot be captured.

    Args:
        xp: CuPy; the device and stream that will use the key must be current.
        array: Memory that holds a key: 16 bytes; None for new memory.
    """

    __slots__ = ("array",)

    def __init__(self, xp: Any, array: Any = None) -> None:
        self.array = xp.empty((2,), np.uint64) if array is None else array

    def set(self, xp: Any, key: Key) -> None:
        """Set the key, on the current stream."""
        launch(xp, "philox", "set_key", FLOAT32, (self.array,), 1, _numbers(key))


def _numbers(key: Key) -> tuple[Any, Any]:
    seed, offset = key
    return np.uint64(seed & _MASK), np.uint64(offset & _MASK)


def key_arguments(key: Any) -> tuple[Any, Any, Any]:
    """Return base, seed and offset as kernel arguments."""
    seed, offset = key
    if isinstance(seed, StoredKey):
        return (seed.array, *_numbers((0, offset)))
    return (_NULL, *_numbers(key))


def store_key(xp: Any, out: Any, key: Any) -> None:
    """Store a key, itself a stored one under capture, in an int64 array (2,)."""
    launch(xp, "philox", "store_key", FLOAT32, (out,), 1, key_arguments(key))


def load_key(stored: Any) -> Any:
    """Return the key that `store_key` stored, for kernels to read it from there."""
    return StoredKey(None, stored), 0


def random_bits(xp: Any, key: Key, first: int, count: int) -> Any:
    """Return ``count`` Philox blocks of four uint32 each, starting with block ``first``."""
    made = xp.empty(4 * count, np.uint32)
    launch(
        xp,
        "philox",
        "random_bits",
        FLOAT32,
        (made,),
        count,
        (np.uint64(first), *key_arguments(key)),
    )
    return made


def dropout(
    xp: ModuleType, outputs: tuple[Any, Any], data: Any, *, p: float, key: Key, **attrs: Any
) -> None:
    """Compute Dropout."""
    out, mask = outputs
    if not drops({"p": p, **attrs}):
        DROPOUT.kernel(xp, outputs, data, p=p, key=key, **attrs)
        return
    scale = accumulator(mask.dtype).type(1 / (1 - p) if p < 1 else 0)
    numbers = (np.int64(mask.size), *key_arguments(key), np.float32(p), scale)
    threads = -(-mask.size // 4)
    if mask.shape == data.shape:
        with contiguous_target(xp, out) as filled, contiguous_target(xp, mask) as drawn:
            arrays = (contiguous(xp, data), filled, drawn)
            launch(xp, "philox", "dropout", data.dtype, arrays, threads, numbers)
    else:
        with contiguous_target(xp, mask) as drawn:
            launch(xp, "philox", "dropout_mask", data.dtype, (drawn,), threads, numbers)
        xp.multiply(data, mask, out=out)
