"""Caching of slow inference functions."""

from collections.abc import Callable
from functools import lru_cache

from gluonish.core.spec import Spec

_MOST_CALLS = 512  # cached per function; the oldest is evicted first

_Infer = Callable[..., tuple[Spec, ...]]


def remembered(infer: _Infer) -> _Infer:
    """Cache an inference function's results, but not its errors; all arguments are hashable."""
    return lru_cache(maxsize=_MOST_CALLS, typed=True)(infer)
