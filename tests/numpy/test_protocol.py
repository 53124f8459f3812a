from typing import Any

import numpy
import pytest

from gluonish import autograd
from gluonish import numpy as np
from gluonish import symbol as sym
from gluonish.core.errors import AutogradError, NotSupportedError, OperatorError


@pytest.fixture
def a() -> Any:
    return np.array([[1, 2, 3], [4, 5, 6]])


@pytest.mark.parametrize(
    "call",
    [
        lambda x: numpy.sum(x, axis=0),
        lambda x: numpy.linalg.norm(x, axis=1),
        lambda x: numpy.concatenate([x, x]),
        lambda x: numpy.sin(x),
        lambda x: numpy.add(x, 1),
        lambda x: numpy.median(x, axis=0),
        lambda x: numpy.add.reduce(x),
        lambda x: numpy.exp2(x),
    ],
)
def test_function_of_numpy_answers_with_an_array_of_ours(call: Any, a: Any) -> None:
    found = call(a)
    assert type(found) is np.ndarray
    numpy.testing.assert_allclose(found.asnumpy(), call(a.asnumpy()), rtol=1e-6)


def test_function_that_is_ours_has_a_gradient(a: Any) -> None:
    a.attach_grad()
    with autograd.record():
        y = numpy.sum(numpy.square(a))
    y.backward()
    assert a.grad.tolist() == [[2, 4, 6], [8, 10, 12]]


def test_arrays_of_numpy_stand_on_either_side(a: Any) -> None:
    official = a.asnumpy()
    for found in (official + a, a + official, numpy.float32(1) * a + official):
        assert type(found) is np.ndarray
        assert found.tolist() == (2 * official).tolist()
    assert (official < a).dtype == numpy.bool_


def test_conversions_to_numpy_are_copies_or_share(a: Any) -> None:
    assert isinstance(numpy.asarray(a), numpy.ndarray)
    assert numpy.from_dlpack(a).tolist() == a.tolist()


def test_ufunc_fills_an_array_of_numpy(a: Any) -> None:
    out = numpy.zeros((2, 3), "float32")
    assert numpy.sin(a, out=out) is out
    numpy.testing.assert_allclose(out, numpy.sin(a.asnumpy()))


def test_ufunc_fills_an_array_of_ours(a: Any) -> None:
    out = np.zeros((2, 3))
    assert numpy.add(a, 1, out=out) is out
    assert out[0].tolist() == [2, 3, 4]


def test_function_without_gradient_is_refused_inside_the_graph(a: Any) -> None:
    a.attach_grad()
    with autograd.record(), pytest.raises(AutogradError, match=r"^cov: .*detach"):
        np.cov(a)


def test_what_numpy_refuses_is_one_error(a: Any) -> None:
    with pytest.raises(OperatorError, match=r"^searchsorted: expected arguments valid for NumPy"):
        np.searchsorted(a, 1)


@pytest.mark.parametrize("name", ["mirr", "npv", "ppmt", "pv", "rate"])
def test_function_that_numpy_dropped_says_so(name: str) -> None:
    with pytest.raises(NotSupportedError, match="numpy_financial"):
        getattr(np, name)(1, 2)


def test_what_ours_cannot_do_numpy_does() -> None:
    counts, edges = numpy.histogram(np.array([1.0, 2.0, 4.0]), 2)  # without a range
    assert isinstance(counts, np.ndarray)
    assert counts.tolist() == [2, 1]
    assert edges.tolist() == [1, 2.5, 4]


def test_axis_that_numpy_refuses_is_an_index_error() -> None:
    with pytest.raises(OperatorError, match="axis 2 is out of bounds") as info:
        np.nanmedian(np.ones((2, 3)), axis=2)
    assert isinstance(info.value, IndexError)


def test_shape_of_a_symbol_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="whose shape is unknown"):
        np.shape(sym.var("x").as_np_ndarray())
