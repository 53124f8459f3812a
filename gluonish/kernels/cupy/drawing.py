"""Random words and Dropout: Philox4x32-10 in one launch, with the bits of `ops.philox`.

Float32 numbers too small to be normal become 0, as in all that CuPy compiles.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.kernels.cupy.source import launch, without_gaps
from gluonish.ops.dropout import DROPOUT, drops
from gluonish.ops.support.philox import Key
from gluonish.ops.support.precision import accumulator

__all__ = ["dropout", "words"]


def _key(key: Key) -> tuple[Any, Any]:
    """Return seed and offset as kernels take them."""
    seed, offset = key
    return np.uint64(seed & 2**64 - 1), np.uint64(offset & 2**64 - 1)


def words(xp: Any, key: Key, first: int, count: int) -> Any:
    """Return the uint32 words of ``count`` blocks of a draw, four each, from ``first`` on."""
    made = xp.empty(4 * count, np.uint32)
    launch(xp, "philox", "words", FLOAT32, (made,), count, (np.uint64(first), *_key(key)))
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
    numbers = (np.int64(mask.size), *_key(key), np.float32(p), scale)
    threads = -(-mask.size // 4)
    if mask.shape == data.shape:
        arrays = (without_gaps(data), out, mask)
        launch(xp, "philox", "dropout", data.dtype, arrays, threads, numbers)
    else:
        launch(xp, "philox", "dropout_mask", data.dtype, (mask,), threads, numbers)
        xp.multiply(data, mask, out=out)
