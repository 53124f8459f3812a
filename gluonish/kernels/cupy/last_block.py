"""Counters of blocks, with which kernels sum in one launch: see ``last_block.cuh``.

Each stream has its own, as kernels of two streams may run at the same time. CUDA graphs count in
those of the stream that they are launched on.

Invariant: counters are 0 whenever no kernel of their stream runs; kernels leave them so.
"""

import weakref
from types import ModuleType
from typing import Any

import numpy as np

COUNT = 1024  # counters of a stream, and the most that a kernel may use
FAN = 32  # as in last_block.cuh

_made: weakref.WeakKeyDictionary[ModuleType, dict[tuple[int, int], Any]] = (
    weakref.WeakKeyDictionary()
)


def counters(xp: Any) -> Any:
    """Return the counters of the current stream, creating them on first use."""
    key = xp.cuda.runtime.getDevice(), xp.cuda.get_current_stream().ptr
    known = _made.get(xp)
    if known is None:
        known = _made.setdefault(xp, {})
    found = known.get(key)
    if found is None:  # of two threads that come here, both use zeros
        found = known.setdefault(key, xp.zeros(COUNT, np.uint32))
    return found


def partial_sums(blocks: int) -> int:
    """Return how many partial sums there are if ``blocks`` blocks share a sum."""
    count = 0
    while blocks > 1:
        count += blocks
        blocks = -(-blocks // FAN)
    return count


def prepare(xp: Any, launching: Any) -> None:
    """Let graphs captured on the current stream use the counters of ``launching``.

    Does nothing if no kernel of the device counts.

    Args:
        launching: CuPy's stream that the graphs run on.
    """
    known = _made.get(xp)
    device = xp.cuda.runtime.getDevice()
    if known and any(number == device for number, _ in tuple(known)):
        with launching:
            shared = counters(xp)
        known[device, xp.cuda.get_current_stream().ptr] = shared


def forget(xp: ModuleType, stream: int) -> None:
    """Forget the counters of a stream that no longer exists, by its address."""
    known = _made.get(xp, {})
    for key in [key for key in tuple(known) if key[1] == stream]:
        known.pop(key, None)
