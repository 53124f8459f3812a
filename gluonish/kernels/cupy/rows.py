"""How threads share rows of elements, for sources that include ``rows.cuh``."""

from typing import Any

from gluonish.kernels.cupy.source import Macros, index, launch_blocks

THREADS = 256  # in a block, if a row has no more
MOST_THREADS = 1024
LIMIT_32 = 2**31


def power_above(number: int) -> int:
    """Return the smallest power of 2 that is not below a positive number."""
    return 1 << (number - 1).bit_length()


def targets(xp: Any, *outputs: Any) -> tuple[Any, ...]:
    """Return contiguous arrays to fill: the outputs themselves, or temporaries to copy from."""
    return tuple(x if x.flags.c_contiguous else xp.empty(x.shape, x.dtype) for x in outputs)


def copy_back(outputs: Any, made: Any) -> None:
    """Copy filled temporaries of `targets` to their outputs."""
    for out, found in zip(outputs, made, strict=True):
        if found is not out:
            out[...] = found


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
