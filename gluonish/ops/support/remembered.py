"""Inference that takes long is done once for each kind of call."""

from collections.abc import Callable
from functools import lru_cache

from gluonish.core.spec import Spec

_MOST_CALLS = 512  # kept of each function; the oldest goes first

_Infer = Callable[..., tuple[Spec, ...]]


def remembered(infer: _Infer) -> _Infer:
    """Return an inference function that keeps what it found; refusals are found anew each time.

    Args:
        infer: Called with specs and parsed attributes, all of which are hashable.
    """
    return lru_cache(maxsize=_MOST_CALLS, typed=True)(infer)
