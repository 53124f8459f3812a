import pytest

from gluonish import autograd
from gluonish import ndarray as nd
from gluonish.engine import use_engine
from gluonish.gluon.nn import Dense
from tests.python_calls import python_calls

# The style guide's budget for one recorded eager call; and that of a small hybridized layer's call
# together with its result, which took 39 once. Each costs 30 to 80 ns.
LIMIT = 20


def python_calls_of_a_recorded_add() -> list[str]:
    x = nd.ones((4, 4))
    x.attach_grad()
    with autograd.record():
        x + x
        return python_calls(lambda: x + x)


def test_recorded_add_makes_few_python_calls_on_the_naive_engine() -> None:
    with use_engine("NaiveEngine"):
        names = python_calls_of_a_recorded_add()
    assert "invoke" in names
    assert len(names) <= LIMIT, names


def test_recorded_add_makes_few_python_calls_on_the_threaded_engine() -> None:
    with use_engine("ThreadedEnginePerDevice"):
        names = python_calls_of_a_recorded_add()
    assert len(names) <= LIMIT, names


@pytest.mark.parametrize("kind", ["NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice"])
def test_small_hybridized_layer_and_its_result_make_few_python_calls(kind: str) -> None:
    net = Dense(16, in_units=16)
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    x = nd.ones((1, 16))
    with use_engine(kind):
        for _ in range(3):
            net(x).asnumpy()
        names = python_calls(lambda: net(x).asnumpy())
    assert "CallPlan.bind.<locals>.run" in names
    assert len(names) <= LIMIT, names
