"""Sums and copies are single engine operations with the caller's priority."""

from typing import Any

import numpy as np
import pytest

from gluonish.core.context import cpu
from gluonish.core.errors import OperatorError
from gluonish.engine import current_engine, use_engine
from gluonish.kvstore import create
from gluonish.kvstore.device_sums import SumSplit, sum_arrays
from gluonish.ndarray import array, ones
from gluonish.tools.env_checks.threads import engine_trace


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


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64"])
@pytest.mark.parametrize("size", [1, 4, 10, 1003])
def test_cut_sum_is_the_whole_one(size: int, dtype: str) -> None:
    rng = np.random.default_rng(3)
    values = [array(rng.uniform(-9, 9, size), ctx=cpu(i), dtype=dtype) for i in range(3)]
    whole = sum_arrays(values, cpu(0), 0).asnumpy()
    for chunks in (2, 4, 7):
        split = sum_arrays(values, cpu(0), 0, SumSplit(0, chunks)).asnumpy()
        np.testing.assert_array_equal(split, whole)


def test_arrays_above_the_bound_are_added_up_in_parts_at_the_same_time() -> None:
    def sums(size: int) -> int:
        values = [ones((size,), ctx=cpu(i)) for i in range(2)]
        with engine_trace() as ran:
            sum_arrays(values, cpu(0), 0, SumSplit(100, 3))
        return sum(entry.name == "kvstore" for entry in ran)

    assert (sums(100), sums(101)) == (1, 3)


def test_failed_value_fails_the_cut_sum_only() -> None:
    def fail(out: Any) -> None:
        raise ValueError("no room")

    with use_engine("ThreadedEnginePerDevice"):
        bad, good = ones((200,)), ones((200,), ctx=cpu(1))
        bad._write(fail, name="failing")
        total = sum_arrays([bad, good], cpu(0), 0, SumSplit(100, 2))
        with pytest.raises(OperatorError, match="no room"):
            total.wait_to_read()
        assert (
            sum_arrays([good, good], cpu(0), 0, SumSplit(100, 2)).asnumpy().tolist() == [2.0] * 200
        )
