"""Tracebacks of errors that leave a network have the lines of the program."""

import traceback
from typing import Any

import pytest

import gluonish as mx
from gluonish.core.config import GLUONISH_FULL_TRACEBACKS
from gluonish.gluon import nn

nd = mx.nd


class Inner(nn.HybridBlock):
    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.dot(x, x)


class Broken(nn.HybridBlock):
    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return x.does.not_exist


def stack(*layers: Any) -> Any:
    net = nn.HybridSequential(nn.HybridSequential(*layers))
    net.initialize()
    return net


def frames(error: BaseException) -> list[str]:
    return [frame.name for frame in traceback.extract_tb(error.__traceback__)]


def test_lines_of_the_program_stay_without_those_between() -> None:
    with pytest.raises(ValueError, match="dot") as caught:
        stack(Inner())(nd.ones((2, 3)))
    test, hybrid_forward = frames(caught.value)
    assert (test, hybrid_forward) == (
        "test_lines_of_the_program_stay_without_those_between",
        "hybrid_forward",
    )


def test_hybridized_the_message_has_the_line() -> None:
    net = stack(Inner())
    net.hybridize()
    with pytest.raises(
        ValueError, match=r"at test_tracebacks.py:\d+ in hybrid_forward: "
    ) as caught:
        net(nd.ones((2, 3)))
    assert frames(caught.value) == ["test_hybridized_the_message_has_the_line"]
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_an_error_of_the_program_has_its_line_last() -> None:
    with pytest.raises(AttributeError) as caught:
        stack(Broken())(nd.ones((2, 3)))
    assert frames(caught.value)[-1] == "hybrid_forward"
    assert len(frames(caught.value)) == 2


def test_an_error_in_this_package_keeps_all_frames() -> None:
    net = stack()
    net[0]._children["broken"] = 5
    with pytest.raises(TypeError, match="not callable") as caught:
        net(nd.ones((2, 3)))
    assert len(frames(caught.value)) > 4


def test_all_frames_stay_on_request() -> None:
    with GLUONISH_FULL_TRACEBACKS.override(True), pytest.raises(ValueError, match="dot") as caught:
        stack(Inner())(nd.ones((2, 3)))
    assert len(frames(caught.value)) > 8


def test_a_cause_in_the_program_stays() -> None:
    class Net(nn.Block):
        def forward(self, x: Any) -> Any:
            try:
                raise KeyError("mine")
            except KeyError as error:
                raise mx.MXNetError("mine, too") from error

    with pytest.raises(mx.MXNetError) as caught:
        Net()(nd.ones(1))
    assert isinstance(caught.value.__cause__, KeyError)
