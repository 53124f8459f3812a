"""Random words and Dropout: Philox4x32-10 in one launch, with the bits of `ops.philox`.

A CUDA graph repeats launches with the arguments that they had. So that it draws other numbers each
time, its kernels read where they start in the device's memory: the seed of their key is a
`StoredKey` then.

Float32 numbers too small to be normal become 0, as in all that CuPy compiles.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.kernels.cupy.source import launch, without_gaps
from gluonish.ops.nn.dropout import DROPOUT, drops
from gluonish.ops.support.philox import Key
from gluonish.ops.support.precision import accumulator

_MASK = 2**64 - 1
_NOWHERE = np.uint64(0)  # a null pointer


class StoredKey:
    """The key of a call in memory of the device, in place of the seed of a `Key`.

    The offset of such a key counts from the stored one on. It is no number: a kernel that computes
    with the seed on the host fails, and no graph holds it.

    Args:
        xp: CuPy; the current device and stream are those that will use it.
    """

    __slots__ = ("array",)

    def __init__(self, xp: Any) -> None:
        self.array = xp.empty((2,), np.uint64)

    def set(self, xp: Any, key: Key) -> None:
        """Store a key, on the current stream."""
        launch(xp, "philox", "set_key", FLOAT32, (self.array,), 1, _numbers(key))


def _numbers(key: Key) -> tuple[Any, Any]:
    seed, offset = key
    return np.uint64(seed & _MASK), np.uint64(offset & _MASK)


def key_arguments(key: Any) -> tuple[Any, Any, Any]:
    """Return base, seed and offset as kernels take them."""
    seed, offset = key
    if isinstance(seed, StoredKey):
        return (seed.array, *_numbers((0, offset)))
    return (_NOWHERE, *_numbers(key))


def words(xp: Any, key: Key, first: int, count: int) -> Any:
    """Return the uint32 words of ``count`` blocks of a draw, four each, from ``first`` on."""
    made = xp.empty(4 * count, np.uint32)
    launch(xp, "philox", "words", FLOAT32, (made,), count, (np.uint64(first), *key_arguments(key)))
    return made


def dropout(
    xp: ModuleType, outputs: tuple[Any, Any], data: Any, *, p: float, key: Key, **attrs: Any
) -> None:
    """Fill the outputs of Dropout as its reference kernel does."""
    out, mask = outputs
    if not drops({"p": p, **attrs}):
        DROPOUT.kernel(xp, outputs, data, p=p, key=key, **attrs)
        return
    scale = accumulator(mask.dtype).type(1 / (1 - p) if p < 1 else 0)
    numbers = (np.int64(mask.size), *key_arguments(key), np.float32(p), scale)
    threads = -(-mask.size // 4)
    if mask.shape == data.shape:
        arrays = (without_gaps(data), out, mask)
        launch(xp, "philox", "dropout", data.dtype, arrays, threads, numbers)
    else:
        launch(xp, "philox", "dropout_mask", data.dtype, (mask,), threads, numbers)
        xp.multiply(data, mask, out=out)
