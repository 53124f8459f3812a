"""Where random numbers come from: one seed, and a counter for each device.

An operator that draws numbers gets a key, the pair of a seed and a counter that no other call
shares. What it draws is a pure function of the key (counter-based generation), so a result depends
on neither thread nor device type.

Invariant: each change is a single step of the interpreter, between whose halves no thread, handler
or destructor comes; so no lock is needed, which one that draws numbers would wait for forever.
"""

import os

from gluonish.core.context import Context

_MASK = (1 << 64) - 1
# 2**64 / golden ratio: spreads neighbouring device numbers over the key space.
_GOLDEN = 0x9E3779B97F4A7C15


class _Numbers:
    """The numbers of one device: its seed, and the counter that comes next."""

    __slots__ = ("counter", "seed")

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.counter = 0


# The seed of devices that have none of their own, and the devices that were used since.
_current: tuple[int, dict[Context, _Numbers]] = (int.from_bytes(os.urandom(8), "little"), {})


def seed(value: int, context: Context | None = None) -> None:
    """Restart the numbers of one device, or of all.

    Args:
        value: The seed; its lower 64 bits count.
        context: The device; None for all.
    """
    global _current
    if context is None:
        _current = (value & _MASK, {})
    else:
        _current[1][context] = _Numbers(value & _MASK)


def next_key(context: Context, count: int = 1) -> tuple[int, int]:
    """Return a fresh key for a device, and reserve the ``count`` counters from it on."""
    common, devices = _current
    numbers = devices.get(context)
    if numbers is None:
        own = _Numbers((common + context.device_id * _GOLDEN) & _MASK)
        numbers = devices.setdefault(context, own)
    counter = numbers.counter  # nothing is called from here to the next line
    numbers.counter = counter + count
    return numbers.seed, counter
