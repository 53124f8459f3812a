"""Counts of calls that a fast kernel could not take in spite of its predicate.

Predicates see specs only. Arrays laid out in a way that a kernel does not know, or what a library
refuses, go to the reference kernel: correct, but slow, and so counted here.
"""

import logging

_LOG = logging.getLogger("gluonish")

# A list of one number each: it is added to in one step, in which no other thread, handler or
# destructor comes, so that no lock is needed.
_counts: dict[str, list[int]] = {}


def note_refusal(name: str, reason: object) -> None:
    """Count a call of a kernel that goes to the reference kernel.

    Args:
        name: The kernel's, without the library.
        reason: Why, for the debug log.
    """
    count = _counts.setdefault(name, [0])
    count[0] += 1
    _LOG.debug("%s goes to the reference kernel: %s", name, reason)


def refusals() -> dict[str, int]:
    """Return how many calls of each kernel went to the reference after all, by its name."""
    return {name: count[0] for name, count in tuple(_counts.items())}
