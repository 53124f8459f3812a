"""Where random numbers come from: one seed, and a counter for each device.

An operator that draws numbers gets a key, the pair of a seed and a counter that no other call
shares. What it draws is a pure function of the key (counter-based generation), so a result depends
on neither thread nor device type.
"""

import os
import threading

from gluonish.core.context import Context

__all__ = ["next_key", "seed"]

_MASK = (1 << 64) - 1
# 2**64 / golden ratio: spreads neighbouring device numbers over the key space.
_GOLDEN = 0x9E3779B97F4A7C15

_lock = threading.Lock()  # guards the two dicts below
_seeds: dict[Context | None, int] = {None: int.from_bytes(os.urandom(8), "little")}
_counters: dict[Context, int] = {}


def seed(value: int, context: Context | None = None) -> None:
    """Restart the numbers of one device, or of all.

    Args:
        value: The seed; its lower 64 bits count.
        context: The device; None for all.
    """
    with _lock:
        if context is None:
            _seeds.clear()
            _counters.clear()
        _seeds[context] = value & _MASK
        if context is not None:
            _counters.pop(context, None)


def next_key(context: Context, count: int = 1) -> tuple[int, int]:
    """Return a fresh key for a device, and reserve the ``count`` counters from it on."""
    with _lock:
        counter = _counters.get(context, 0)
        _counters[context] = counter + count
        start = _seeds.get(context)
        if start is None:
            start = (_seeds[None] + context.device_id * _GOLDEN) & _MASK
    return start, counter
