from gluonish.graph.ir import lint
from gluonish.graph.passes import use_classic_operators
from tests.graph.builders import call, graph, inputs, text


def test_numpy_operators_become_classic_ones() -> None:
    a, b = inputs((2, 3), (3,))
    made = lint(use_classic_operators(graph([a, b], call("_npx_relu", call("_npi_add", a, b)))))
    assert str(made) == text(
        """
        %0: float32(2, 3) = variable a
        %1: float32(3,) = variable b
        %2: float32(2, 3) = broadcast_add(%0, %1)
        %3: float32(2, 3) = relu(%2)
        return %3
        """
    )


def test_a_reduction_over_all_axes_keeps_its_shape() -> None:
    (a,) = inputs((2, 3))
    made = lint(use_classic_operators(graph([a], call("_np_sum", a))))
    assert str(made) == text(
        """
        %0: float32(2, 3) = variable a
        %1: float32(1,) = sum(%0)
        %2: float32() = _reshape_exact(%1, shape=())
        return %2
        """
    )


def test_what_means_something_else_stays() -> None:
    a, b = inputs((2, 2), (2,))
    kept = graph([a, b], call("_npi_where", b, a, a), call("_npi_greater", a, b))
    assert str(use_classic_operators(kept)) == str(kept)
