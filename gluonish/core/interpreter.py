"""Refuses an interpreter on which the package would compute wrong results, at its import."""

import sys


def refuse_without_lock() -> None:
    """Refuse a free-threaded Python whose global interpreter lock is off.

    Raises:
        ImportError: The lock is off.
    """
    enabled = getattr(sys, "_is_gil_enabled", None)  # CPython has it from 3.13 on
    if enabled is not None and not enabled():
        raise ImportError(
            f"gluonish: expected a Python with the global interpreter lock, got free-threaded "
            f"Python {sys.version_info.major}.{sys.version_info.minor} with the lock off; the "
            "engine, the tape and the kept plans rely on it to change their tables in one step. "
            "Start Python with PYTHON_GIL=1 (or -X gil=1), or use the ordinary build"
        )


refuse_without_lock()
