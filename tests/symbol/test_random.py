import numpy as np
import pytest

import gluonish.symbol as sym
from gluonish.core.errors import ArgumentTypeError


@pytest.mark.parametrize(
    ("symbol", "op", "attrs"),
    [
        (sym.random.uniform(0, 2, shape=(3,)), "_random_uniform", {"low": "0", "high": "2"}),
        (sym.random.normal(1, 2, shape=(3,)), "_random_normal", {"loc": "1", "scale": "2"}),
        (sym.random.randn(3), "_random_normal", {"loc": "0", "scale": "1"}),
        (sym.random.exponential(2.0, shape=(3,)), "_random_exponential", {"lam": "0.5"}),
        (sym.random.gamma(2, 3, shape=(3,)), "_random_gamma", {"alpha": "2", "beta": "3"}),
        (sym.random.randint(1, 5, shape=(3,)), "_random_randint", {"low": "1", "high": "5"}),
    ],
)
def test_draws_are_nodes_with_the_parameters_of_the_distribution(
    symbol: sym.Symbol, op: str, attrs: dict[str, str]
) -> None:
    assert symbol._values[0].node.op.name == op
    assert symbol.list_attr().items() >= attrs.items()
    assert symbol.eval()[0].shape == (3,)


def test_numbers_lie_where_they_should() -> None:
    values = sym.random.uniform(2, 3, shape=(100,)).eval()[0].asnumpy()
    assert values.min() >= 2
    assert values.max() < 3
    assert len(np.unique(values)) > 90


def test_symbols_as_parameters_draw_for_each_element() -> None:
    x, y = sym.var("x"), sym.var("y")
    drawn = sym.random.normal(x, y, shape=2)
    assert (drawn._values[0].node.op.name, drawn.list_arguments()) == ("_sample_normal", ["x", "y"])
    assert sym.random.poisson(x)._values[0].node.op.name == "_sample_poisson"


def test_symbol_and_number_as_parameters_are_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="all numbers or all Symbols"):
        sym.random.uniform(sym.var("x"))


def test_multinomial_and_shuffle_take_a_symbol() -> None:
    x = sym.var("x")
    assert sym.random.multinomial(x, shape=4, get_prob=False).list_arguments() == ["x"]
    assert len(sym.random.multinomial(x)) == 2
    assert sym.random.shuffle(x).list_arguments() == ["x"]
    assert sym.random.uniform_like(x).list_arguments() == ["x"]
