from collections.abc import Callable, Sequence

import numpy as np
import pytest

from gluonish.graph.cached_graph import CachedGraph
from gluonish.ndarray import NDArray, array, ones, recording
from gluonish.ndarray.recording import RECORDING
from tests.graph.builders import call, inputs

Run = Callable[[Sequence[NDArray]], list[NDArray]]


@pytest.fixture
def cached() -> CachedGraph:
    x, weight = inputs((2, 3), (4, 3))
    y = call("FullyConnected", x, weight, num_hidden=4, no_bias=True)
    return CachedGraph([x.node, weight.node], [y], static_alloc=True, data_count=1)


@pytest.fixture
def weight() -> NDArray:
    return array(np.arange(12).reshape(4, 3))


@pytest.fixture
def run(cached: CachedGraph, weight: NDArray) -> Run:
    given = [ones((2, 3)), weight]
    cached(given)
    found = cached.repeated(given)
    assert found is not None
    return found


def test_a_bound_plan_computes_what_the_call_before_did(run: Run, weight: NDArray) -> None:
    x = array(np.arange(6).reshape(2, 3))
    np.testing.assert_allclose(run([x])[0].asnumpy(), x.asnumpy() @ weight.asnumpy().T)


def test_data_may_lie_in_another_order(run: Run, weight: NDArray) -> None:
    x = array(np.arange(6).reshape(2, 3))
    x._data = array(np.arange(6).reshape(2, 3).T)._data.T
    np.testing.assert_allclose(run([x])[0].asnumpy(), x.asnumpy() @ weight.asnumpy().T)


def test_new_values_of_a_parameter_count(run: Run, weight: NDArray) -> None:
    weight[:] = 2
    assert run([ones((2, 3))])[0].asnumpy().tolist() == [[6.0] * 4] * 2


def test_results_stay_under_later_calls(run: Run) -> None:
    first, second = run([ones((2, 3))]), run([ones((2, 3)) * 2])
    np.testing.assert_array_equal(first[0].asnumpy() * 2, second[0].asnumpy())


def test_recorded_calls_are_not_repeated(cached: CachedGraph, weight: NDArray) -> None:
    weight.attach_grad()
    given = [ones((2, 3)), weight]
    token = recording.mode.set(RECORDING)
    try:
        cached(given)
        assert cached.repeated(given) is None
    finally:
        recording.mode.reset(token)
    assert cached.repeated(given) is None


def test_the_plan_of_another_call_is_not_repeated(cached: CachedGraph, weight: NDArray) -> None:
    cached([ones((5, 3)), weight])
    assert cached.repeated([ones((2, 3)), weight]) is None
