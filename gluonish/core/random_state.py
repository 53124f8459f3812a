"""State of the random generators: one seed, and a counter for each device.

A sampling operator gets a key, a pair of seed and counter that no other call has. Its numbers are a
pure function of the key (counter-based generation), so a result depends on neither thread nor
device type.

Invariant: each change is atomic: no thread, handler or destructor can run in the middle of it. So
no lock is needed, which would deadlock in a signal handler that draws numbers.
"""

import os

from gluonish.core.context import Context

_MASK = (1 << 64) - 1
# 2**64 / golden ratio: spreads neighbouring device numbers over the key space.
_GOLDEN = 0x9E3779B97F4A7C15


class _Generator:
    """Generator state of one device: its seed and its next counter."""

    __slots__ = ("counter", "seed")

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.counter = 0


# The global seed, and the generators of devices used or seeded since.
_current: tuple[int, dict[Context, _Generator]] = (int.from_bytes(os.urandom(8), "little"), {})


def seed(value: int, context: Context | None = None) -> None:
    """Seed the generator of one device, or of all.

    Args:
        value: The seed; only its lower 64 bits are used.
        context: The device; None for all.
    """
    global _current
    if context is None:
        _current = (value & _MASK, {})
    else:
        _current[1][context] = _Generator(value & _MASK)


def next_key(context: Context, count: int = 1) -> tuple[int, int]:
    """Return a new key for a device, and reserve ``count`` counters from it on."""
    common, devices = _current
    generator = devices.get(context)
    if generator is None:
        new = _Generator((common + context.device_id * _GOLDEN) & _MASK)
        generator = devices.setdefault(context, new)
    counter = generator.counter  # nothing is called from here to the next line
    generator.counter = counter + count
    return generator.seed, counter
