"""Files written without NumPy's shape semantics, read under them; results are MXNet 1.9.1's."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import sym


def x() -> sym.Symbol:
    return sym.var("x")


CASES: list[tuple[Callable[[], sym.Symbol], tuple[int, ...], str | None]] = [
    (lambda: sym.var("w", shape=(0, 3)) + x(), (2, 3), "(-1, 3)"),
    (lambda: sym.var("w", shape=(0,)) + x(), (2,), "(-1,)"),
    (lambda: sym.var("w", shape=()) + x(), (2, 3), None),
    (lambda: sym.var("w", shape=(2, 3)) + x(), (2, 3), "(2, 3)"),
]


@pytest.mark.parametrize(("graph", "shape", "declared"), CASES)
def test_0_of_a_file_without_np_shape_is_an_unknown_size(
    graph: Callable[[], sym.Symbol], shape: tuple[int, ...], declared: str | None
) -> None:
    text = graph().tojson()
    assert "is_np_shape" not in text
    with mx.util.np_shape(True):
        loaded = sym.load_json(text)
        assert loaded.attr_dict().get("w", {}).get("__shape__") == declared
        assert loaded.infer_shape(x=shape) == ([shape, shape], [shape], [])
        assert loaded.simple_bind(mx.cpu(), x=shape).forward()[0].shape == shape
        again = sym.load_json(loaded.tojson())
        assert again.infer_shape(x=shape) == ([shape, shape], [shape], [])
    assert sym.load_json(text).infer_shape(x=shape) == ([shape, shape], [shape], [])


def test_weight_of_a_layer_with_an_unknown_size() -> None:
    weight = sym.var("w", shape=(4, 0))
    text = sym.FullyConnected(x(), weight, num_hidden=4, no_bias=True).tojson()
    with mx.util.np_shape(True):
        assert sym.load_json(text).infer_shape(x=(2, 3))[0] == [(2, 3), (4, 3)]


def test_0_of_a_file_with_np_shape_is_a_size() -> None:
    with mx.util.np_shape(True):
        text = (sym.var("w", shape=(0, 3)) * 2).tojson()
        assert sym.load_json(text).infer_shape()[1] == [(0, 3)]


def test_body_of_a_loop_is_converted() -> None:
    def step(data: Any, state: Any) -> Any:
        return data + sym.var("w", shape=(0,)), state

    outputs, _ = sym.contrib.foreach(step, x(), sym.var("s"))
    text = outputs.tojson()
    with mx.util.np_shape(True):
        shapes = sym.load_json(text).infer_shape(x=(5, 3), s=(1,))
    assert shapes[1] == [(5, 3)]


def test_shape_that_cannot_be_read_is_refused_when_asked_for() -> None:
    text = (sym.var("w", shape=(0, 3)) + x()).tojson().replace("(0, 3)", "what?")
    with mx.util.np_shape(True), pytest.raises(mx.base.MXNetError, match="expected __shape__"):
        sym.load_json(text).infer_shape(x=(2, 3))


def test_empty_shape_of_random_numbers_is_unknown() -> None:
    graph = json.loads((sym.random.normal() + x()).tojson())
    graph["nodes"][0]["attrs"]["shape"] = "()"
    loaded = sym.load_json(json.dumps(graph))
    drawn = loaded.eval(x=mx.nd.zeros((40, 50)))[0].asnumpy()
    assert len(np.unique(drawn)) > 1900
