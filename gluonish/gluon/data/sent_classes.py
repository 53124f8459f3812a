"""Replies of a worker process whose classes the main process sent by value.

Both processes identify such a class by the same number. A second copy, sent back by value, would be
another class, or change the attributes of the first.
"""

import io
import pickle
import weakref
from collections.abc import Callable
from typing import Any

_sent: "weakref.WeakValueDictionary[int, type]" = weakref.WeakValueDictionary()
_received: dict[int, type] = {}
_origins: dict[type, int] = {}


def note_sent(cls: type) -> int:
    """Register a class that is sent by value; return its number."""
    _sent[id(cls)] = cls
    return id(cls)


def received(origin: int, make: Callable[..., type], arguments: tuple[Any, ...]) -> type:
    """Create a class that was sent by value, and record its number."""
    made = make(*arguments)
    _received[origin] = made
    _origins[made] = origin
    return made


def class_of(origin: int) -> type:
    """Return the class that was sent or received under a number; KeyError if it is gone."""
    return _sent.get(origin) or _received[origin]


def dumps_reply(value: Any) -> bytes:
    """Pickle a reply to the process that sent classes by value."""
    try:
        return pickle.dumps(value, protocol=5)
    except Exception:  # classes sent by value cannot be looked up; other errors are raised again
        file = io.BytesIO()
        _ReplyPickler(file, protocol=5).dump(value)
        return file.getvalue()


class _ReplyPickler(pickle.Pickler):
    def reducer_override(self, obj: Any) -> Any:
        origin = _origins.get(obj) if isinstance(obj, type) else None
        return NotImplemented if origin is None else (class_of, (origin,))
