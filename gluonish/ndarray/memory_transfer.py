"""Moving the values of an array into another one by its memory, where a copy is not needed.

Weights that are loaded into a network that has some would be read and then copied, which takes as
long again. The memory that they were read into can take the place of the weights' own, unless that
has another user: a view, an executor's or optimizer's reference, an export by DLPack. All of them
refer to the NumPy array or to the one that it is a view of, so its references are counted.
"""

import sys
from collections.abc import Sequence
from functools import partial
from threading import get_ident
from types import SimpleNamespace
from typing import Any

import numpy as np

from gluonish.engine import submit
from gluonish.ndarray.ndarray import NDArray

# A copy of fewer elements costs less than finding out whether it is needed.
_LEAST_SIZE = 4096


def write_into(source: NDArray, targets: Sequence[NDArray], taken: bool) -> None:
    """Write the values of an array into others of its shape.

    Every handle and view of a target has the new values then. The only target gets the memory of
    a source that is taken, where nobody else uses that of either.

    Args:
        source: The array.
        targets: Where to; their dtypes are kept.
        taken: Whether nobody but the caller has the source, who does not use it afterwards.
    """
    if taken and len(targets) == 1 and _may_move(source, targets[0]):
        targets[0]._check_writable("copyto")
        if _has_moved(source, targets[0]):
            return
    for target in targets:
        source.copyto(target)


def _has_moved(source: NDArray, target: NDArray) -> bool:
    """Replace the target's memory where nothing is pending on it; return whether that was done."""
    moved: list[bool] = []
    run = partial(_move, source, target, get_ident(), moved)
    lane = target._device.lane
    submit(run, [source._var], [target._var], lane, "_copyto", small=True)
    return bool(moved)


def _may_move(source: NDArray, target: NDArray) -> bool:
    if not source.stype == target.stype == "default" or source._spec != target._spec:
        return False
    near = source._device is target._device and source._device.is_host
    return near and source.size >= _LEAST_SIZE


def _move(source: NDArray, target: NDArray, thread: int, moved: list[bool]) -> None:
    # In another thread the caller may be about to use the target's memory.
    if thread == get_ident() and _is_private(source, "_data") and _is_private(target, "_data"):
        target._data = source._data
        moved.append(True)


def _references(owner: Any, name: str) -> int:
    return sys.getrefcount(getattr(owner, name))


# Of an object that only the attribute refers to; versions of Python count differently.
_SOLE_REFERENCE = _references(SimpleNamespace(x=object()), "x")


def _is_private(owner: Any, name: str) -> bool:
    """Whether a raw array is memory of its own, and no object but its owner refers to it."""
    if _references(owner, name) > _SOLE_REFERENCE:
        return False
    raw = getattr(owner, name)
    if type(raw) is not np.ndarray or not raw.flags.c_contiguous:
        return False
    owns: bool = raw.flags.owndata
    return owns if raw.base is None else _is_private(raw, "base")
