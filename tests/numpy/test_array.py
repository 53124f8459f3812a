import copy
import pickle
from typing import Any

import numpy
import pytest

from gluonish import autograd
from gluonish import ndarray as nd
from gluonish import numpy as np
from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    AutogradError,
    NotSupportedError,
    OutOfBoundsError,
)


@pytest.fixture
def a() -> Any:
    return np.array([[1, 2, 3], [4, 5, 6]])


def test_faces_share_memory_and_gradient(a: Any) -> None:
    a.attach_grad()
    classic = a.as_nd_ndarray()
    assert type(classic) is nd.NDArray
    assert type(classic.as_np_ndarray()) is np.ndarray
    with autograd.record():
        y = (classic * 2).sum()
    y.backward()
    assert type(a.grad) is np.ndarray
    assert a.grad.tolist() == [[2, 2, 2], [2, 2, 2]]
    classic[:] = 7
    assert a.tolist() == [[7, 7, 7], [7, 7, 7]]


def test_sparse_array_is_refused_by_functions_and_operators(a: Any) -> None:
    for call in (np.sin, np.sum, lambda x: np.concatenate([a, x]), lambda x: a + x):
        with pytest.raises(ArgumentTypeError, match="as_np_ndarray"):
            call(nd.ones((2, 3)).tostype("csr"))


def test_array_of_nd_is_taken_by_functions(a: Any) -> None:
    x = nd.ones((2, 3))
    assert np.sum(x).item() == 6
    assert type(np.concatenate([a, x])) is np.ndarray


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: np.array([1, 2]), "array([1., 2.])"),
        (lambda: np.array([1], "float64"), "array([1.], dtype=float64)"),
        (lambda: np.array(3), "array(3.)"),
        (lambda: np.zeros((0, 3)), "array([], shape=(0, 3))"),
        (lambda: np.zeros((0,)), "array([])"),
        (lambda: np.array([True], "bool"), "array([ True])"),
        (lambda: np.array([1.5], "bfloat16"), "array([1.5], dtype=bfloat16)"),
        (
            lambda: np.arange(20, dtype="int32"),
            "array([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16,\n"
            "       17, 18, 19], dtype=int32)",
        ),
    ],
)
def test_array_prints_as_numpy_does(make: Any, text: str) -> None:
    assert repr(make()) == text


def test_scalar_array_formats_as_its_number() -> None:
    assert f"{np.array(3.14159):.2f}" == "3.14"
    assert str(np.array([1, 2])) == "[1. 2.]"


def test_selected_rows_share_memory(a: Any) -> None:
    a[0][:] = 9
    assert a.tolist() == [[9, 9, 9], [4, 5, 6]]


def test_single_element_has_no_axes(a: Any) -> None:
    assert a[1, 2].shape == ()
    assert a[1, 2].item() == 6


def test_item_takes_positions_and_indices(a: Any) -> None:
    assert (a.item(3), a.item(1, 1), a.item((0, 2))) == (4, 5, 3)
    with pytest.raises(ArgumentError, match="size 1"):
        a.item()
    with pytest.raises(OutOfBoundsError, match="index"):
        a.item(6)
    with pytest.raises(ArgumentTypeError, match="index"):
        a.item("x")


def test_index_out_of_bounds_is_an_index_error(a: Any) -> None:
    with pytest.raises(IndexError, match=r"shape \(2, 3\)"):
        a[5]


def test_format_is_that_of_the_number_and_without_one_that_of_the_array() -> None:
    assert (
        f"{np.array(1.234):.2f}|{np.array(1.5):>6}|{np.array([1.0, 2.0])}" == "1.23|   1.5|[1. 2.]"
    )
    assert f"{np.array([[1.234]]):.2f}|{np.array([1.0])}" == "1.23|[1.]"
    with pytest.raises(TypeError, match=r"for '\.2f', got shape \(2,\); reduce"):
        format(np.array([1.0, 2.0]), ".2f")


def test_assignment_inside_the_graph_is_refused(a: Any) -> None:
    a.attach_grad()
    with autograd.record(), pytest.raises(AutogradError, match="item assignment"):
        a[0] = 1


def test_augmented_assignment_keeps_the_array_and_its_dtype() -> None:
    x = np.array([1, 2], dtype="int32")
    same = x
    x += 1
    x *= 3
    x &= 7
    assert same is x
    assert (x.tolist(), x.dtype) == ([6, 1], numpy.dtype("int32"))
    square = np.array([[0, 1], [1, 0]])
    square @= np.array([[1, 2], [3, 4]])
    assert square.tolist() == [[3, 4], [1, 2]]


def test_none_equals_no_array(a: Any) -> None:
    assert (a == None) is False  # noqa: E711  # the operator is what is tested
    assert (a != None) is True  # noqa: E711


def test_astype_refuses_what_is_not_unsafe(a: Any) -> None:
    with pytest.raises(ArgumentError, match="unsafe"):
        a.astype("int32", casting="safe")
    assert a.astype("float32", copy=False) is a


def test_reshape_takes_extents_in_every_spelling(a: Any) -> None:
    for found in (a.reshape(3, 2), a.reshape((3, -1)), a.reshape(newshape=(3, 2))):
        assert found.shape == (3, 2)
    with pytest.raises(ArgumentError, match="reshape"):
        a.reshape(3, 2, size=1)


def test_reshape_view_shares_memory(a: Any) -> None:
    a.reshape_view(-1)[0] = 8
    assert a[0, 0].item() == 8


def test_sort_in_place_is_refused(a: Any) -> None:
    with pytest.raises(NotSupportedError, match=r"np\.sort"):
        a.sort()


def test_pickles_and_copies_are_of_the_same_class(a: Any) -> None:
    for other in (pickle.loads(pickle.dumps(a)), copy.deepcopy(a), a.copy(), a.detach()):
        assert type(other) is np.ndarray
        assert other.tolist() == a.tolist()


def test_second_order_gradient_is_of_the_class() -> None:
    x: Any = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        (first,) = autograd.grad((x * x * x).sum(), [x], create_graph=True)
        total = first.sum()
    total.backward()
    assert type(first) is np.ndarray
    assert x.grad.tolist() == [6, 12]


def test_function_of_the_user_sees_arrays_of_the_class() -> None:
    class Square(autograd.Function):
        def forward(self, *inputs: Any) -> Any:
            (x,) = inputs
            self.save_for_backward(x)
            return x * x

        def backward(self, *output_grads: Any) -> Any:
            (dy,) = output_grads
            assert type(dy) is np.ndarray
            return dy * 2 * self.saved_tensors[0]

    x: Any = np.array([1.0, 3.0])
    x.attach_grad()
    with autograd.record():
        y = Square()(x).sum()
    y.backward()
    assert x.grad.tolist() == [2, 6]
