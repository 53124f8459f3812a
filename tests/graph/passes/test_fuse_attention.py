from functools import partial
from typing import Any

import pytest

from gluonish.graph.ir import Value, lint
from gluonish.graph.passes import fuse_attention, keep_batch_axes
from tests.graph.builders import call, graph, inputs, text


def _all(*_: object) -> bool:
    return True


def _fused(variables: list[Value], *outputs: Value, supports: Any = _all) -> str:
    return str(lint(fuse_attention(graph(variables, *outputs), supports=supports)))


def _weights(q: Value, k: Value, **dropout: Any) -> Any:
    scores = call("_mul_scalar", call("batch_dot", q, k, transpose_b=True), scalar=0.5)
    weights = call("softmax", scores, axis=-1)
    return call("Dropout", weights, **dropout) if dropout else weights


def test_products_scale_and_softmax_are_one_operator() -> None:
    q, k, v = inputs((2, 3, 4), (2, 5, 4), (2, 5, 6))
    y = call("batch_dot", _weights(q, k), v)
    assert _fused([q, k, v], call("relu", y)) == text(
        """
        %0: float32(2, 3, 4) = variable a
        %1: float32(2, 5, 4) = variable b
        %2: float32(2, 5, 6) = variable c
        %3: float32(2, 3, 6), float32(2, 3, 1), int64(2,) = {}(%0, %1, %2, {})
        %4: float32(2, 3, 6) = relu(%3)
        return %4
        """
    ).format("scaled_dot_product_attention", "scale=0.5, train=False")


def test_dropout_is_part_of_it() -> None:
    q, k, v = inputs((2, 3, 4), (2, 5, 4), (2, 5, 6))
    y = call("batch_dot", _weights(q, k, p=0.3, mode="always", train=True), v)
    found = _fused([q, k, v], y)
    assert "scaled_dot_product_attention(%0, %1, %2, dropout=0.3, mode=" in found
    assert "Dropout" not in found


def test_heads_that_are_kept_apart_stay_apart() -> None:
    q, k, v = inputs((2, 3, 2, 4), (2, 3, 2, 4), (2, 3, 2, 4))
    heads = [
        call("Reshape", call("transpose", x, axes=(0, 2, 1, 3)), shape=(4, 3, 4)) for x in (q, k, v)
    ]
    y = call("batch_dot", _weights(*heads[:2]), heads[2])
    made = keep_batch_axes(graph([q, k, v], y))
    found = str(lint(fuse_attention(made, supports=_all)))
    assert (
        "float32(2, 2, 3, 4), float32(2, 2, 3, 1), int64(2,) = scaled_dot_product_attention("
        in found
    )
    assert "softmax" not in found


def test_transpose_of_the_output_is_part_of_it() -> None:
    q, k, v = inputs((2, 3, 5, 4), (2, 3, 5, 4), (2, 3, 5, 4))
    flat = [call("Reshape", x, shape=(6, 5, 4)) for x in (q, k, v)]
    y = call("batch_dot", _weights(flat[0], flat[1]), flat[2])
    y = call("transpose", call("Reshape", y, shape=(2, 3, 5, 4)), axes=(0, 2, 1, 3))
    assert "transpose" in _fused([q, k, v], y)  # the heads are not apart
    y = call("batch_dot", _weights(q, k), v)
    found = _fused([q, k, v], call("transpose", y, axes=(0, 2, 1, 3)))
    assert "swapped=True" in found
    assert "transpose" not in found
    assert "transpose" in _fused([q, k, v], call("transpose", y, axes=(0, 2, 1, 3)), y)
    assert "transpose" in _fused([q, k, v], call("transpose", y, axes=(0, 1, 3, 2)))


@pytest.mark.parametrize(
    "make",
    [
        # Another reader of the scores, the weights, or the mask.
        lambda q, k, v: (_weights(q, k), partial(call, "batch_dot")),
        lambda q, k, v: (call("softmax", call("batch_dot", q, k, transpose_b=True), axis=1), None),
        lambda q, k, v: (call("softmax", call("batch_dot", q, k), axis=-1), None),
        lambda q, k, v: (call("relu", _weights(q, k)), None),
        lambda q, k, v: (
            call("softmax", call("batch_dot", q, k, transpose_b=True), axis=-1, temperature=2.0),
            None,
        ),
    ],
)
def test_what_is_no_attention_stays(make: Any) -> None:
    q, k, v = inputs((2, 4, 4), (2, 4, 4), (2, 4, 4))
    weights, read_twice = make(q, k, v)
    y = call("batch_dot", weights, v)
    outputs = [y, weights] if read_twice else [y]
    assert "scaled_dot_product_attention" not in _fused([q, k, v], *outputs)


def test_what_the_device_does_not_support_stays() -> None:
    q, k, v = inputs((2, 3, 4), (2, 5, 4), (2, 5, 6))
    y = call("batch_dot", _weights(q, k), v)
    seen: list[tuple[object, ...]] = []

    def supports(*given: object) -> bool:
        seen.append(given)
        return False

    assert "scaled_dot_product_attention" not in _fused([q, k, v], y, supports=supports)
    assert seen == [(q.spec, k.spec, v.spec, False)]
