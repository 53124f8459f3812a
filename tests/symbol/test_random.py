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


def test_parameters_are_numbers() -> None:
    with pytest.raises(ArgumentTypeError, match="expected low to be a number, got a Symbol"):
        sym.random.uniform(sym.var("x"))  # type: ignore[arg-type]


def test_multinomial_and_shuffle_take_a_symbol() -> None:
    x = sym.var("x")
    assert sym.random.multinomial(x, shape=4).list_arguments() == ["x"]
    assert len(sym.random.multinomial(x, get_prob=True)) == 2
    assert sym.random.shuffle(x).list_arguments() == ["x"]
    assert sym.random.uniform_like(x).list_arguments() == ["x"]
