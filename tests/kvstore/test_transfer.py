"""Sums and copies are single engine operations with the caller's priority."""

from typing import Any

import pytest

from gluonish.core.context import cpu
from gluonish.engine import current_engine
from gluonish.kvstore import create
from gluonish.kvstore.transfer import sum_arrays
from gluonish.ndarray import ones


def test_order_of_the_sum_is_that_of_the_list() -> None:
    values = [ones((1,), ctx=cpu(i)) * v for i, v in enumerate([1e8, 1.0, -1e8])]
    assert sum_arrays(values, cpu(0), 0).asnumpy()[0] == 0.0
    assert sum_arrays([values[0], values[2], values[1]], cpu(0), 0).asnumpy()[0] == 1.0


def test_sum_of_one_is_a_copy() -> None:
    value = ones((2,))
    total = sum_arrays([value], cpu(1), 0)
    value[:] = 3
    assert total.asnumpy().tolist() == [1.0, 1.0]
    assert total.context == cpu(1)


def test_priority_reaches_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    store = create("device")
    store.broadcast(0, ones((2,)), [ones((2,))])
    values = [ones((2,), ctx=cpu(i)) for i in range(2)]
    engine = current_engine()
    push, seen = engine.push, []

    def noted(*args: Any, **kwargs: Any) -> None:
        seen.append(args[4])
        push(*args, **kwargs)

    monkeypatch.setattr(type(engine), "push", lambda self, *args, **kwargs: noted(*args, **kwargs))
    store.pushpull(0, values, priority=-7)
    # The move of the stored value to its device is not needed here; sum, replacement, two pulls.
    assert seen == [-7, -7, -7, -7]
