"""Counter-based random numbers: Philox4x32-10 in array arithmetic, the same bits with NumPy and
CuPy.

The generator is stateless: the 32 bits at index i are a function of the key and i, so that a draw
can be repeated, split or run on any device. The 128-bit counter holds the block index in its low
half and the draw's offset in its high half, so that draws with different offsets never overlap.

References:
    J. Salmon, M. Moraes, R. Dror, D. Shaw, Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011.
    G. Box, M. Muller, A Note on the Generation of Random Normal Deviates, 1958.
"""

import math
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32, FLOAT64

Key = tuple[int, int]
BitsKernel = Callable[[ModuleType, Key, int, int], Any]
_device_bits: list[BitsKernel] = []  # at most one, set by `set_device_bits`
# At most one pair, set by `set_device_keys`.
_device_keys: list[tuple[Callable[[ModuleType, Any, Key], None], Callable[[Any], Key]]] = []

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_MASK = 0xFFFFFFFF
_ALL = 2**64 - 1
_FACTORS = (0xD2511F53, 0xCD9E8D57)
_MULTIPLIERS = tuple(map(np.uint64, _FACTORS))
_WEYL = (0x9E3779B9, 0xBB67AE85)
_ROUNDS = 10

# Blocks of four uint32 per chunk: seven arrays of 64 KiB stay in the L2 cache; GPUs need few and
# long kernels.
_CHUNK = 1 << 13
_CHUNK_GPU = 1 << 22

# Number of uint32 up to which Python ints are faster than NumPy: 4 us for four, against 100 us.
_FEW = 32

# Random bits that exactly fill a dtype's significand, so that rounding never yields 1.
_BITS = {FLOAT16: 11, BFLOAT16: 8, FLOAT32: 24}
_BELOW_ONE = np.float32(1 - 2.0**-24)


def philox4x32(xp: ModuleType, counter: list[Any], key: Key) -> list[Any]:
    """Return the four 32-bit outputs of Philox4x32-10 for each counter.

    Args:
        counter: Four uint64 arrays of one shape, each with values below 2**32; overwritten.
        key: Two integers below 2**32.

    Returns:
        Four uint64 arrays of that shape, with values below 2**32.
    """
    c0, c1, c2, c3 = counter
    product0, product1 = xp.empty_like(c0), xp.empty_like(c0)
    k0, k1 = key
    for _ in range(_ROUNDS):
        xp.multiply(c0, _MULTIPLIERS[0], out=product0)
        xp.multiply(c2, _MULTIPLIERS[1], out=product1)
        _mix(xp, product1, c1, np.uint64(k0), c0)
        _mix(xp, product0, c3, np.uint64(k1), c2)
        xp.bitwise_and(product1, _LOW, out=c1)
        xp.bitwise_and(product0, _LOW, out=c3)
        k0 = (k0 + _WEYL[0]) & 0xFFFFFFFF
        k1 = (k1 + _WEYL[1]) & 0xFFFFFFFF
    return [c0, c1, c2, c3]


def _mix(xp: ModuleType, product: Any, word: Any, key: np.uint64, out: Any) -> None:
    xp.right_shift(product, _HALF, out=out)
    xp.bitwise_xor(out, word, out=out)
    xp.bitwise_xor(out, key, out=out)


def set_device_bits(kernel: BitsKernel) -> None:
    """Register a device kernel that generates the same bits faster than array arithmetic.

    Args:
        kernel: Called with the array module, the key, the first block and the number of blocks;
            returns an array of four uint32 per block.
    """
    _device_bits[:] = [kernel]


def set_device_keys(
    store: Callable[[ModuleType, Any, Key], None], load: Callable[[Any], Key]
) -> None:
    """Register what `store_key` and `stored_key` do on devices."""
    _device_keys[:] = [(store, load)]


def store_key(xp: ModuleType, out: Any, key: Key) -> None:
    """Store a key in an int64 array (2,), for `stored_key`."""
    if _device_keys and xp is not np:
        _device_keys[0][0](xp, out, key)
    else:
        out[...] = np.array([part & _ALL for part in key], np.uint64).view(np.int64)


def stored_key(xp: ModuleType, stored: Any) -> Key:
    """Return the key in an array; on a device one that kernels read there."""
    if _device_keys and xp is not np:
        return _device_keys[0][1](stored)
    seed, offset = stored.view(np.uint64).tolist()
    return seed, offset


def _chunks(xp: ModuleType, key: Key, n: int) -> Iterator[tuple[int, Any]]:
    """Yield the offset and the uint32 values of each chunk of ``n`` values, in order."""
    if n <= _FEW and xp is np:
        yield 0, np.array(_few_bits(key, n), dtype=np.uint32)
        return
    blocks = -(-n // 4)
    size = _CHUNK if xp is np else _CHUNK_GPU
    make = _device_bits[0] if _device_bits and xp is not np else _bits_of_blocks
    for first in range(0, blocks, size):
        made = make(xp, key, first, min(size, blocks - first))
        yield 4 * first, made[: n - 4 * first]


def _bits_of_blocks(xp: ModuleType, key: Key, first: int, count: int) -> Any:
    """Return the bits of ``count`` blocks by array arithmetic."""
    seed, offset = key
    index = xp.arange(first, first + count, dtype=np.uint64)
    counter = [
        index & _LOW,
        index >> _HALF,
        xp.full_like(index, offset & _MASK),
        xp.full_like(index, offset >> 32 & _MASK),
    ]
    made = xp.empty((count, 4), dtype=np.uint32)
    for i, column in enumerate(philox4x32(xp, counter, (seed & _MASK, seed >> 32 & _MASK))):
        made[:, i] = column
    return made.reshape(-1)


def _few_bits(key: Key, n: int) -> list[int]:
    """Return the first ``n`` uint32 of a draw, with Python ints: arrays of one block are slow."""
    seed, offset = key
    bits: list[int] = []
    for block in range(-(-n // 4)):
        c0, c1, c2, c3 = block, 0, offset & _MASK, offset >> 32 & _MASK
        k0, k1 = seed & _MASK, seed >> 32 & _MASK
        for _ in range(_ROUNDS):
            a, b = c0 * _FACTORS[0], c2 * _FACTORS[1]
            c0, c1, c2, c3 = b >> 32 ^ c1 ^ k0, b & _MASK, a >> 32 ^ c3 ^ k1, a & _MASK
            k0, k1 = (k0 + _WEYL[0]) & _MASK, (k1 + _WEYL[1]) & _MASK
        bits += (c0, c1, c2, c3)
    return bits[:n]


def random_bits(xp: ModuleType, key: Key, n: int) -> Any:
    """Return ``n`` uint32 of independent random bits.

    Args:
        key: Seed and offset of the draw, 64 bits each; equal keys give equal bits.
    """
    out = xp.empty(n, dtype=np.uint32)
    for start, bits in _chunks(xp, key, n):
        out[start : start + bits.size] = bits
    return out


def bits_at(xp: ModuleType, key: Key, index: Any, attempt: int) -> list[Any]:
    """Return four times 32 random bits for each element of ``index``.

    They depend only on the key, the element's index and ``attempt``, so that rejection samplers
    give each element an independent stream.

    Args:
        key: Seed and offset of the draw.
        index: Indices of the elements, below 2**48.
        attempt: Number of the attempt, below 2**16.

    Returns:
        Four uint64 arrays, with values below 2**32.
    """
    seed, offset = key
    index = index.astype(np.uint64)
    counter = [
        index & _LOW,
        (index >> _HALF) | np.uint64(attempt << 16),
        xp.full_like(index, offset & 0xFFFFFFFF),
        xp.full_like(index, offset >> 32 & 0xFFFFFFFF),
    ]
    return philox4x32(xp, counter, (seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF))


def uniform(
    xp: ModuleType, key: Key, shape: tuple[int, ...], dtype: np.dtype[Any] = FLOAT32
) -> Any:
    """Return uniform numbers on [0, 1).

    A float32 is 32 random bits, rounded: programs take logarithms of such numbers, so 0 must be as
    rare as possible. 16-bit floats are evenly spaced and exact.
    """
    dtype = np.dtype(dtype)
    if dtype != FLOAT32:
        return uniform_steps(xp, key, shape, dtype)
    out = xp.empty(math.prod(shape), dtype=dtype)
    scale = np.float32(2.0**-32)
    for start, bits in _chunks(xp, key, out.size):
        chunk = out[start : start + bits.size]
        xp.multiply(bits.astype(np.float32), scale, out=chunk)
        xp.minimum(chunk, _BELOW_ONE, out=chunk)
    return out.reshape(shape)


def uniform_steps(
    xp: ModuleType, key: Key, shape: tuple[int, ...], dtype: np.dtype[Any] = FLOAT32
) -> Any:
    """Return uniform numbers on [0, 1), evenly spaced and exact in ``dtype``.

    They are for comparisons with a probability.
    """
    dtype = np.dtype(dtype)
    out = xp.empty(math.prod(shape), dtype=dtype)
    if dtype == FLOAT64:
        for start, bits in _chunks(xp, key, 2 * out.size):
            high, low = bits[0::2] >> np.uint32(5), bits[1::2] >> np.uint32(6)
            out[start // 2 : start // 2 + high.size] = (high * 67108864.0 + low) * 2.0**-53
    else:
        num_bits = _BITS[dtype]
        scale = np.float32(2.0**-num_bits)
        for start, bits in _chunks(xp, key, out.size):
            top = (bits >> np.uint32(32 - num_bits)).astype(np.float32)
            out[start : start + bits.size] = xp.multiply(top, scale, out=top)
    return out.reshape(shape)


def uniform_number(key: Key) -> float:
    """Return what `uniform` returns for one float64, at a tenth of the cost."""
    high, low = _few_bits(key, 2)
    return ((high >> 5) * 67108864.0 + (low >> 6)) * 2.0**-53


def normal(xp: ModuleType, key: Key, shape: tuple[int, ...], dtype: np.dtype[Any] = FLOAT32) -> Any:
    """Return standard normal numbers by the Box-Muller transform.

    They are computed in float64 if ``dtype`` is float64, else in float32.
    """
    dtype = np.dtype(dtype)
    work = np.float64 if dtype == FLOAT64 else np.float32
    out = xp.empty(math.prod(shape), dtype=dtype)
    for start, bits in _chunks(xp, key, out.size + out.size % 2):
        # Half a step off zero keeps the logarithm finite.
        radius = (bits[0::2].astype(work) + work(0.5)) * work(2.0**-32)
        xp.log(radius, out=radius)
        radius *= work(-2)
        xp.sqrt(xp.maximum(radius, work(0), out=radius), out=radius)
        angle = bits[1::2].astype(work)
        angle *= work(2 * math.pi * 2.0**-32)
        made = xp.empty(bits.size, dtype=work)
        xp.multiply(radius, xp.cos(angle), out=made[0::2])
        xp.multiply(radius, xp.sin(angle), out=made[1::2])
        out[start : start + bits.size] = made[: out.size - start]
    return out.reshape(shape)
