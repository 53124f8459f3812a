"""Whether statistics of a batch are those of several processes.

A synchronous store of several processes joins them, and says here how an array is added up over
them: operators know nothing of processes. All ranks add up the same arrays in the same order.
"""

import weakref
from collections.abc import Callable
from typing import Any

# Replaces an NDArray by its sum over all ranks; the text says what it is, in messages.
AddUp = Callable[[Any, str], None]

_joined: list[AddUp] = []  # none or one
# What will join the ranks, at the latest when a statistic is wanted, by what asked for that.
_expected: "weakref.WeakKeyDictionary[Any, Callable[[], object]]" = weakref.WeakKeyDictionary()


def join_ranks(add_up: AddUp) -> None:
    """Have statistics be those of all ranks from now on.

    Args:
        add_up: Adds up over them.
    """
    _joined[:] = [add_up]


def expect_ranks(owner: Any, join: Callable[[], object]) -> None:
    """Have the ranks joined when the first statistic is wanted, if not before.

    Args:
        owner: While it lives, that holds.
        join: Is called then; calls `join_ranks` if there are several.
    """
    _expected[owner] = join


def ranks_sum() -> AddUp | None:
    """Return how to add an array up over all ranks; None where there are no others."""
    if _expected and not _joined:
        for owner, join in list(_expected.items()):
            join()
            _expected.pop(owner, None)
    return _joined[0] if _joined else None
