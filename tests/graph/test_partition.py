from gluonish.graph.ir import Node, Value
from gluonish.graph.partition import split_passes
from tests.graph.builders import call, graph, inputs


def _names(nodes: list[Node]) -> list[str]:
    return [node.op.name for node in nodes if node.op]


def test_without_wanted_gradients_everything_is_forward() -> None:
    (a,) = inputs((2,))
    parts = split_passes(graph([a], call("sin", a)), [])
    assert _names(parts.forward) == ["sin"]
    assert parts.backward == []
    assert parts.heads == []
    assert parts.saved == []


def test_the_backward_pass_keeps_what_it_reads() -> None:
    (a,) = inputs((2,))
    inner = call("sin", a)
    parts = split_passes(graph([a], call("square", inner)), [0])
    assert _names(parts.forward) == ["sin", "square"]
    assert [value.node.name for value in parts.saved] == ["sin"]
    assert parts.read_inputs == [0]
    assert parts.read_outputs == []
    assert parts.gradient_positions == [0]


def test_an_output_that_the_backward_pass_reads_is_not_kept_twice() -> None:
    (a,) = inputs((2,))
    parts = split_passes(graph([a], call("tanh", a)), [0])
    assert parts.saved == []
    assert parts.read_outputs == [0]
    assert parts.read_inputs == []


def test_inputs_that_only_the_forward_pass_reads_are_not_read_again() -> None:
    a, b = inputs((2,), (2,))
    parts = split_passes(graph([a, b], a + b), [0, 1])
    assert parts.read_inputs == []
    assert parts.gradient_positions == [0, 1]


def test_an_input_without_a_path_has_no_gradient() -> None:
    a, b = inputs((2,), (2,))
    parts = split_passes(graph([a, b], call("sin", b)), [0, 1])
    assert parts.gradient_positions == [1]


def test_a_mask_that_was_drawn_is_kept_and_not_drawn_again() -> None:
    (a,) = inputs((2,))
    y = call("Dropout", a, train=True)
    parts = split_passes(graph([a], y), [0])
    assert "Dropout" not in _names(parts.backward)
    assert [value.index for value in parts.saved] == [1]


def test_what_both_passes_compute_is_computed_in_the_forward_pass() -> None:
    (a,) = inputs((2,))
    parts = split_passes(graph([a], call("sin", a), call("cos", a)), [0])
    assert "cos" not in _names(parts.backward)


def test_a_gradient_that_is_a_head_is_delivered() -> None:
    (a,) = inputs((2,))
    parts = split_passes(graph([a], call("_copy", a)), [0])
    assert [value.key for value in parts.gradients] == [parts.heads[0].key]
    assert isinstance(parts.outputs[0], Value)
