"""Amdahl's law of ``python -m benchmarks.cpu threads``."""

import pytest

from benchmarks.cpu.threads import counts_up_to, fit, rows_of


def test_counts_are_powers_of_two_and_the_last_one() -> None:
    assert counts_up_to(1) == [1]
    assert counts_up_to(2) == [1, 2]
    assert counts_up_to(6) == [1, 2, 4, 6]
    assert counts_up_to(16) == [1, 2, 4, 8, 16]


def test_law_is_found_again() -> None:
    seconds = {count: 0.2 + 3.0 / count for count in (1, 2, 4, 8)}
    assert fit(seconds) == pytest.approx((0.2, 3.0))
    assert fit({2: 1.5}) == (0.0, 3.0)


def test_parts_are_not_negative() -> None:
    serial, parallel = fit({1: 1.0, 2: 0.4})  # faster than twice as fast
    assert serial == 0.0
    assert parallel > 0
    serial, parallel = fit({1: 1.0, 2: 1.5})  # slower with more threads
    assert parallel == 0.0
    assert 1.0 < serial < 1.5


def test_largest_count_is_predicted_from_the_others() -> None:
    lines = rows_of("gluonish", {1: 3.2, 2: 1.7, 4: 0.95 * 2})
    assert lines[2][1:] == ["4", "1900.00", "1.68", "42%", "-50.0%"]
    assert [line[1] for line in lines[3:-1]] == ["8", "16", "32", "64"]
    assert lines[3][2] == "575.00"
    assert lines[-1][0] == "gluonish: 6.2% of a step on one thread only"


def test_nothing_is_predicted_where_no_limit_was_seen() -> None:
    lines = rows_of("gluonish", {1: 3.0, 2: 1.4})
    assert [line[1] for line in lines] == ["1", "2", ""]
    assert lines[-1][0] == "gluonish: no limit seen"
