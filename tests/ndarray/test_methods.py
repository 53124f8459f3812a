from typing import Any

import numpy as np
import pytest

from gluonish import autograd
from gluonish import ndarray as nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError, OperatorError


@pytest.mark.parametrize(
    ("shape", "codes", "expected"),
    [
        ((2, 3), (-1,), (6,)),
        ((2, 3), (0, -1), (2, 3)),
        ((2, 3, 4), (0, 0, -1), (2, 3, 4)),
        ((2, 3, 4), (-2,), (2, 3, 4)),
        ((2, 3, 4), (2, -2), (2, 3, 4)),
        ((2, 3, 4), (-2, 1, 1), (2, 3, 4, 1, 1)),
        ((2, 3, 4), (-3, 4), (6, 4)),
        ((2, 3, 4, 5), (-3, -3), (6, 20)),
        ((2, 3, 4), (0, -3), (2, 12)),
        ((2, 3, 4), (-4, 1, 2, -2), (1, 2, 3, 4)),
        ((2, 3, 4), (2, -4, -1, 3, -2), (2, 1, 3, 4)),
        ((2, 3), (6,), (6,)),
    ],
)
def test_reshape_codes(
    shape: tuple[int, ...], codes: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    x = nd.zeros(shape)
    assert x.reshape(codes).shape == x.reshape(*codes).shape == x.reshape(shape=codes).shape
    assert x.reshape(codes).shape == expected


def test_reshape_matches_from_the_right_in_reverse() -> None:
    x = nd.zeros((10, 5, 4))
    assert x.reshape((-1, 0)).shape == (40, 5)
    assert x.reshape((-1, 0), reverse=True).shape == (50, 4)


def test_reshape_is_a_view() -> None:
    x = nd.zeros((2, 3))
    x.reshape(-1)[4] = 5
    assert x.tolist() == [[0, 0, 0], [0, 5, 0]]


@pytest.mark.parametrize("codes", [(4, 2), (-1, -1), (5, -1), ()])
def test_reshape_to_another_size_is_refused(codes: tuple[int, ...]) -> None:
    with pytest.raises(OperatorError, match="expected"):
        nd.zeros((2, 3)).reshape(codes)


def test_reshape_refuses_unknown_words() -> None:
    with pytest.raises(OperatorError, match=r"reshape: expected arguments .* got 'foo'"):
        nd.zeros((2, 3)).reshape((3, 2), foo=1)


def test_gradient_flows_through_a_reshape() -> None:
    x = nd.array([[1, 2], [3, 4]])
    x.attach_grad()
    with autograd.record():
        y = (x.reshape(-1) * nd.array([1, 2, 3, 4])).sum()
    y.backward()
    assert x.grad.tolist() == [[1, 2], [3, 4]]


def test_astype_without_copy_returns_the_array_itself() -> None:
    x = nd.ones(2)
    assert x.astype("float32", copy=False) is x
    assert x.astype("float32") is not x
    assert x.astype(np.int32).dtype == np.int32


def test_gradient_flows_through_astype() -> None:
    x = nd.array([1, 2])
    x.attach_grad()
    with autograd.record():
        y = x.astype("float64") * 2
    y.backward()
    assert (x.grad.tolist(), x.grad.dtype) == ([2, 2], np.float32)


def test_copy_is_recorded() -> None:
    x = nd.array([1, 2])
    x.attach_grad()
    with autograd.record():
        y = x.copy() * 3
    y.backward()
    assert x.grad.tolist() == [3, 3]


def test_tostype_of_dense_is_a_copy() -> None:
    x = nd.ones(2)
    y = x.tostype("default")
    x[:] = 5
    assert y.tolist() == [1, 1]


@pytest.mark.parametrize("step", [(1, 2), (None, 2)])
def test_slice_assign_writes_a_slice_and_returns_the_array(step: Any) -> None:
    x = nd.zeros((2, 4))
    assert x.slice_assign(nd.array([[1, 2]]), (0, 0), (1, None), step) is x
    assert x.tolist() == [[1, 0, 2, 0], [0, 0, 0, 0]]
    assert x.slice_assign_scalar(5, (1, -1), (2, None), ()).tolist()[1] == [0, 0, 0, 5]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda x: x.sum(), [21]),
        (lambda x: x.mean(axis=1, keepdims=True), [[2], [5]]),
        (lambda x: x.max(axis=(0, 1)), [6]),
        (lambda x: x.expand_dims(0, inplace=True).shape, (1, 2, 3)),
        (lambda x: x.expand_dims(axis=2).squeeze(inplace=True).shape, (2, 3)),
        (lambda x: x.flatten(inplace=True).shape, (2, 3)),
        (lambda x: x.split(3, axis=1)[2], [[3], [6]]),
        (lambda x: x.split_v2((1,), axis=1)[1], [[2, 3], [5, 6]]),
        (lambda x: x[0:1].broadcast_to((2, 0)), [[1, 2, 3], [1, 2, 3]]),
        (lambda x: x.transpose((1, 0)).shape, (3, 2)),
        (lambda x: x.clip(2, 5), [[2, 2, 3], [4, 5, 5]]),
        (lambda x: x.topk(k=1), [[2], [2]]),
        (lambda x: x.take(nd.array([1, 5])), [[4, 5, 6], [4, 5, 6]]),
        (lambda x: x.zeros_like(), [[0, 0, 0], [0, 0, 0]]),
        (lambda x: x.slice(begin=(1, 1), end=(None, None)), [[5, 6]]),
    ],
)
def test_operators_are_methods(call: Any, expected: Any) -> None:
    found = call(nd.array([[1, 2, 3], [4, 5, 6]]))
    assert (found.tolist() if isinstance(found, nd.NDArray) else found) == expected


def test_method_without_a_needed_array_names_it() -> None:
    with pytest.raises(OperatorError, match="take: expected an array for indices, got none"):
        nd.ones(2).take()  # type: ignore[call-arg]


def test_mxnets_inner_methods() -> None:
    x = nd.arange(6).reshape((3, 2))
    assert x._at(-1).asnumpy().tolist() == [4, 5]
    x._at(0)[:] = 9
    assert x._slice(0, 2).asnumpy().tolist() == [[9, 9], [2, 3]]
    assert x._full(3) is x
    assert x.asnumpy().tolist() == [[3, 3]] * 3
    x._sync_copyfrom([[1, 2], [3, 4], [5, 6]])
    assert x.asnumpy().ravel().tolist() == [1, 2, 3, 4, 5, 6]
    with pytest.raises(ArgumentError, match=r"expected shape \(3, 2\), got \(6,\)"):
        x._sync_copyfrom(np.arange(6))
    with pytest.raises(ArgumentTypeError, match="got str"):
        x._sync_copyfrom("text")


def test_gradient_of_clip_counts_nan_as_inside() -> None:
    x = nd.array([np.nan, -1, 0, 0.5, 1, 3])
    x.attach_grad()
    with autograd.record():
        y = nd.clip(x, 0, 1)
    y.backward()
    assert x.grad.asnumpy().tolist() == [1, 0, 1, 1, 1, 0]  # as on MXNet 1.9.1
