import numpy as np
import pytest

from gluonish.core.context import cpu
from gluonish.graph.cached_graph import CachedGraph
from gluonish.graph.repeated_call import RepeatedCall
from gluonish.ndarray import NDArray, array, ones, recording
from gluonish.ndarray.recording import RECORDING, TRAINING
from tests.graph.builders import call, inputs


@pytest.fixture
def cached() -> CachedGraph:
    x, weight = inputs((2, 3), (4, 3))
    y = call("FullyConnected", x, weight, num_hidden=4, no_bias=True)
    return CachedGraph([x.node, weight.node], [y], static_alloc=True, data_count=1)


@pytest.fixture
def weight() -> NDArray:
    return array(np.arange(12).reshape(4, 3))


@pytest.fixture
def repeated(cached: CachedGraph, weight: NDArray) -> RepeatedCall:
    given = [ones((2, 3)), weight]
    cached(given)
    found = cached.repeated(given)
    assert found is not None
    return found


def test_it_computes_what_the_call_before_did(repeated: RepeatedCall, weight: NDArray) -> None:
    x = array(np.arange(6).reshape(2, 3))
    results = repeated.run([x])
    assert results is not None
    np.testing.assert_allclose(results[0].asnumpy(), x.asnumpy() @ weight.asnumpy().T)


def test_new_values_of_a_parameter_count(repeated: RepeatedCall, weight: NDArray) -> None:
    weight[:] = 2
    results = repeated.run([ones((2, 3))])
    assert results is not None
    assert results[0].asnumpy().tolist() == [[6.0] * 4] * 2


def test_results_stay_under_later_calls(repeated: RepeatedCall) -> None:
    first, second = repeated.run([ones((2, 3))]), repeated.run([ones((2, 3)) * 2])
    assert first is not None
    assert second is not None
    np.testing.assert_array_equal(first[0].asnumpy() * 2, second[0].asnumpy())


@pytest.mark.parametrize(
    "x",
    [ones((1, 3)), ones((2, 3), dtype="float64"), ones((2, 3), ctx=cpu(1))],
    ids=["shape", "dtype", "device"],
)
def test_other_data_are_another_call(repeated: RepeatedCall, x: NDArray) -> None:
    assert repeated.run([x]) is None


@pytest.mark.parametrize("flags", [RECORDING, TRAINING])
def test_another_mode_is_another_call(repeated: RepeatedCall, flags: int) -> None:
    token = recording.mode.set(flags)
    try:
        assert repeated.run([ones((2, 3))]) is None
    finally:
        recording.mode.reset(token)


def test_calls_with_gradients_are_not_repeated(cached: CachedGraph, weight: NDArray) -> None:
    weight.attach_grad()
    given = [ones((2, 3)), weight]
    token = recording.mode.set(RECORDING)
    try:
        cached(given)
    finally:
        recording.mode.reset(token)
    assert cached.repeated(given) is None


def test_the_plan_of_another_call_is_not_repeated(cached: CachedGraph, weight: NDArray) -> None:
    cached([ones((5, 3)), weight])
    assert cached.repeated([ones((2, 3)), weight]) is None
