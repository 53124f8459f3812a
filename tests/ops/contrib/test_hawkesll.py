"""hawkesll: what it refuses."""

from typing import Any

import pytest

import gluonish as mx
from gluonish.core.errors import OperatorError


def _inputs(mark: int) -> list[Any]:
    ones = mx.nd.ones
    marks = mx.nd.array([[0, mark]], dtype="int32")
    rates = [ones((1, 2)), ones((2,)), ones((2,)), ones((1, 2)), ones((1, 2))]
    return [*rates, marks, mx.nd.array([2]), mx.nd.array([5])]


def test_known_kinds_are_taken() -> None:
    likelihood, state = mx.nd.contrib.hawkesll(*_inputs(1))
    assert likelihood.shape == (1,)
    assert state.shape == (1, 2)


def test_unknown_kind_is_refused() -> None:
    with pytest.raises(OperatorError, match=r"hawkesll: .*expected marks in \[0, 2\)"):
        mx.nd.contrib.hawkesll(*_inputs(2))[0].wait_to_read()
