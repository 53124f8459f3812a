import numpy as np
import pytest

from gluonish.core.dtype import FLOAT16, FLOAT32, FLOAT64
from gluonish.core.errors import GraphError, OperatorError
from gluonish.core.spec import UNKNOWN, PartialSpec
from gluonish.graph.inference import infer, specialize
from gluonish.graph.ir import Node, Value, constant, lint, variable
from gluonish.ndarray import ones
from gluonish.ops.registry import find_operator
from tests.graph.builders import spec, text


def symbolic(name: str, node_name: str, *values: Value, **attrs: object) -> Value:
    """Apply an operator without knowing shapes."""
    op = find_operator(name)
    return Value(Node(op, node_name, values, op.schema.parse(name, attrs)))


def _dense() -> tuple[list[Value], Value]:
    x, w, b = variable("x"), variable("w"), variable("b")
    return [x, w, b], symbolic("FullyConnected", "fc", x, w, b, num_hidden=4)


def test_parameters_follow_from_the_data() -> None:
    (x, w, b), y = _dense()
    found = infer([y], {"x": PartialSpec((2, 3), FLOAT32)})
    assert found.spec(w) == PartialSpec((4, 3), FLOAT32)
    assert found.spec(b) == PartialSpec((4,), FLOAT32)
    assert found.spec(y) == PartialSpec((2, 4), FLOAT32)
    assert found.spec(x).known()


def test_the_dtype_of_the_data_reaches_the_parameters() -> None:
    (_, w, _), y = _dense()
    assert infer([y], {"x": PartialSpec((2, 3), FLOAT16)}).spec(w).dtype == FLOAT16


def test_float64_is_not_taken_for_an_unknown_dtype() -> None:
    (_, w, b), y = _dense()
    known = {"x": PartialSpec((2, 3), FLOAT64), "w": PartialSpec((4, 3)), "b": PartialSpec((4,))}
    found = infer([y], known)
    assert [found.spec(v).dtype for v in (w, b, y)] == [FLOAT64] * 3


def test_what_nothing_determines_is_float32() -> None:
    (x, _, _), y = _dense()
    found = infer([y], {})
    assert found.spec(x).dtype == FLOAT32
    assert found.spec(x).shape is None


def test_shapes_flow_against_the_direction_of_the_nodes() -> None:
    a, b = variable("a"), variable("b")
    y = symbolic("elemwise_add", "sum", symbolic("relu", "r", a), b)
    found = infer([y], {"b": PartialSpec((2, 3), FLOAT32)})
    assert found.spec(a).shape == (2, 3)


def test_unknown_extents_stay_unknown() -> None:
    a = variable("a")
    y = symbolic("relu", "r", a)
    found = infer([y], {"a": PartialSpec((UNKNOWN, 3), None)})
    assert found.spec(y).shape == (UNKNOWN, 3)


def test_a_long_chain_is_followed_backward() -> None:
    a, b = variable("a"), variable("b")
    y = a
    for i in range(40):
        y = symbolic("relu", f"r{i}", y)
    y = symbolic("elemwise_add", "sum", y, b)
    assert infer([y], {"b": PartialSpec((5,), FLOAT32)}).spec(a).shape == (5,)


def test_a_contradiction_names_the_node() -> None:
    _, y = _dense()
    with pytest.raises(OperatorError, match=r"^fc: FullyConnected.*expected.*got"):
        infer([y], {"x": PartialSpec((2, 3), FLOAT32), "w": PartialSpec((4, 7), FLOAT32)})


def test_constants_are_known() -> None:
    a, held = variable("a"), constant(ones((2, 2)))
    y = symbolic("elemwise_add", "sum", a, held)
    assert infer([y], {}).spec(a).shape == (2, 2)


def test_specialize_puts_specs_and_mode_on_every_node() -> None:
    x = variable("x")
    y = symbolic("Dropout", "d", symbolic("relu", "r", x))
    made = lint(specialize([x.node], [y], [spec(2, 3)], train=True))
    assert str(made) == text(
        """
        %0: float32(2, 3) = variable x
        %1: float32(2, 3) = relu(%0)
        %2: float32(2, 3), float32(2, 3) = Dropout(%1, train=True)
        return %2
        """
    )


def test_specialize_leaves_the_graph_as_it_is() -> None:
    x = variable("x")
    y = symbolic("relu", "r", x)
    specialize([x.node], [y], [spec(2)], train=False)
    assert y.node.specs == ()


def test_specialize_wants_every_variable() -> None:
    a, b = variable("a"), variable("b")
    y = symbolic("elemwise_add", "sum", a, b)
    with pytest.raises(GraphError, match="expected a value for variable b, got none"):
        specialize([a.node], [y], [spec(2)], train=False)


def test_specialize_names_the_node_that_refuses() -> None:
    (x, w, b), y = _dense()
    nodes = [x.node, w.node, b.node]
    with pytest.raises(OperatorError, match=r"^fc: FullyConnected: expected data with 9"):
        specialize(nodes, [y], [spec(2, 3), spec(4, 9), spec(4)], train=False)


def test_specialize_keeps_constants() -> None:
    a, held = variable("a"), constant(ones((2,)))
    y = symbolic("elemwise_add", "sum", a, held)
    made = specialize([a.node], [y], [spec(2)], train=False)
    assert held.node in made.nodes
    assert made.outputs[0].dtype == np.float32


def test_zeros_of_a_shape_left_open_take_it_from_those_who_read_them() -> None:
    x = variable("x")
    state = symbolic("_zeros", "begin", shape=(0, 4), dtype="float32")
    y = symbolic("elemwise_add", "sum", x, symbolic("relu", "r", state))
    made = lint(specialize([x.node], [y], [spec(3, 4)], train=False))
    assert str(made) == text(
        """
        %0: float32(3, 4) = variable x
        %1: float32(3, 4) = _zeros(shape=(3, 4))
        %2: float32(3, 4) = relu(%1)
        %3: float32(3, 4) = elemwise_add(%0, %2)
        return %3
        """
    )


def test_zeros_of_a_shape_that_nobody_determines_are_empty() -> None:
    made = specialize([], [symbolic("_zeros", "z", shape=(0, 4))], [], train=False)
    assert made.outputs[0].shape == (0, 4)
