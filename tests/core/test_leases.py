"""Things that come back once their borrower is freed."""

import gc
import weakref

from gluonish.core.finalizer import Leases


class Borrower:
    """Anything that takes weak references."""


def test_what_is_lent_comes_back_with_its_borrower() -> None:
    lending: Leases[str] = Leases()
    one, other = Borrower(), Borrower()
    lending.grant("a", one)
    lending.grant("b", other)
    assert (len(lending), lending.can_reclaim(), list(lending.reclaim())) == (2, False, [])
    del one
    assert (len(lending), lending.can_reclaim()) == (1, True)
    assert list(lending.reclaim()) == ["a"]
    assert (len(lending), lending.can_reclaim(), list(lending.reclaim())) == (1, False, [])


def test_garbage_in_cycles_gives_back_too() -> None:
    lending: Leases[int] = Leases()
    for i in range(3):
        borrower = Borrower()
        borrower.itself = borrower  # type: ignore[attr-defined]
        lending.grant(i, borrower)
    del borrower
    gc.collect()
    assert sorted(lending.reclaim()) == [0, 1, 2]


def test_no_step_of_python_runs_when_a_borrower_is_freed() -> None:
    lending: Leases[int] = Leases()
    borrower = Borrower()
    lending.grant(1, borrower)
    (lease,) = weakref.getweakrefs(borrower)
    assert type(lease.__callback__).__name__ == "builtin_function_or_method"


def test_lending_is_not_kept_by_what_it_lent() -> None:
    lending: Leases[int] = Leases()
    borrower = Borrower()
    lending.grant(1, borrower)
    gone = weakref.ref(lending)
    del lending
    assert gone() is None
    del borrower
