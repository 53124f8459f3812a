"""Dropout stores the key of its random numbers, and its factors are drawn again."""

from typing import Any

from gluonish.core.config import MXNET_DISABLED_GRAPH_PASSES
from gluonish.graph.ir import Graph, lint
from gluonish.graph.passes import eliminate_dead_code, redraw_masks
from tests.graph.builders import call, graph, inputs


def _names(made: Graph) -> list[str]:
    return [node.op.name for node in made.nodes if node.op is not None]


def _dropped(x: Any, **attrs: Any) -> Any:
    return call("Dropout", x, **{"p": 0.5, "train": True, **attrs}).node


def _fused(*outputs: Any, variables: Any) -> list[str]:
    return _names(eliminate_dead_code(lint(redraw_masks(graph(variables, *outputs)))))


def test_factors_are_drawn_where_they_are_read() -> None:
    x, grad = variables = inputs((3, 4), (3, 4))
    node = _dropped(x)
    value = type(x)
    made = lint(redraw_masks(graph(variables, value(node), grad * value(node, 1))))
    assert _names(made) == ["_dropout_keyed", "_dropout_factors", "broadcast_mul"]
    keyed, factors, product = (x for x in made.nodes if x.op is not None)
    assert made.outputs[0].key == (id(keyed), 0)
    assert factors.inputs[0].key == (id(keyed), 1)
    assert product.inputs[1].key == (id(factors), 0)
    assert (factors.attrs["p"], factors.attrs["shape"]) == (0.5, (3, 4))


def test_unread_factors_are_not_drawn() -> None:
    (x,) = variables = inputs((3, 4))
    assert _fused(type(x)(_dropped(x)), variables=variables) == ["_dropout_keyed"]


def test_what_stays() -> None:
    (x,) = variables = inputs((3, 4))
    value = type(x)
    for attrs in ({"axes": (1,)}, {"p": 0}, {"train": False}):
        assert _fused(value(_dropped(x, **attrs)), variables=variables) == ["Dropout"]
    always = _dropped(x, train=False, mode="always")
    assert _fused(value(always), variables=variables) == ["_dropout_keyed"]
    assert _fused(value(always), value(always, 1), variables=variables) == ["Dropout"]
    with MXNET_DISABLED_GRAPH_PASSES.override(frozenset({"fuse_pointwise"})):
        assert _fused(value(always), variables=variables) == ["Dropout"]
