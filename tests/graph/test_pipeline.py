from gluonish.core.config import MXNET_ELIMINATE_COMMON_EXPR
from gluonish.graph.pipeline import optimize
from tests.graph.builders import call, graph, inputs, text


def _made() -> str:
    (a,) = inputs((2,))
    y = call("relu", a) + call("relu", call("_copy", a))
    return str(optimize(graph([a], y)))


def test_simplification_lets_subexpressions_meet() -> None:
    assert _made() == text(
        """
        %0: float32(2,) = variable a
        %1: float32(2,) = relu(%0)
        %2: float32(2,) = broadcast_add(%1, %1)
        return %2
        """
    )


def test_the_environment_switches_common_subexpressions_off() -> None:
    with MXNET_ELIMINATE_COMMON_EXPR.override(False):
        assert _made().count("relu") == 2
