import numpy as np
import pytest

import gluonish.symbol as sym
from gluonish.core.errors import ArgumentTypeError
from gluonish.ndarray import array


def test_constant_arrays() -> None:
    assert sym.zeros((2, 3)).eval()[0].shape == (2, 3)
    assert sym.ones((2,), dtype="int32").eval()[0].dtype == np.int32
    assert sym.full((2,), 3).eval()[0].asnumpy().tolist() == [3, 3]
    assert sym.arange(1, 7, 2).eval()[0].asnumpy().tolist() == [1, 3, 5]
    assert sym.arange(3, repeat=2).eval()[0].asnumpy().tolist() == [0, 0, 1, 1, 2, 2]


def test_functions_take_numbers_on_either_side() -> None:
    x = sym.var("x")
    values = {"x": array([1.0, 4.0])}
    cases = [
        (sym.maximum(x, 2), [2, 4]),
        (sym.maximum(2, x), [2, 4]),
        (sym.minimum(x, 2.5), [1, 2.5]),
        (sym.power(x, 2), [1, 16]),
        (sym.pow(2, x), [2, 16]),
        (sym.hypot(x, x), np.hypot([1, 4], [1, 4])),
        (sym.maximum(x, x), [1, 4]),
    ]
    for y, want in cases:
        np.testing.assert_allclose(y.eval(**values)[0].asnumpy(), want, rtol=1e-6)


def test_two_symbols_meet_elementwise() -> None:
    y = sym.maximum(sym.var("a"), sym.var("b"))
    assert y._values[0].node.op.name == "_maximum"


@pytest.mark.parametrize(
    ("name", "expected"), [("maximum", 3), ("minimum", 2), ("hypot", 13**0.5), ("power", 8)]
)
def test_two_numbers_give_a_number(name: str, expected: float) -> None:
    assert getattr(sym, name)(2, 3) == pytest.approx(expected)


def test_arguments_have_the_names_of_mxnet() -> None:
    x = sym.var("x")
    assert sym.pow(base=x, exp=2).eval(x=array([3]))[0].tolist() == [9]
    assert sym.maximum(left=1, right=x).eval(x=array([-3]))[0].tolist() == [1]  # type: ignore[call-arg]


def test_text_in_place_of_a_number_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="expected an array or a number, got str"):
        sym.maximum("a", sym.var("x"))
    with pytest.raises(ArgumentTypeError, match="expected an array or a number, got str"):
        sym.maximum("a", 3)
