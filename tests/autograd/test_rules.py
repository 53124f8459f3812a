"""What gradient rules compute, as graphs, and what of it becomes one kernel."""

from functools import partial
from typing import Any

import numpy as np

from gluonish.autograd.gradient_plan import Rule, trace_rule
from gluonish.core.spec import Spec
from gluonish.graph import passes
from gluonish.graph.ir import Graph, Value
from gluonish.kernels.generated.expressions import aligned_shape, supports
from gluonish.ndarray import NDArray  # noqa: F401  # registers all operators and kernels
from gluonish.ops.registry import find_operator

fuse_pointwise = partial(passes.fuse_pointwise, supports=supports, aligned_shape=aligned_shape)
FLOAT = np.dtype(np.float32)
DATA, ROW = Spec((4, 8), FLOAT), Spec((4,), FLOAT)


def rule(name: str, *inputs: Spec, outputs: tuple[Spec, ...] = (), **attrs: object) -> Rule:
    op = find_operator(name)
    parsed = op.schema.parse(name, attrs)
    (head,) = op.infer(*inputs, **parsed)
    found = trace_rule(op, parsed, [head], inputs, outputs, [True] * len(inputs))
    assert found is not None
    return found


def names(graph: Graph) -> list[str]:
    return [node.op.name for node in graph.nodes if node.op is not None]


def fused(found: Rule, least: int = 1) -> list[str]:
    return names(fuse_pointwise(found.graph, least, alone=False))


def test_the_graph_is_what_the_rule_calls() -> None:
    found = rule("softsign", DATA)
    assert names(found.graph) == ["abs", "_plus_scalar", "square", "broadcast_div"]
    assert (found.needed, found.inputs) == ((0,), 1)
    assert [node.specs for node in found.graph.inputs] == [(DATA,), (DATA,)]  # head and data


def test_a_gradient_that_is_a_given_value_needs_no_operator() -> None:
    found = rule("broadcast_add", DATA, DATA)
    (head, *_) = found.graph.inputs
    assert names(found.graph) == []
    assert [value.key for value in found.graph.outputs] == [Value(head).key] * 2


def test_inputs_without_a_gradient_have_no_output() -> None:
    op = find_operator("broadcast_mul")
    found = trace_rule(op, {}, [DATA], [DATA, DATA], [], [False, True])
    assert found is not None
    assert (found.needed, found.inputs, len(found.graph.outputs)) == ((1,), 2, 1)


def test_a_rule_that_needs_numbers_has_no_graph() -> None:
    op = find_operator("exp")
    assert trace_rule(op, {}, [None], [DATA], [DATA], [True]) is None


def test_operators_on_single_elements_become_one() -> None:
    assert fused(rule("softsign", DATA)) == ["_fused_pointwise"]


def test_operators_on_smaller_arrays_stay_in_front() -> None:
    found = fused(rule("max", DATA, outputs=(ROW,), axis=1), DATA.size)
    assert (found[0], found[-1]) == ("Reshape", "_fused_pointwise")


def test_the_sum_of_what_was_stretched_stays_behind() -> None:
    found = fused(rule("broadcast_div", DATA, Spec((4, 1), FLOAT)), DATA.size)
    assert found[-1] == "_sum_to_shape"
    assert any(name.startswith("_fused_pointwise") for name in found)


def test_a_sum_is_not_fused_with_what_surrounds_it() -> None:
    attrs: Any = {"axis": -1, "factor": 1.0, "log": False, "dtype": FLOAT}
    found = fused(rule("_softmax_backward", DATA, DATA, **attrs), DATA.size)
    assert "sum" in found


def test_single_operators_and_small_arrays_are_not_fused() -> None:
    assert fused(rule("negative", DATA)) == ["negative"]
    assert "_fused_pointwise" not in fused(rule("softsign", DATA), DATA.size + 1)
