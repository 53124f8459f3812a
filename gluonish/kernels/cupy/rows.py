"""How threads share rows of elements, for sources that include ``rows.cuh``."""

from math import gcd
from typing import Any

from gluonish.kernels.cupy.copies import copy
from gluonish.kernels.cupy.source import (
    VECTOR_NBYTES,
    Macros,
    index,
    is_aligned,
    launch_blocks,
)
from gluonish.ops.support.precision import accumulator

THREADS = 256  # in a block, if a row has no more
MOST_THREADS = 1024
LIMIT_32 = 2**31

_HELD_NBYTES = 128  # of a row in the registers of a thread
# Accesses of a thread to the row that it holds. There are few, as each is another kernel.
_HELD = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)


def power_above(number: int) -> int:
    """Return the smallest power of 2 that is not below a positive number."""
    return 1 << (number - 1).bit_length()


def accesses(size: int, dtype: Any, arrays: tuple[Any, ...]) -> tuple[int, Macros]:
    """Return how many adjacent elements of rows of ``size`` a thread has, and macros.

    The number does not depend on addresses, so that equal values have equal sums at any address.
    """
    width = gcd(size, VECTOR_NBYTES // dtype.itemsize)
    return width, (("ACCESS", width), ("ALIGNED", int(width == 1 or is_aligned(*arrays))))


def held_row(size: int, dtype: Any, arrays: tuple[Any, ...]) -> tuple[int, Macros]:
    """Return threads per row, and macros, of a kernel that holds rows in registers if they fit.

    Args:
        size: Elements of a row.
        dtype: Their dtype.
        arrays: Arrays of such rows, or of one.
    """
    held = _HELD_NBYTES // accumulator(dtype).itemsize
    if size > THREADS * held:
        return MOST_THREADS, (("HELD", 0),)
    width, macros = accesses(size, dtype, arrays)
    lanes = min(32, power_above(-(-size // width)))
    while lanes * held < size:
        lanes *= 2
    count = next(n for n in _HELD if n * lanes * width >= size)
    return lanes, (("HELD", count), ("FULL", int(count * lanes * width == size)), *macros)


def targets(xp: Any, *outputs: Any) -> tuple[Any, ...]:
    """Return contiguous arrays to fill: the outputs themselves, or temporaries to copy from."""
    return tuple(x if x.flags.c_contiguous else xp.empty(x.shape, x.dtype) for x in outputs)


def copy_back(xp: Any, outputs: Any, made: Any) -> None:
    """Copy filled temporaries of `targets` to their outputs."""
    for out, found in zip(outputs, made, strict=True):
        if found is not out:
            copy(xp, out, found)


def launch_rows(
    xp: Any,
    name: str,
    function: str,
    arrays: tuple[Any, ...],
    shape: tuple[int, int],
    lanes: int,
    numbers: tuple[Any, ...] = (),
    macros: Macros = (),
    *,
    data: Any,
) -> None:
    """Run a kernel with ``lanes`` threads per row.

    Args:
        name: Name of the source.
        function: The kernel; its parameters are the arrays, ``Index`` numbers of rows and of
            elements per row, and ``numbers``.
        arrays: Contiguous arrays.
        shape: Number of rows, and of elements per row.
        lanes: Threads per row, a power of 2.
        numbers: NumPy scalars of exactly the parameters' types.
        macros: Additional macros of the source.
        data: The array of elements, whose dtype is Scalar in the source.
    """
    rows, size = shape
    wide = data.size >= LIMIT_32
    threads = max(THREADS, lanes)
    args = (*arrays, index(rows, wide), index(size, wide), *numbers)
    macros = (("LANES", lanes), ("THREADS", threads), *macros)
    blocks = (-(-rows * lanes // threads),)
    launch_blocks(xp, name, function, data.dtype, args, blocks, threads, macros, wide=wide)
