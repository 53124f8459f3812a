"""widen_products: products that are cast to float32 give it themselves."""

import numpy as np

import gluonish as mx
from gluonish.core.dtype import BFLOAT16
from gluonish.core.spec import Spec
from gluonish.graph.ir import Graph, Value, lint, variable
from gluonish.graph.passes import eliminate_dead_code, widen_products
from tests.graph.builders import call, graph, text


def halves(*shapes: tuple[int, ...]) -> list[Value]:
    return [variable(name, Spec(s, BFLOAT16)) for name, s in zip("abc", shapes, strict=False)]


def widened(variables: list[Value], *outputs: Value) -> str:
    made: Graph = lint(widen_products(graph(variables, *outputs)))
    return str(eliminate_dead_code(made))


def test_a_product_that_is_only_cast_gives_float32() -> None:
    a, b = halves((2, 3), (3, 4))
    y = call("Cast", call("dot", a, b), dtype="float32")
    assert widened([a, b], y) == text(
        """
        %0: bfloat16(2, 3) = variable a
        %1: bfloat16(3, 4) = variable b
        %2: float32(2, 4) = _wide_dot(%0, %1)
        return %2
        """
    )


def test_a_product_that_others_read_and_one_of_float32_stay() -> None:
    a, b = halves((2, 3), (3, 4))
    product = call("dot", a, b)
    y = call("Cast", product, dtype="float32")
    before = str(graph([a, b], y, call("exp", product)))
    assert widened([a, b], y, call("exp", product)).count("_wide_dot") == 0
    assert "= dot(" in before


def test_the_sums_are_not_rounded() -> None:
    numbers = np.random.RandomState(0)
    a, b = (mx.nd.array(numbers.randn(*s)).astype("bfloat16") for s in ((64, 80), (64, 48)))
    made = mx.nd._internal._wide_dot(a, b, transpose_a=True)
    want = a.astype("float32").asnumpy().T @ b.astype("float32").asnumpy()
    assert made.dtype == np.float32
    np.testing.assert_allclose(made.asnumpy(), want, rtol=1e-4, atol=1e-4)
    small = mx.nd._internal._wide_dot(a[:3, :2], b[:3, :2], transpose_a=True)
    want = a[:3, :2].astype("float32").asnumpy().T @ b[:3, :2].astype("float32").asnumpy()
    np.testing.assert_allclose(small.asnumpy(), want, rtol=1e-5, atol=1e-5)
