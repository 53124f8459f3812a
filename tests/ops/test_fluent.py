import inspect

import pytest

from gluonish import ndarray as nd
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
