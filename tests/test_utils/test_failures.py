import pytest

from gluonish import test_utils
from gluonish.core.errors import ArgumentError


def test_expected_exception_passes() -> None:
    test_utils.assert_exception(int, ValueError, "x", base=10)
    test_utils.assert_exception({}.__getitem__, LookupError, "missing")


def test_missing_exception_fails_and_another_passes_through() -> None:
    with pytest.raises(AssertionError, match=r"^assert_exception: expected ValueError"):
        test_utils.assert_exception(int, ValueError, "1")
    with pytest.raises(ValueError, match="invalid literal"):
        test_utils.assert_exception(int, KeyError, "x")


def flaky(failures: int, error: type[Exception] = AssertionError) -> tuple[object, list[int]]:
    calls: list[int] = []

    def test(value: int) -> int:
        """Fail some times."""
        calls.append(value)
        if len(calls) <= failures:
            raise error("not yet")
        return value

    return test, calls


def test_retry_calls_until_success() -> None:
    test, calls = flaky(2)
    assert callable(test)
    again = test_utils.retry(3)(test)
    assert again(7) == 7
    assert calls == [7, 7, 7]
    assert (again.__name__, again.__doc__) == ("test", "Fail some times.")


def test_retry_gives_up_with_the_last_failure() -> None:
    test, calls = flaky(2)
    assert callable(test)
    with pytest.raises(AssertionError, match="not yet"):
        test_utils.retry(2)(test)(7)
    assert len(calls) == 2


def test_other_errors_are_not_retried() -> None:
    test, calls = flaky(2, ValueError)
    assert callable(test)
    with pytest.raises(ValueError, match="not yet"):
        test_utils.retry(5)(test)(7)
    assert len(calls) == 1


def test_retry_wants_one_call() -> None:
    with pytest.raises(ArgumentError, match=r"^retry: expected n of at least 1, got 0"):
        test_utils.retry(0)
