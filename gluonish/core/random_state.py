"""State of the random generators: one seed, and a counter for each device.

A sampling operator gets a key, a pair of seed and counter that no other call has. Its numbers are a
pure function of the key (counter-based generation), so a result depends on neither thread nor
device type.

Invariant: each change is atomic: no thread, handler or destructor can run in the middle of it. So
no lock is needed, which would deadlock in a signal handler that draws numbers.
"""

import os
from collections.abc import Iterable
from contextvars import ContextVar

from gluonish.core.context import Context
from gluonish.core.errors import GluonishError
from gluonish.core.value_scope import ValueScope

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


def states() -> tuple[int, list[tuple[str, int, int, int]]]:
    """Return the global seed; and type, number, seed and next counter of each device in use."""
    common, devices = _current
    found = [(c.device_type, c.device_id, g.seed, g.counter) for c, g in [*devices.items()]]
    return common, found


def restore(common: int, devices: Iterable[tuple[str, int, int, int]]) -> None:
    """Continue from a result of `states`."""
    global _current
    generators = {}
    for device_type, device_id, value, counter in devices:
        generator = generators[Context(device_type, device_id)] = _Generator(value)
        generator.counter = counter
    _current = (common, generators)


Key = tuple[int, int]


def next_key(context: Context, count: int = 1) -> Key:
    """Return a new key for a device, and reserve ``count`` counters from it on.

    In a scope of a `KeyJournal`, the key is recorded, or is a recorded one.
    """
    scope = _scope.get()
    if scope is not None:
        return scope.key(context, count)
    common, devices = _current
    generator = devices.get(context)
    if generator is None:
        new = _Generator((common + context.device_id * _GOLDEN) & _MASK)
        generator = devices.setdefault(context, new)
    counter = generator.counter  # nothing is called from here to the next line
    generator.counter = counter + count
    return generator.seed, counter


class KeyJournal:
    """The keys that were drawn in a scope of one thread, so that another scope can draw them again.

    Scopes nest: an inner scope records what an outer one gives, also if that repeats keys.
    """

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: list[tuple[Context, int, Key]] = []

    def first(self, default: Key) -> Key:
        """Return the first key, or ``default`` if none was drawn."""
        return self._entries[0][2] if self._entries else default

    def recording(self) -> "_KeyScope":
        """Return a scope in which keys are drawn as usual, and recorded."""
        return _KeyScope(self._entries, repeats=False)

    def replaying(self) -> "_KeyScope":
        """Return a scope in which the recorded keys are drawn, in their order."""
        return _KeyScope(self._entries, repeats=True)


class _KeyScope(ValueScope):
    """A scope of a `KeyJournal`."""

    __slots__ = ("_entries", "_next", "_outer", "_repeats")

    def __init__(self, entries: list[tuple[Context, int, Key]], *, repeats: bool) -> None:
        super().__init__()
        self._entries = entries
        self._repeats = repeats
        self._next = 0
        self._outer: _KeyScope | None = None

    def __enter__(self) -> None:
        self._outer = _scope.get()
        self._change(_scope, self)

    def key(self, context: Context, count: int) -> Key:
        """Return the next key.

        Raises:
            GluonishError: The scope draws other numbers than the recorded one.
        """
        if not self._repeats:
            if self._outer is None:
                with NewKeys():
                    key = next_key(context, count)
            else:
                key = self._outer.key(context, count)
            self._entries.append((context, count, key))
            return key
        entry = self._entries[self._next] if self._next < len(self._entries) else None
        if entry is None or entry[:2] != (context, count):
            expected = "no more keys" if entry is None else f"{entry[1]} keys of {entry[0]}"
            raise GluonishError(
                f"random numbers: expected {expected}, as in the first run, got a draw of {count} "
                f"on {context}; a checkpointed Block must draw the same numbers in each run"
            )
        self._next += 1
        return entry[2]


class NewKeys(ValueScope):
    """Scope whose keys are new ones, and are not recorded: of work that no later run repeats."""

    __slots__ = ()

    def __enter__(self) -> None:
        self._change(_scope, None)


_scope: ContextVar[_KeyScope | None] = ContextVar("gluonish_random_keys", default=None)
