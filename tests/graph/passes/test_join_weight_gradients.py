"""join_weight_gradients: few operators copy the gradients that are laid out channels last."""

from typing import Any

import pytest

from gluonish.core.config import MXNET_DISABLED_GRAPH_PASSES
from gluonish.graph.gradient import differentiate
from gluonish.graph.ir import Graph, Value, lint
from gluonish.graph.passes import join_weight_gradients
from gluonish.graph.passes import join_weight_gradients as module
from tests.graph.builders import call, inputs


def starts(op: Any, attrs: Any, specs: Any, xp: Any) -> bool:
    return "convolution" in op.name.lower()


def _network(*kernels: int, channels: int = 3) -> Graph:
    """Return layers of windows of these sizes, with the gradients of their weights."""
    x, *weights = inputs((2, channels, 5, 5), *((channels, channels, k, k) for k in kernels))
    y = x
    for weight, k in zip(weights, kernels, strict=True):
        attrs = {"kernel": (k, k), "num_filter": channels, "no_bias": True, "pad": (k // 2,) * 2}
        y = call("Convolution", y, weight, **attrs)
    made = Graph([v.node for v in (x, *weights)], [y])
    found = differentiate(made, range(1, 1 + len(weights)))
    gradients = [g for g in found.gradients if g is not None]
    return Graph([*made.inputs, *(head.node for head in found.heads)], [y, *gradients])


def _joined(made: Graph) -> list[int]:
    """Return the number of gradients of each operator that copies some."""
    nodes = [node for node in made.nodes if node.op and node.op.name == "_cast_weights"]
    return [len(node.inputs) for node in nodes]


def test_gradients_whose_layouts_differ_are_joined() -> None:
    made = _network(3, 1, 3, 3)
    passed = lint(join_weight_gradients(made, starts=starts))
    assert _joined(passed) == [3]
    names = [value.node.op and value.node.op.name for value in passed.outputs[1:]]
    assert names.count("_cast_weights") == 3
    assert [x.spec for x in passed.outputs] == [x.spec for x in made.outputs]
    for before, after in zip(made.outputs[1:], passed.outputs[1:], strict=True):
        read = after.node.inputs[after.index] if after.node.op is not before.node.op else after
        assert read.key == before.key


def test_one_that_another_node_reads_stays() -> None:
    made = _network(3)
    read = Graph(made.inputs, [*made.outputs, call("exp", made.outputs[1])])
    assert join_weight_gradients(read, starts=starts) is read
    twice = Graph(made.inputs, [*made.outputs, Value(made.outputs[1].node)])
    assert join_weight_gradients(twice, starts=starts) is twice


def test_no_layout_no_copies() -> None:
    made = _network(3, 3)
    assert join_weight_gradients(made, starts=lambda *_: False) is made
    with MXNET_DISABLED_GRAPH_PASSES.override(("channels_last",)):
        assert join_weight_gradients(made, starts=starts) is made


def test_a_group_ends_when_it_has_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    made = _network(3, 3, 3, 3, 3)
    monkeypatch.setitem(module.__globals__, "_ENOUGH", 2 * 3 * 3 * 9 * 4)
    assert _joined(lint(join_weight_gradients(made, starts=starts))) == [2, 2, 1]
