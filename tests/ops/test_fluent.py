import inspect

import pytest

from gluonish import ndarray as nd
from gluonish import symbol as sym
from gluonish.core.errors import ArgumentTypeError
from gluonish.ops.fluent import Fluent, reshape_arguments


def test_methods_have_signature_and_docstring() -> None:
    assert list(inspect.signature(Fluent.sum).parameters)[:2] == ["data", "axis"]
    assert "axis" in Fluent.sum.__doc__  # type: ignore[operator]
    assert Fluent.sum.__name__ == "sum"


@pytest.mark.parametrize("args", [(2, 3), ((2, 3),), ([2, 3],)])
def test_shape_comes_one_by_one_or_at_once(args: tuple[object, ...]) -> None:
    assert tuple(reshape_arguments(args, {})["shape"]) == (2, 3)
    assert reshape_arguments((), {"shape": (2, 3)}) == {"shape": (2, 3)}


def test_methods_take_what_their_functions_take() -> None:
    x = nd.array([[1, 2], [3, 4]])
    assert x.sum(axis=0).tolist() == nd.sum(x, axis=0).tolist() == [4, 6]
    assert x.sum(0, True).shape == (1, 2)
    assert x.broadcast_to(shape=(2, 2)).tolist() == x.tolist()
    assert x.flatten().squeeze().shape == (2, 2)


def test_method_fills_out() -> None:
    out = nd.zeros(2)
    assert nd.array([[1, 2], [3, 4]]).sum(axis=0, out=out) is out
    assert out.tolist() == [4, 6]


def test_broadcast_like_takes_other_by_name() -> None:
    x, y = nd.array([[1], [2]]), nd.zeros((2, 3))
    assert x.broadcast_like(other=y).tolist() == [[1] * 3, [2] * 3]


@pytest.mark.parametrize("word", ["rhs", "other"])
def test_second_operand_of_broadcast_like_has_either_name(word: str) -> None:
    x, like = nd.ones((1, 3)), nd.ones((2, 3))
    assert x.broadcast_like(**{word: like}).shape == (2, 3)
    made = sym.var("x").broadcast_like(**{word: sym.var("y")})
    assert made.eval(x=x, y=like)[0].shape == (2, 3)
    assert x.as_np_ndarray().broadcast_like(**{word: like.as_np_ndarray()}).shape == (2, 3)


def test_axes_of_broadcast_like() -> None:
    x, like = nd.ones((1, 2, 3)), nd.ones((5, 6, 7))
    assert x.broadcast_like(like, lhs_axes=(0,), rhs_axes=(2,)).shape == (7, 2, 3)
    made = sym.var("x").broadcast_like(sym.var("y"), lhs_axes=(0,), rhs_axes=(2,))
    assert made.eval(x=x, y=like)[0].shape == (7, 2, 3)


def test_broadcast_like_without_a_value_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="expected either other or rhs"):
        nd.ones((1, 3)).broadcast_like()
