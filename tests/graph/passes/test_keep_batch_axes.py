from typing import Any

import pytest

from gluonish.graph.ir import Value, lint
from gluonish.graph.passes.keep_batch_axes import keep_batch_axes
from tests.graph.builders import call, graph, inputs, text


def _heads(x: Value, stack: int = 6) -> Any:
    """(2, 5, 3, 4) to (2 x 3, 5, 4)."""
    turned = call("transpose", x, axes=(0, 2, 1, 3))
    return call("Reshape", turned, shape=(stack, -1, 4))


def test_heads_of_attention_keep_their_axis() -> None:
    x, y = variables = inputs((2, 5, 3, 4), (2, 5, 3, 4))
    z = call("batch_dot", _heads(x), _heads(y), transpose_b=True)
    assert str(lint(keep_batch_axes(graph(variables, z)))) == text(
        """
        %0: float32(2, 5, 3, 4) = variable a
        %1: float32(2, 3, 5, 4) = transpose(%0, axes=(0, 2, 1, 3))
        %2: float32(6, 5, 4) = Reshape(%1, shape=(6, -1, 4))
        %3: float32(2, 5, 3, 4) = variable b
        %4: float32(2, 3, 5, 4) = transpose(%3, axes=(0, 2, 1, 3))
        %5: float32(6, 5, 4) = Reshape(%4, shape=(6, -1, 4))
        %6: float32(2, 3, 5, 5) = batch_dot(%1, %4, transpose_b=True)
        %7: float32(6, 5, 5) = Reshape(%6, shape=(6, 5, 5))
        return %7
        """
    )


@pytest.mark.parametrize("first", [True, False])
def test_the_other_operand_gets_the_axes(first: bool) -> None:
    x, weights = variables = inputs((2, 5, 3, 4), (6, 5, 5))
    operands = (_heads(x), weights) if first else (weights, _heads(x))
    y = call("batch_dot", *operands, transpose_a=first)
    printed = str(lint(keep_batch_axes(graph(variables, y))))
    assert "float32(2, 3, 5, 5) = Reshape(" in printed
    assert f"float32(2, 3, {'4, 5' if first else '5, 4'}) = batch_dot(" in printed


def _other_axes(x: Value) -> Any:
    """Also the rows are joined: (2, 3, 5, 4) to (3, 10, 4)."""
    return call("Reshape", call("transpose", x, axes=(0, 2, 1, 3)), shape=(3, 10, 4))


def _untransposed(x: Value) -> Any:
    return call("Reshape", x, shape=(10, 3, 4))


@pytest.mark.parametrize("make", [_other_axes, _untransposed])
def test_other_operands_stay(make: Any) -> None:
    (x,) = variables = inputs((2, 5, 3, 4))
    y = call("batch_dot", make(x), make(x), transpose_b=True)
    before = graph(variables, y)
    assert (
        "float32(2"
        not in str(keep_batch_axes(before)).partition("batch_dot")[0].rpartition("\n")[2]
    )
    assert str(keep_batch_axes(before)) == str(before)


def test_operands_of_different_axes_stay() -> None:
    x, y = variables = inputs((2, 5, 3, 4), (3, 5, 2, 4))
    before = graph(variables, call("batch_dot", _heads(x), _heads(y), transpose_b=True))
    assert str(keep_batch_axes(before)) == str(before)
