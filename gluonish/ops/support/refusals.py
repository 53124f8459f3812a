"""Counts of calls that a fast kernel rejected although its predicate accepted them.

Predicates see specs only. Unsupported memory layouts and missing library features fall back to the
reference kernel, which is correct but slow, and therefore counted here.
"""

import logging

_LOG = logging.getLogger("gluonish")

# Each a list of one number: incrementing it is atomic, so that no lock is needed against other
# threads, handlers or destructors.
_counts: dict[str, list[int]] = {}


def note_refusal(name: str, reason: object) -> None:
    """Count a fallback to the reference kernel, and log its reason.

    ``name`` is the name of the kernel, without its library.
    """
    count = _counts.setdefault(name, [0])
    count[0] += 1
    _LOG.debug("%s falls back to the reference kernel: %s", name, reason)


def refusals() -> dict[str, int]:
    """Return the number of fallbacks to the reference kernel, by kernel name."""
    return {name: count[0] for name, count in tuple(_counts.items())}
