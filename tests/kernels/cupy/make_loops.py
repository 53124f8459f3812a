"""The loop that each universal function of CuPy takes for each pair of dtypes; for make_surface.py.

CuPy looks a loop up without a device, for arrays whose memory is not there. ``DTYPES`` are those of
gluonish by their letters, and Python's numbers, which give way to an array's dtype.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

import cupy
import numpy as np
from cupy._core import _routines_math, _routines_statistics, core
from cupy._core._routines_logic import all as all_
from cupy._core._routines_logic import any as any_
from cupy._core._scalar import CScalar
from cupy._sorting.search import _where_ufunc
from cupyx.scipy import special

DTYPES = "?bBhHiIlLeEfdFD"
NUMBERS = {"bool": True, "int": 2, "float": 2.5, "complex": 2.5j}
# Functions that are made of one of these.
_HIDDEN = {
    "clip": _routines_math.clip,
    "where": _where_ufunc,
    "round": core._round_ufunc,
    "copy": core.elementwise_copy,
    **{
        f"special.{name}": getattr(special, name)
        for name in ("erf", "erfinv", "gamma", "gammaln", "digamma", "zeta")
    },
}
_REDUCTIONS = {
    "sum": _routines_math.sum_auto_dtype,
    "prod": _routines_math.prod_auto_dtype,
    "nansum": _routines_math.nansum_auto_dtype,
    "nanprod": _routines_math.nanprod_auto_dtype,
    "max": _routines_statistics.amax,
    "min": _routines_statistics.amin,
    "all": all_,
    "any": any_,
}


@contextmanager
def _no_memory() -> Iterator[None]:
    """Give arrays an address that nobody may touch."""

    def allocate(nbytes: int) -> Any:
        memory = cupy.cuda.UnownedMemory(1 << 40, max(nbytes, 1), object(), 0)
        return cupy.cuda.MemoryPointer(memory, 0)

    with cupy.cuda.using_allocator(allocate):
        yield


def _operands(nin: int, mask: bool) -> Iterator[list[Any]]:
    """Operands of every dtype, at most two of them different: the last stands for those after."""
    arrays = [cupy.ndarray((2,), "bfloat16" if c == "E" else c) for c in DTYPES]
    every = [*arrays, *map(CScalar, NUMBERS.values())]
    for chosen in product(every, repeat=min(nin - mask, 2)):
        yield [*arrays[:mask], *chosen, *chosen[-1:] * (nin - mask - len(chosen))]


def _row(function: Any, mask: bool = False) -> str:
    """The loops for all operands, a letter each; a point where there is none."""
    letters = []
    known = [(op.in_types, op.out_types) for op in function._ops.ops]
    for operands in _operands(function.nin, mask):
        try:
            op = function._ops.guess_routine(
                function.name, {}, operands, None, getattr(function, "_out_ops", function._ops)
            )
            letters.append(chr(ord("a") + known.index((op.in_types, op.out_types))))
        except (TypeError, ValueError, OverflowError):
            letters.append(".")
    return "".join(letters)


def loops() -> dict[str, dict[str, Any]]:
    """By a function's name: its loops as ``in->out``, and one for each tuple of operands."""
    functions = {n: getattr(cupy, n) for n in sorted(dir(cupy))}
    found = {n: f for n, f in functions.items() if isinstance(f, cupy.ufunc)} | _HIDDEN
    with _no_memory():
        return {
            name: {"types": _types(f), "taken": _row(f, mask=name == "where")}
            for name, f in found.items()
        }


def reductions() -> dict[str, str]:
    """By a reduction's name: the letter of the result for each dtype."""
    with _no_memory():
        return {name: _results(f) for name, f in _REDUCTIONS.items()}


def _results(function: Any) -> str:
    types, taken = _types(function), _row(function)
    return "".join("." if c == "." else types[ord(c) - ord("a")][-1] for c in taken[: len(DTYPES)])


def _types(function: Any) -> list[str]:
    def letters(types: tuple[Any, ...]) -> str:
        return "".join(np.dtype(t).char for t in types)

    return [f"{letters(op.in_types)}->{letters(op.out_types)}" for op in function._ops.ops]
