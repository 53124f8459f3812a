import threading

import numpy as np
import pytest

from gluonish.core.config import MXNET_MKLDNN_CACHE_NUM
from gluonish.kernels.onednn import Backend, OneDNNError, RefusedError
from gluonish.kernels.onednn.cache import PlanCache
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.plan import Builder, Plan


def _plan(engine: Engine) -> Plan:
    builder = Builder(engine)
    layout = engine.describe(np.zeros(4, np.float32))
    builder.reorder(builder.operand(layout), builder.operand(layout))
    return builder.build()


def test_the_same_key_gives_the_same_plan(backend: Backend) -> None:
    cache = PlanCache(backend.engine, 4)
    first = cache.get("a", _plan)
    assert cache.get("a", _plan) is first
    assert cache.get("b", _plan) is not first


@pytest.mark.parametrize("capacity", [0, 1, 3])
def test_no_more_than_the_capacity_is_kept(backend: Backend, capacity: int) -> None:
    cache = PlanCache(backend.engine, capacity)
    for key in range(10):
        cache.get(key, _plan)
        assert len(cache) <= capacity


def test_a_negative_capacity_keeps_all(backend: Backend) -> None:
    cache = PlanCache(backend.engine, -1)
    for key in range(10):
        cache.get(key, _plan)
    assert len(cache) == 10


def test_the_plan_used_longest_ago_goes_first(backend: Backend) -> None:
    cache = PlanCache(backend.engine, 2)
    first, second = cache.get(1, _plan), cache.get(2, _plan)
    cache.get(1, _plan)
    cache.get(3, _plan)
    assert cache.get(1, _plan) is first
    assert cache.get(2, _plan) is not second


def test_an_evicted_plan_still_runs(backend: Backend) -> None:
    cache = PlanCache(backend.engine, 1)
    plan = cache.get(1, _plan)
    cache.get(2, _plan)
    source, target = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    plan.run(source, target)
    np.testing.assert_array_equal(target, source)


def test_a_refusal_is_remembered_and_not_asked_again(backend: Backend) -> None:
    asked = []

    def refuse(_: Engine) -> Plan:
        asked.append(1)
        raise RefusedError("oneDNN: no")

    cache = PlanCache(backend.engine, 4)
    for _ in range(3):
        with pytest.raises(RefusedError, match="oneDNN: no"):
            cache.get("a", refuse)
    assert len(asked) == 1


def test_a_failure_is_raised_and_not_remembered(backend: Backend) -> None:
    asked = []

    def fail(_: Engine) -> Plan:
        asked.append(1)
        raise OneDNNError("oneDNN: out of memory")

    cache = PlanCache(backend.engine, 4)
    for _ in range(2):
        with pytest.raises(OneDNNError, match="out of memory"):
            cache.get("a", fail)
    assert len(asked) == 2


def test_clear_drops_all(backend: Backend) -> None:
    cache = PlanCache(backend.engine, 4)
    cache.get(1, _plan)
    cache.clear()
    assert len(cache) == 0


def test_plans_that_are_kept_are_bounded_unless_the_user_wants_all(backend: Backend) -> None:
    cache = PlanCache(backend.engine, MXNET_MKLDNN_CACHE_NUM.value)
    for key in range(5000):
        cache.get(key, lambda engine: key)  # noqa: B023  # called at once
    assert len(cache) <= 4096


def test_plans_take_no_more_memory_than_allowed(backend: Backend) -> None:
    cache = PlanCache(backend.engine, 1000, max_nbytes=1 << 20)
    sizes = []
    for key in range(40):
        cache.get(key, _plan)
        sizes.append(cache.nbytes)
    assert max(sizes) <= 1 << 20
    assert len(cache) == (1 << 20) // sizes[0]
    assert cache.nbytes == len(cache) * sizes[0]
    cache.clear()
    assert cache.nbytes == 0


def test_a_plan_larger_than_allowed_is_kept_alone(backend: Backend) -> None:
    cache = PlanCache(backend.engine, 1000, max_nbytes=1)
    plan = cache.get(1, _plan)
    assert cache.get(1, _plan) is plan
    cache.get(2, _plan)
    assert len(cache) == 1


def test_no_limit_of_plans_is_none_of_memory_either(backend: Backend) -> None:
    cache = PlanCache(backend.engine, -1, max_nbytes=1)
    for key in range(10):
        cache.get(key, _plan)
    assert len(cache) == 10


def test_threads_that_store_at_once_keep_the_sum_right(backend: Backend) -> None:
    cache = PlanCache(backend.engine, 1000, max_nbytes=1 << 20)

    def fill(start: int) -> None:
        for key in range(start, start + 60):
            cache.get(key, _plan)
            cache.get(key % 7, _plan)

    threads = [threading.Thread(target=fill, args=(20 * i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    one = PlanCache(backend.engine, 1)
    one.get(0, _plan)
    assert cache.nbytes == len(cache) * one.nbytes <= 1 << 20
