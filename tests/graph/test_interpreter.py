import numpy as np

from gluonish import autograd
from gluonish.core.context import cpu
from gluonish.core.random_state import seed
from gluonish.graph.interpreter import evaluate, gradients
from gluonish.graph.ir import constant
from gluonish.ndarray import array, ones
from tests.graph.builders import call, graph, inputs


def test_a_graph_is_computed_in_order() -> None:
    a, b = inputs((2,), (2,))
    made = graph([a, b], a * b + 1.0, b)
    results = evaluate(made, [array([1, 2]), array([3, 4])])
    assert [y.asnumpy().tolist() for y in results] == [[4, 9], [3, 4]]


def test_a_graph_without_inputs_runs_in_the_current_context() -> None:
    made = graph([], call("_ones", shape=(2,)))
    with cpu(1):
        (y,) = evaluate(made, [])
    assert y.context == cpu(1)
    assert y.asnumpy().tolist() == [1, 1]


def test_constants_follow_the_inputs_to_their_device() -> None:
    (a,) = inputs((2,))
    made = graph([a], call("elemwise_add", a, constant(ones((2,), ctx=cpu(0)))))
    (y,) = evaluate(made, [ones((2,), ctx=cpu(1))])
    assert y.context == cpu(1)


def test_what_is_computed_while_recording_can_be_differentiated() -> None:
    (a,) = inputs((2,))
    x = array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        (y,) = evaluate(graph([a], call("square", a)), [x])
    autograd.backward(y)
    assert x.grad.asnumpy().tolist() == [2, 4]


def test_the_monitor_sees_every_output_of_an_operator() -> None:
    (a,) = inputs((4, 2))
    first, _ = call("SliceChannel", a, num_outputs=2)
    seen = []
    evaluate(
        graph([a], call("relu", first)),
        [ones((4, 2))],
        monitor=(lambda name, op, x: seen.append((name, op, x.shape)), False),
    )
    assert seen == [
        ("slicechannel_output0", "SliceChannel", (4, 1)),
        ("slicechannel_output1", "SliceChannel", (4, 1)),
        ("relu_output", "relu", (4, 1)),
    ]


def test_the_monitor_sees_inputs_if_it_wants_to() -> None:
    (a,) = inputs((2,))
    seen = []
    evaluate(
        graph([a], call("relu", a)),
        [ones((2,))],
        monitor=(lambda name, op, x: seen.append(name), True),
    )
    assert seen == ["relu_input0", "relu_output"]  # as MXNet 1.9.1 calls them


def test_gradients_repeat_the_random_numbers_of_the_call() -> None:
    (a,) = inputs((100,))
    made = graph([a], call("Dropout", a, train=True))
    x = ones((100,))
    seed(5)
    (y,) = evaluate(made, [x])
    seed(6)
    (g,) = gradients(made, [x], [ones((100,))], [0], key=(5, 0))
    assert g is not None
    np.testing.assert_array_equal(g.asnumpy(), y.asnumpy())


def test_gradients_leave_moving_statistics_alone() -> None:
    x, *rest = inputs((4, 3), (3,), (3,), (3,), (3,))
    made = graph([x, *rest], call("BatchNorm", x, *rest, train=True))
    arrays = [array(np.arange(12).reshape(4, 3)), *[ones((3,)) for _ in rest]]
    found = gradients(made, arrays, [ones((4, 3))], [0, 2], key=(0, 0))
    assert [g is not None for g in found] == [True, False, True, False, False]
    assert arrays[3].asnumpy().tolist() == [1, 1, 1]
