"""Counts of calls that a fast kernel could not take in spite of its predicate.

Predicates see specs only. Arrays laid out in a way that a kernel does not know, or what a library
refuses, go to the reference kernel: correct, but slow, and so counted here.
"""

import logging
import threading
from collections import Counter

__all__ = ["note_refusal", "refusals"]

_LOG = logging.getLogger("gluonish")
_lock = threading.Lock()  # guards the counts
_counts: Counter[str] = Counter()


def note_refusal(name: str, reason: object) -> None:
    """Count a call of a kernel that goes to the reference kernel.

    Args:
        name: The kernel's, without the library.
        reason: Why, for the debug log.
    """
    with _lock:
        _counts[name] += 1
    _LOG.debug("%s goes to the reference kernel: %s", name, reason)


def refusals() -> dict[str, int]:
    """Return how many calls of each kernel went to the reference after all, by its name."""
    with _lock:
        return dict(_counts)
