import pickle

import numpy as np

from gluonish import ndarray as nd
from gluonish.graph.ir import Graph, Node, Value, constant, flattened, restored, variable
from gluonish.ops.registry import find_operator
from tests.graph.builders import call, graph, inputs


def test_restored_graph_prints_like_the_flattened_one_on_new_nodes() -> None:
    (x,) = inputs((2, 4))
    left, right = call("split", x, num_outputs=2, axis=1)
    joined = graph([x], left * 2.0 + right, right)
    values = restored(flattened(joined.outputs))
    assert str(Graph([], values)) == str(Graph([], joined.outputs))
    assert values[0].node is not joined.outputs[0].node
    assert values[1].key == values[0].node.inputs[1].key


def test_array_inside_a_graph_goes_through_a_pickle() -> None:
    (value,) = restored(pickle.loads(pickle.dumps(flattened([constant(nd.arange(3))]))))
    assert value.node.array is not None
    np.testing.assert_array_equal(value.node.array.asnumpy(), [0, 1, 2])


def test_long_chain_goes_through_a_pickle() -> None:
    value = variable("x")
    for i in range(3000):
        value = Value(Node(find_operator("tanh"), f"tanh{i}", [value]))
    (found,) = restored(pickle.loads(pickle.dumps(flattened([value]))))
    assert str(Graph([], [found])) == str(Graph([], [value]))
