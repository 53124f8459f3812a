from gluonish import autograd
from gluonish import numpy as np
from gluonish.engine import use_engine
from tests.python_calls import python_calls

LIMIT = 20  # Python calls, as of a recorded eager call of an NDArray


def test_recorded_add_makes_few_python_calls() -> None:
    x = np.ones((4, 4))
    x.attach_grad()
    with use_engine("NaiveEngine"), autograd.record():
        x + x
        names = python_calls(lambda: x + x)
    assert "invoke" in names
    assert len(names) <= LIMIT, names


def test_operator_methods_of_nd_are_there() -> None:
    x = np.array([[0.0, 1.0]])
    assert type(x.exp()) is np.ndarray
    assert x.expand_dims(axis=0).shape == (1, 1, 2)
    assert x.softmax().sum().item() == 1
