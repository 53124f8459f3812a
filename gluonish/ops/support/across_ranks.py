"""Batch statistics across processes.

A synchronous multi-process store registers its all-reduce here, so that operators need not know
about processes. All ranks reduce the same arrays in the same order.
"""

import weakref
from collections.abc import Callable
from typing import Any

# Replaces an NDArray by its sum over all ranks; the text describes it in messages.
AddUp = Callable[[Any, str], None]

_joined: list[AddUp] = []  # none or one
# Functions that join the ranks when the first statistic is needed, by owner.
_expected: "weakref.WeakKeyDictionary[Any, Callable[[], object]]" = weakref.WeakKeyDictionary()


def join_ranks(add_up: AddUp) -> None:
    """Compute batch statistics over all ranks from now on, using this all-reduce."""
    _joined[:] = [add_up]


def expect_ranks(owner: Any, join: Callable[[], object]) -> None:
    """Call ``join`` when the first statistic is needed, as long as ``owner`` lives.

    ``join`` calls `join_ranks` if there are several ranks.
    """
    _expected[owner] = join


def ranks_sum() -> AddUp | None:
    """Return the all-reduce over ranks; None for a single rank."""
    if _expected and not _joined:
        for owner, join in list(_expected.items()):
            join()
            _expected.pop(owner, None)
    return _joined[0] if _joined else None
