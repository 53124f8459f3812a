"""Reject interpreters on which results would be wrong; runs at import."""

import sys


def refuse_without_lock() -> None:
    """Raise ImportError on a free-threaded Python whose global interpreter lock is off."""
    enabled = getattr(sys, "_is_gil_enabled", None)  # from CPython 3.13 on
    if enabled is not None and not enabled():
        raise ImportError(
            f"gluonish: expected a Python with the global interpreter lock, got free-threaded "
            f"Python {sys.version_info.major}.{sys.version_info.minor} with the lock off; the "
            "engine, the tape and the cached plans rely on it for atomic changes of their state. "
            "Start Python with PYTHON_GIL=1 (or -X gil=1), or use the ordinary build"
        )


refuse_without_lock()
