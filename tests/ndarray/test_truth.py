from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from gluonish import autograd, nd
from gluonish.core.context import cpu
from gluonish.core.errors import GluonishError
from gluonish.core.mxnet_rules import follow_mxnet

X = np.array([[0, 1, 2], [0, 5, 0]], np.float32)
Compare = Callable[[Any, Any], Any]  # (array, module with logical functions)


@pytest.fixture
def mxnet_rules() -> Iterator[None]:
    before = follow_mxnet(True)
    yield
    follow_mxnet(before)


COMPARISONS: list[Compare] = [
    lambda x, m: x == 0,
    lambda x, m: x != 0,
    lambda x, m: x > 0,
    lambda x, m: x >= 1,
    lambda x, m: x < 1,
    lambda x, m: x <= 1,
    lambda x, m: 1 <= x,  # noqa: SIM300  # the number first
    lambda x, m: x > x[:, :1] + 1,
    lambda x, m: (x > 0) * (x < 3),
    lambda x, m: m.logical_and(x > 0, x < 3),
    lambda x, m: m.logical_or(x > 1, x == 0),
    lambda x, m: m.logical_xor(x > 1, x > 3),
    lambda x, m: m.logical_not(x),
    lambda x, m: m.equal(x, 0),
    lambda x, m: m.not_equal(x, x),
    lambda x, m: m.greater(x, 0),
    lambda x, m: (x == 0).astype("int32"),
    lambda x, m: (x == 0).copy(),
    lambda x, m: 1 - (x == 0),
    lambda x, m: (x == 0) + (x == 1),
    lambda x, m: (x == 0) + (x < 2),
    lambda x, m: (x >= 0) * 1.0 - (x == 1) if m is np else (x >= 0) - (x == 1),
    lambda x, m: m.add(x == 0, x < 2),
    lambda x, m: m.multiply(x > 0, x < 3),
    lambda x, m: m.maximum(x == 0, x == 1),
    lambda x, m: m.minimum(x > 0, x < 3),
    lambda x, m: (x == 0).reshape((3, 2)).reshape((2, 3)),
    lambda x, m: (x.T == 0).T,
    lambda x, m: (x == 0)[:],
    lambda x, m: (x == 0) if m is np else (x == 0).detach().as_in_context(cpu(1)),
    lambda x, m: (x == 0) if m is np else (x == 0).expand_dims(0).squeeze(0),
]


def truth_of(compare: Compare) -> Any:
    return np.asarray(compare(X, np)).astype(bool)


@pytest.mark.parametrize("compare", COMPARISONS)
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_comparison_is_a_mask_of_its_array(compare: Compare, dtype: str) -> None:
    x = nd.array(X, dtype=dtype)
    mask = truth_of(compare)
    np.testing.assert_array_equal(x[compare(x, nd)].asnumpy(), X[mask])
    count = int(mask.sum())
    for value in (-3, np.arange(count), nd.arange(10, 10 + count) if count else 7):
        written, expected = x.copy(), X.copy()
        written[compare(x, nd)] = value
        expected[mask] = value.asnumpy() if isinstance(value, nd.NDArray) else value
        np.testing.assert_array_equal(written.asnumpy(), expected)


@pytest.mark.parametrize("shape", [(4,), (2, 2, 2)])
def test_masks_of_any_rank(shape: tuple[int, ...]) -> None:
    values = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    x = nd.array(values)
    x[x % 2 == 0] += 10
    values[values % 2 == 0] += 10
    np.testing.assert_array_equal(x.asnumpy(), values)


CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "Cast": lambda m: nd.cast(m, "int32"),
    "Reshape": lambda m: nd.reshape(m, (-1,)).reshape((2, 3)),
    "reshape_like": lambda m: nd.reshape_like(m.reshape(-1), m),
    "transpose": lambda m: nd.transpose(nd.transpose(m)),
    "swapaxes": lambda m: nd.swapaxes(m, 0, 1).swapaxes(0, 1),
    "expand_dims": lambda m: nd.squeeze(nd.expand_dims(m, 0)),
    "Flatten": lambda m: nd.flatten(m),
    "flip": lambda m: nd.flip(nd.flip(m, axis=1), axis=1),
    "slice": lambda m: nd.slice(m, begin=(0, 0), end=(2, 3)),
    "slice_axis": lambda m: nd.slice_axis(m, axis=1, begin=0, end=3),
    "slice_like": lambda m: nd.slice_like(m, m),
    "tile": lambda m: nd.tile(m, (2, 1))[:2],
    "repeat": lambda m: nd.repeat(m, 2, axis=0)[::2],
    "take": lambda m: nd.take(m, nd.array([0, 1])),
    "broadcast_to": lambda m: nd.broadcast_to(m, (2, 3)),
    "broadcast_like": lambda m: nd.broadcast_like(m, m),
    "broadcast_axes": lambda m: nd.broadcast_axes(m[None], axis=0, size=2)[1],
    "identity": lambda m: nd.identity(m),
    "stop_gradient": lambda m: nd.stop_gradient(m),
    "broadcast_mul": lambda m: nd.broadcast_mul(m, m),
    "elemwise_add": lambda m: nd.elemwise_add(m, m),
    "broadcast_minimum": lambda m: nd.broadcast_minimum(m, m),
    "subtract": lambda m: nd.subtract(1, nd.subtract(1, m)),
    "columns": lambda m: m[:, ::-1][:, ::-1],
    "positions": lambda m: m[nd.array([1, 0])][[1, 0]],
}


@pytest.mark.parametrize("name", CONVERSIONS)
def test_what_moves_or_joins_masks_gives_a_mask(name: str) -> None:
    x = nd.array(X)
    x[CONVERSIONS[name](x == 0)] = 9
    assert x.tolist() == [[9, 1, 2], [9, 5, 9]]


def test_functions_of_other_arrays_give_no_mask() -> None:
    x = nd.array([10, 20])
    for key in (nd.reshape(nd.array([1, 0]), (2,)), nd.subtract(1, nd.array([0, 1]))):
        assert x[key].tolist() == [20, 10]
    half = nd.broadcast_mul(x > 15, nd.array([0, 1]))
    assert x[half].tolist() == [10, 20]


def test_operators_of_the_registry_give_masks() -> None:
    x = nd.array(X)
    x[nd.broadcast_greater(x, nd.array([[1], [0]]))] = 9
    assert x.tolist() == [[0, 1, 9], [0, 9, 0]]
    x[nd.broadcast_lesser(x, nd.array([[5]]))] = 7
    assert x.tolist() == [[7, 7, 9], [7, 9, 7]]


def test_arithmetic_with_other_numbers_gives_no_mask() -> None:
    x = nd.array([1, 0, 5])
    assert x[(x > 0) * nd.array([2, 2, 2])].tolist() == [5, 1, 5]
    assert x[(x > 0) + nd.array([1, 1, 1])].tolist() == [5, 0, 5]
    assert x[2 - (x > 0)].tolist() == [0, 5, 0]


def test_array_that_holds_0_and_1_keeps_its_meaning() -> None:
    x = nd.array([10, 20])
    assert x[nd.array([1, 0])].tolist() == [20, 10]
    square = nd.array([[1, 2], [3, 4]])
    assert square[nd.array([[0, 1], [1, 1]])].shape == (2, 2, 2)
    square[nd.array([[0, 0], [0, 0]])] = 9
    assert square.tolist() == [[9, 9], [3, 4]]


def test_comparison_of_another_shape_keeps_its_meaning() -> None:
    x = nd.array(X)
    assert x[nd.array([3, 0]) > 1].tolist() == [X[1].tolist(), X[0].tolist()]
    assert x[:, nd.array([1, 0, 1]) > 0].shape == (2, 3)


def test_comparison_that_was_written_to_is_no_mask() -> None:
    x = nd.array([5, 6, 7])
    positions = x > 0
    positions[:] = nd.array([2, 0, 1])
    assert x[positions].tolist() == [7, 5, 6]


def test_gradient_reaches_what_a_mask_selects() -> None:
    x = nd.array(X)
    x.attach_grad()
    with autograd.record():
        y = (x[x > 0] * 2).sum()
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), 2 * (X > 0))


def test_assignment_by_a_mask_outside_the_graph_works_while_recording() -> None:
    x = nd.array(X)
    with autograd.record():
        x[x == 0] = 4
    assert x.tolist() == [[4, 1, 2], [4, 5, 4]]


@pytest.mark.parametrize("key", [X == 0, (X == 0).tolist()])
def test_boolean_arrays_of_numpy_are_masks(key: Any) -> None:
    x = nd.array(X)
    x[key] = 4
    assert x.tolist() == [[4, 1, 2], [4, 5, 4]]
    assert x[key].tolist() == [4, 4, 4]


def test_boolean_mask_of_leading_axes() -> None:
    x = nd.array(X)
    x[(nd.array([3, 0]) > 1).astype("bool")] = 4
    assert x.tolist() == [[4, 4, 4], [0, 5, 0]]


@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
def test_sparse_array_refuses_a_mask(stype: str) -> None:
    x = nd.array(X)
    with pytest.raises((GluonishError, ValueError)):
        x.tostype(stype)[x == 0]


@pytest.mark.usefixtures("mxnet_rules")
def test_under_the_name_mxnet_a_comparison_holds_positions() -> None:
    x = nd.array([10, 20, 30])
    assert x[x > 15].tolist() == [10, 20, 20]
    x[x > 15] = 0
    assert x.tolist() == [0, 0, 30]
