"""Meetings of devices: rounds, their results, and what becomes of those that stay incomplete."""

import threading
from typing import Any

import numpy as np
import pytest

from gluonish.core.context import cpu
from gluonish.core.errors import OperatorError
from gluonish.engine import current_engine, use_engine
from gluonish.ndarray import NDArray, array, rendezvous
from gluonish.ndarray.rendezvous import Rendezvous

pytestmark = pytest.mark.timeout(60)
LONG_S = 30


class Owner:
    """Something that can be referred to weakly."""


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendezvous, "PATIENCE_S", 0.1)


def place(count: int = 2) -> Rendezvous:
    return Rendezvous("meeting", "key 'a'", count)


def part(device: int, *values: float) -> NDArray:
    return array(values, ctx=cpu(device))


def test_result_is_the_mean_over_all_weights() -> None:
    where = place(3)
    rounds = [where.join(part(i, i, 10.0 * i), weight) for i, weight in enumerate((1, 2, 5))]
    assert rounds[0] is rounds[1] is rounds[2]
    np.testing.assert_array_equal(rounds[0].total.asnumpy(), [3 / 8, 30 / 8])


def test_order_of_arrival_does_not_change_the_bits() -> None:
    values = np.random.default_rng(0).standard_normal((4, 50)).astype(np.float32)
    found = []
    for order in ((0, 1, 2, 3), (3, 1, 0, 2)):
        where = place(4)
        met = [where.join(part(i, *values[i]), 7) for i in order]
        found.append(met[0].total.asnumpy())
    np.testing.assert_array_equal(found[0], found[1])


def test_second_call_of_a_device_joins_the_next_round() -> None:
    where = place()
    first, second = where.join(part(0, 1.0), 1), where.join(part(0, 3.0), 1)
    assert where.join(part(1, 5.0), 1) is first
    assert where.join(part(1, 7.0), 1) is second
    assert [first.total.asscalar(), second.total.asscalar()] == [3.0, 5.0]


def test_device_that_never_comes_is_an_error(impatient: None) -> None:
    met = place(3).join(part(1, 1.0), 1)
    message = r"expected calls on 3 devices \(key 'a'\), got calls on cpu\(1\) only"
    with pytest.raises(OperatorError, match=message):
        met.total.asnumpy()


def test_round_after_a_failed_one_starts_anew(impatient: None) -> None:
    where = place()
    late = where.join(part(0, 1.0), 1)
    with pytest.raises(OperatorError, match="expected calls on 2 devices"):
        late.total.wait_to_read()
    met = where.join(part(1, 2.0), 1)
    assert where.join(part(0, 4.0), 1) is met
    assert met.total.asscalar() == 3.0


def test_round_whose_results_nobody_has_is_given_up() -> None:
    where, owner = place(), Owner()
    lost = where.join(part(0, 1.0), 1, owner)
    del owner
    met = where.join(part(1, 2.0), 1)
    where.join(part(0, 4.0), 1)
    assert met.total.asscalar() == 3.0
    with pytest.raises(OperatorError, match="expected calls on 2 devices"):
        lost.total.wait_to_read()


def test_data_that_come_from_the_same_round_are_an_error(impatient: None) -> None:
    where = place()
    met = where.join(part(0, 1.0), 1)
    where.join((met.total + 1).as_in_context(cpu(1)), 1)
    with pytest.raises(OperatorError, match="expected independent data on each device"):
        met.total.wait_to_read()


def test_slow_data_are_waited_for(impatient: None) -> None:
    where, go = place(), threading.Event()
    slow = part(0, 1.0)

    def fill() -> None:
        slow._data.fill(2.0 if go.wait(LONG_S) else 0.0)

    current_engine().push(fill, (), (slow._var,), slow._device.lane)
    met = where.join(slow, 1)
    where.join(part(1, 4.0), 1)
    threading.Timer(0.5, go.set).start()
    assert met.total.asscalar() == 3.0


def test_other_shape_is_refused() -> None:
    where = place()
    met = where.join(part(0, 1.0), 1)
    with pytest.raises(OperatorError, match=r"meeting: expected statistics float32\(1,\)"):
        where.join(part(1, 1.0, 2.0), 1)
    where.join(part(1, 3.0), 1)
    assert met.total.asscalar() == 2.0


def test_naive_engine_meets_in_threads() -> None:
    found: list[Any] = [None, None]
    with use_engine("NaiveEngine"):
        where = place()

        def run(i: int) -> None:
            found[i] = where.join(part(i, i + 1.0), 1).total.asscalar()

        threads = [threading.Thread(target=run, args=(i,)) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LONG_S)
    assert found == [1.5, 1.5]


def test_naive_engine_says_that_it_needs_threads(impatient: None) -> None:
    with use_engine("NaiveEngine"):
        where = place()
        with pytest.raises(OperatorError, match="each in its own thread"):
            where.join(part(0, 1.0), 1)
        with pytest.raises(OperatorError, match=r"got calls on cpu\(1\)"):
            where.join(part(1, 1.0), 1)
