from typing import Any

import pytest

from gluonish.graph.ir import Value, lint
from gluonish.graph.passes import fuse_rnn
from tests.graph.builders import call, graph, inputs

# Input and recurrent weight, their biases: one layer of two plain units on three features.
SHAPES = ((2, 3), (2, 2), (2,), (2,))
ATTRS: dict[str, Any] = {"mode": "rnn_tanh", "state_size": 2, "num_layers": 1}


def _joined(parts: list[Value]) -> Value:
    flat = [
        part if len(part.spec.shape) == 1 else call("Reshape", part, shape=-1) for part in parts
    ]
    joined: Value = call("_rnn_param_concat", *flat, dim=0)
    return joined


def _fused(variables: list[Value], *outputs: Value) -> str:
    return str(lint(fuse_rnn(graph(variables, *outputs))))


def test_parameters_are_read_as_they_are() -> None:
    data, state, *parts = inputs((4, 1, 3), (1, 1, 2), *SHAPES)
    y = call("RNN", data, _joined(parts), state, train=True, **ATTRS)
    found = _fused([data, state, *parts], y)
    assert "_rnn_param_concat" not in found
    assert "Reshape" not in found
    assert "= _fused_rnn(%0, %5, %1, %2, %3, %4," in found


def test_parameters_in_another_order_stay() -> None:
    data, state, *parts = inputs((4, 1, 3), (1, 1, 2), *SHAPES)
    y = call("RNN", data, _joined([parts[1], parts[0], *parts[2:]]), state, train=True, **ATTRS)
    assert "_fused_rnn" not in _fused([data, state, *parts], y)


@pytest.mark.parametrize("joined", [False, True])
def test_a_vector_that_is_given_stays(joined: bool) -> None:
    data, state, flat = inputs((4, 1, 3), (1, 1, 2), (14,))
    source = call("_rnn_param_concat", flat, dim=0) if joined else flat
    y = call("RNN", data, source, state, train=True, **ATTRS)
    assert "_fused_rnn" not in _fused([data, state, flat], y)
