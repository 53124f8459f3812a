"""Versions of Blocks: detect changes of Blocks after a graph was traced from them.

A change sets the Block's version and ``Version.newest`` to a new number. A cache that depends on
Blocks stores their numbers and compares them when ``newest`` has changed; otherwise the check is
one comparison of integers. Changes count from the first trace on, so building a network is free.
"""

import itertools
import time
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from typing import Any, ClassVar, Protocol, Self

_numbers = itertools.count(1)
_ABSENT = object()
_SIMPLE = (bool, int, float, str, bytes, type(None))

# Versions read by the current trace of this thread, with their numbers at the first read.
reads: ContextVar["dict[Version, int] | None"] = ContextVar("gluonish_reads", default=None)


class Version:
    """The version of one Block.

    Args:
        observed: Whether changes count from now on, rather than from the first trace.

    Attributes:
        changed: The attribute set by the latest change; None for any other change.
        names: The attributes that traces have read; None before the first trace.
        newest: Class attribute: the number of the latest change of any version.
        number: The number of the latest change.
    """

    __slots__ = ("changed", "names", "number")

    newest: ClassVar[int] = 0

    def __init__(self, observed: bool = False) -> None:
        self.number = 0
        self.changed: str | None = None
        self.names: set[str] | None = set() if observed else None

    def __reduce__(self) -> tuple[Any, ...]:
        # Numbers are valid in one process, and a copy is not in a graph yet.
        return Version, (self.names is not None,)

    def observe(self) -> None:
        """Count changes from now on."""
        if self.names is None:
            self.names = set()

    def read(self, name: str | None) -> None:
        """Record that this thread's trace read an attribute; None if it is not observed."""
        found = reads.get()
        if found is not None and self not in found:
            found[self] = self.number
        self.observe()
        if name is not None and self.names is not None:
            self.names.add(name)

    def change(self, name: str | None = None) -> None:
        """Count a change, except by the Block itself while it is traced.

        Args:
            name: The attribute that was set; None for any other change.
        """
        if self.names is not None and reads.get() is None:
            self.changed = name
            # In this order, so that the new `newest` never goes with the old number.
            self.number = number = next(_numbers)
            Version.newest = number

    def set(self, name: str, old: object, new: object) -> None:
        """Count the new value of an attribute as a change if a trace has read it."""
        if self.names is not None and name in self.names and not _same(old, new):
            self.change(name)

    @staticmethod
    def touch() -> None:
        """Invalidate all checks, after a change of an object without a version."""
        Version.newest = next(_numbers)


def _same(old: object, new: object) -> bool:
    if old is new:
        return True
    if type(old) is not type(new):
        return False
    if isinstance(old, tuple) and isinstance(new, tuple):
        return len(old) == len(new) and all(map(_same, old, new))
    return isinstance(old, _SIMPLE) and old == new


class _Typed(Protocol):
    """Interface of a Parameter: it has no version, but a dtype that traces read."""

    _dtype: Any


class Basis:
    """Snapshot of version numbers, and of the dtypes of parameters.

    Args:
        numbers: The versions and their numbers.
        checked: Value of ``Version.newest`` before the snapshot.
        parameters: Parameters, whose `cast` calls `Version.touch`.

    Attributes:
        checked: Value of ``Version.newest`` at the latest successful check.
        made_s: Time of the snapshot, in seconds of a monotonic clock.
    """

    __slots__ = ("_dtypes", "_numbers", "checked", "made_s")

    def __init__(
        self, numbers: Mapping[Version, int], checked: int, parameters: Iterable[_Typed] = ()
    ) -> None:
        self._numbers = tuple(numbers.items())
        self._dtypes = [(parameter, parameter._dtype) for parameter in parameters]
        self.checked = checked
        self.made_s = time.monotonic()

    def changed(self) -> str | None:
        """Return an attribute that was set since the snapshot; None for any other change."""
        found = (version.changed for version, n in self._numbers if version.number != n)
        return next(found, None)

    def holds(self) -> bool:
        """Whether the version numbers and dtypes are unchanged."""
        newest = Version.newest  # before the numbers, which may change meanwhile
        if self.checked != newest:
            if any(version.number != number for version, number in self._numbers):
                return False
            if any(parameter._dtype != dtype for parameter, dtype in self._dtypes):
                return False
            self.checked = newest
        return True


class VersionedDict(dict[Any, Any]):
    """A dict whose changes count as changes of a Block.

    Args:
        version: The Block's version.
        items: The initial items.
    """

    __slots__ = ("_version",)

    _version: Version

    def __new__(cls, *_args: Any, **_kwargs: Any) -> Self:
        """Return an empty dict: `pickle` fills it before it sets the version."""
        made = super().__new__(cls)
        made._version = Version()
        return made

    def __init__(self, version: Version | None = None, items: Mapping[Any, Any] | None = None):
        super().__init__(items or {})
        if version is not None:
            self._version = version

    def __setitem__(self, key: Any, value: Any) -> None:
        old = self.get(key, _ABSENT)
        super().__setitem__(key, value)
        if not _same(old, value):
            self._version.change()

    def __delitem__(self, key: Any) -> None:
        super().__delitem__(key)
        self._version.change()

    def __ior__(self, other: Any) -> Self:  # type: ignore[misc]  # as of dict itself
        self.update(other)
        return self

    def clear(self) -> None:
        """Remove everything."""
        super().clear()
        self._version.change()

    def pop(self, key: Any, *default: Any) -> Any:
        """Remove a key and return its value, or the default."""
        value = super().pop(key, *default)
        self._version.change()
        return value

    def popitem(self, last: bool = True) -> tuple[Any, Any]:
        """Remove and return the last or first pair of key and value, as in an OrderedDict."""
        if last or not self:
            item: tuple[Any, Any] = super().popitem()
        else:
            key = next(iter(self))
            item = key, super().pop(key)
        self._version.change()
        return item

    def move_to_end(self, key: Any, last: bool = True) -> None:
        """Move a key to the end, or to the beginning, as in an OrderedDict."""
        value = super().pop(key)
        others = {} if last else dict(self)
        if not last:
            super().clear()
        super().update({key: value, **others})
        self._version.change()

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """Return the value of a key; set it first if it is missing."""
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, other: Any = (), /, **more: Any) -> None:
        """Set keys as `dict.update` does."""
        super().update(other, **more)
        self._version.change()
