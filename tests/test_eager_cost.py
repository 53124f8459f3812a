import sys
from types import FrameType

from gluonish import autograd
from gluonish import ndarray as nd
from gluonish.engine import use_engine

LIMIT = 20  # the style guide's budget for one recorded eager call


def python_calls_of_a_recorded_add() -> list[str]:
    x = nd.ones((4, 4))
    x.attach_grad()
    names: list[str] = []

    def count(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            names.append(frame.f_code.co_qualname)

    with autograd.record():
        x + x
        previous = sys.getprofile()
        sys.setprofile(count)
        try:
            x + x
        finally:
            sys.setprofile(previous)
    return names


def test_recorded_add_makes_few_python_calls_on_the_naive_engine() -> None:
    with use_engine("NaiveEngine"):
        names = python_calls_of_a_recorded_add()
    assert "invoke" in names
    assert len(names) <= LIMIT, names


def test_recorded_add_makes_few_python_calls_on_the_threaded_engine() -> None:
    with use_engine("ThreadedEnginePerDevice"):
        names = python_calls_of_a_recorded_add()
    assert len(names) <= LIMIT, names
