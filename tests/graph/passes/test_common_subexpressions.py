from gluonish.graph.ir import lint
from gluonish.graph.passes import eliminate_common_subexpressions
from tests.graph.builders import call, graph, inputs, text


def test_equal_nodes_become_one_and_so_do_those_that_read_them() -> None:
    (a,) = inputs((2,))
    y = call("exp", call("relu", a)) + call("exp", call("relu", a))
    before = graph([a], y)
    assert str(before).count("exp") == 2
    assert str(lint(eliminate_common_subexpressions(before))) == text(
        """
        %0: float32(2,) = variable a
        %1: float32(2,) = relu(%0)
        %2: float32(2,) = exp(%1)
        %3: float32(2,) = broadcast_add(%2, %2)
        return %3
        """
    )


def test_the_graph_that_came_in_stays_as_it_was() -> None:
    (a,) = inputs((2,))
    before = graph([a], call("relu", a) + call("relu", a))
    printed = str(before)
    eliminate_common_subexpressions(before)
    assert str(before) == printed


def test_other_attributes_keep_nodes_apart() -> None:
    (a,) = inputs((2, 3))
    made = graph([a], call("sum", a, axis=0), call("sum", a, axis=1))
    assert str(eliminate_common_subexpressions(made)) == str(made)


def test_zeros_of_different_sign_are_different_attributes() -> None:
    (a,) = inputs((2,))
    made = graph([a], a * 0.0, a * -0.0)
    assert str(eliminate_common_subexpressions(made)) == str(made)


def test_the_order_of_inputs_matters() -> None:
    a, b = inputs((2,), (2,))
    made = graph([a, b], a - b, b - a)
    assert str(eliminate_common_subexpressions(made)) == str(made)


def test_random_draws_are_kept() -> None:
    (a,) = inputs((2,))
    made = graph([a], call("Dropout", a, train=True) + call("Dropout", a, train=True))
    assert str(eliminate_common_subexpressions(made)) == str(made)


def test_of_leaky_relus_only_those_that_draw_are_kept() -> None:
    (a,) = inputs((2,))
    functions = [call("LeakyReLU", a, act_type="gelu", train=True) for _ in range(2)]
    draws = [call("LeakyReLU", a, act_type="rrelu", train=True)[0] for _ in range(2)]
    for (one, other), count in ((functions, 1), (draws, 2)):
        made = graph([a], one + other)
        assert str(eliminate_common_subexpressions(made)).count("= LeakyReLU") == count


def test_operators_that_overwrite_an_input_are_kept() -> None:
    x, *rest = inputs((2, 3), (3,), (3,), (3,), (3,))
    twice = [call("BatchNorm", x, *rest, train=True) for _ in range(2)]
    made = graph([x, *rest], twice[0] + twice[1])
    assert str(eliminate_common_subexpressions(made)) == str(made)


def test_all_outputs_of_a_node_stand_for_those_of_its_double() -> None:
    (a,) = inputs((4, 2))
    one, other = (call("SliceChannel", a, num_outputs=2) for _ in range(2))
    made = lint(eliminate_common_subexpressions(graph([a], one[0] + other[1])))
    assert str(made) == text(
        """
        %0: float32(4, 2) = variable a
        %1: float32(4, 1), float32(4, 1) = SliceChannel(%0, num_outputs=2)
        %2: float32(4, 1) = broadcast_add(%1, %1.1)
        return %2
        """
    )
