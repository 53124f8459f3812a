import numpy as np
import pytest

from gluonish.core.context import cpu
from gluonish.core.errors import GraphError, OperatorError
from gluonish.graph.ir import Graph, Node, Value, constant, topological_order, variable
from gluonish.ndarray import NDArray, array, ones
from tests.graph.builders import call, graph, inputs, spec, text


def test_a_graph_prints_specs_operators_inputs_and_attributes_that_are_not_defaults() -> None:
    a, b = inputs((8, 4), (10, 4))
    y = call("FullyConnected", a, b, num_hidden=10, no_bias=True)
    assert str(graph([a, b], y)) == text(
        """
        %0: float32(8, 4) = variable a
        %1: float32(10, 4) = variable b
        %2: float32(8, 10) = FullyConnected(%0, %1, num_hidden=10, no_bias=True)
        return %2
        """
    )


def test_later_outputs_of_a_node_print_with_their_index() -> None:
    (a,) = inputs((4, 2))
    first, second = call("SliceChannel", a, num_outputs=2)
    assert str(graph([a], second, first)) == text(
        """
        %0: float32(4, 2) = variable a
        %1: float32(4, 1), float32(4, 1) = SliceChannel(%0, num_outputs=2)
        return %1.1, %1
        """
    )


def test_arithmetic_on_values_appends_nodes_with_inferred_specs() -> None:
    a, b = inputs((2, 1), (2, 3))
    y = (a + b) * 2.0
    assert isinstance(y, Value)
    assert y.spec == spec(2, 3)
    assert [node.op.name for node in topological_order([y]) if node.op] == [
        "broadcast_add",
        "_mul_scalar",
    ]


def test_arrays_among_the_inputs_become_constants() -> None:
    (a,) = inputs((2,))
    two = array([2.0, 3.0])
    y = call("elemwise_add", a, two)
    held = y.node.inputs[1].node
    assert held.op is None
    assert held.array is two
    assert "constant constant" in str(graph([a], y))


def test_values_tell_shape_dtype_rank_and_size() -> None:
    (a,) = inputs((2, 3))
    assert (a.shape, a.dtype, a.ndim, a.size, len(a)) == ((2, 3), np.float32, 2, 6, 2)
    assert a.T.shape == (3, 2)


def test_a_value_without_specs_says_which_node_lacks_them() -> None:
    with pytest.raises(GraphError, match="expected known shapes, got none for x"):
        _ = variable("x").shape


@pytest.mark.parametrize("use", [bool, np.asarray, lambda x: x.asnumpy()])
def test_reading_numbers_of_a_traced_value_is_refused(use: object) -> None:
    (a,) = inputs((2,))
    with pytest.raises((GraphError, TypeError)):
        use(a)  # type: ignore[operator]


def test_a_traced_value_cannot_be_iterated() -> None:
    (a,) = inputs((2,))
    with pytest.raises(TypeError):
        list(a)


def test_indexing_with_an_array_is_refused() -> None:
    (a,) = inputs((2,))
    with pytest.raises(GraphError, match="use take or gather_nd"):
        _ = a[ones((2,))]


def test_basic_indexing_appends_a_slice() -> None:
    (a,) = inputs((4, 3))
    assert a[1:3].shape == (2, 3)
    assert a[0].shape == (3,)
    assert a[:, None].shape == (4, 1, 3)


def test_a_value_stays_on_the_device_that_is_traced_for() -> None:
    (a,) = inputs((2,))
    with cpu(1):
        assert a.context == a.ctx == cpu(1)
        assert a.as_in_context(cpu(1)) is a
        with pytest.raises(GraphError, match="expected cpu\\(1\\)"):
            a.as_in_ctx(cpu(0))


def test_detach_stops_the_gradient() -> None:
    (a,) = inputs((2,))
    assert a.detach().node.op.name == "BlockGrad"
    assert a.copy() is a


def test_wrong_shapes_are_refused_when_a_node_is_made() -> None:
    a, b = inputs((2, 3), (4, 5))
    with pytest.raises(OperatorError, match=r"^FullyConnected: expected data with 5"):
        call("FullyConnected", a, b, num_hidden=4, no_bias=True)


def test_topological_order_is_depth_first_in_the_order_of_inputs() -> None:
    a, b = inputs((2,), (2,))
    left, right = call("relu", b), call("exp", a)
    y = left + right
    assert [node.name for node in topological_order([y, a])] == [
        *("b", "relu", "a", "exp", "broadcast_add")
    ]


def test_topological_order_of_a_long_chain_does_not_recurse() -> None:
    (a,) = inputs((1,))
    y = a
    for _ in range(5000):
        y = y + 1.0
    assert len(topological_order([y])) == 5001


def test_unused_inputs_stay_inputs_of_the_graph() -> None:
    a, b = inputs((2,), (2,))
    made = graph([a, b], a + 1.0)
    assert [node.name for node in made.inputs] == ["a", "b"]
    assert [node.name for node in made.nodes] == ["a", "_plusscalar"]


def test_a_node_counts_hidden_outputs_apart_from_visible_ones() -> None:
    (a,) = inputs((2,))
    node = call("Dropout", a, train=True).node
    assert isinstance(node, Node)
    assert (node.num_outputs, node.num_visible) == (2, 1)


def test_a_constant_knows_its_array() -> None:
    held = constant(ones((2, 2)))
    assert isinstance(held.node.array, NDArray)
    assert held.shape == (2, 2)
    assert isinstance(Graph([], [held]).nodes[0], Node)
