"""Write the values of a temporary array into another array, by swapping memory instead of copying.

Loading weights into an initialized network would otherwise copy them after reading, which takes as
long again. The memory they were read into replaces the weight's memory, unless that is referenced
elsewhere: by a view, an executor, an optimizer or a DLPack export. All of these refer to the NumPy
array or its base, so references are counted.
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

# A copy of fewer elements costs less than the check whether it is needed.
_MIN_SIZE = 4096


def write_into(source: NDArray, targets: Sequence[NDArray], taken: bool) -> None:
    """Write the values of an array into others of its shape, converting to their dtypes.

    All handles and views of a target see the new values. A single target gets the memory of a
    temporary source if neither memory is referenced elsewhere.

    Args:
        source: The array.
        targets: Arrays to write to.
        taken: Whether the source is a temporary that is not used after the call.
    """
    if taken and len(targets) == 1 and _is_movable(source, targets[0]):
        targets[0]._check_writable("copyto")
        if _try_move(source, targets[0]):
            return
    for target in targets:
        source.copyto(target)


def _try_move(source: NDArray, target: NDArray) -> bool:
    """Replace the target's memory if nothing is pending on it; return whether it was replaced."""
    moved: list[bool] = []
    run = partial(_move, source, target, get_ident(), moved)
    lane = target._device.lane
    submit(run, [source._var], [target._var], lane, "_copyto", small=True)
    return bool(moved)


def _is_movable(source: NDArray, target: NDArray) -> bool:
    if not source.stype == target.stype == "default" or source._spec != target._spec:
        return False
    return source._device is target._device and source._device.is_host and source.size >= _MIN_SIZE


def _move(source: NDArray, target: NDArray, thread: int, moved: list[bool]) -> None:
    # In a worker thread this would race with the caller's use of the target's memory.
    if thread == get_ident() and _is_private(source, "_data") and _is_private(target, "_data"):
        target._data = source._data
        moved.append(True)


def _references(owner: Any, name: str) -> int:
    return sys.getrefcount(getattr(owner, name))


# Of an object that only the attribute refers to; Python versions count differently.
_SOLE_REFERENCE = _references(SimpleNamespace(x=object()), "x")


def _is_private(owner: Any, name: str) -> bool:
    """Whether a raw array owns its memory and only its owner's attribute refers to it."""
    if _references(owner, name) > _SOLE_REFERENCE:
        return False
    raw = getattr(owner, name)
    if type(raw) is not np.ndarray or not raw.flags.c_contiguous:
        return False
    owns: bool = raw.flags.owndata
    return owns if raw.base is None else _is_private(raw, "base")
