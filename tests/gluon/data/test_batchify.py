from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.gluon.data import default_batchify_fn, default_mp_batchify_fn
from gluonish.gluon.data.batchify import Append, Pad, Stack

BOTH = pytest.mark.parametrize("batchify", [default_batchify_fn, default_mp_batchify_fn])
Batchify = Callable[[Any], Any]


@BOTH
@pytest.mark.parametrize(
    ("data", "dtype", "values"),
    [
        ([1, 2, 3], "int64", [1, 2, 3]),
        ([1.5, 2.5], "float64", [1.5, 2.5]),
        ([True, False], "bool", [True, False]),
        ([np.float32(1), np.float32(2)], "float32", [1, 2]),
        ([np.arange(2, dtype="int32")] * 2, "int32", [[0, 1], [0, 1]]),
        ([np.ones(2, "float16")] * 2, "float16", [[1, 1], [1, 1]]),
        ([np.array(1.5)] * 2, "float64", [1.5, 1.5]),
        ([[1, 2], [3, 4]], "int64", [[1, 2], [3, 4]]),
        ([nd.ones((2,)), nd.zeros((2,))], "float32", [[1, 1], [0, 0]]),
        ([nd.ones((2,), dtype="int32")] * 2, "int32", [[1, 1], [1, 1]]),
    ],
)
def test_samples_are_stacked_in_their_dtype(
    batchify: Batchify, data: list[Any], dtype: str, values: Any
) -> None:
    batch = batchify(data)
    assert isinstance(batch, nd.NDArray)
    assert batch.dtype == np.dtype(dtype).type
    assert batch.asnumpy().tolist() == values


@BOTH
def test_tuples_give_a_list_and_nest(batchify: Batchify) -> None:
    batch = batchify([((1, 2), nd.array([3])), ((4, 5), nd.array([6]))])
    assert isinstance(batch, list)
    assert [part.asnumpy().tolist() for part in batch[0]] == [[1, 4], [2, 5]]
    assert batch[1].asnumpy().tolist() == [[3], [6]]


@BOTH
@pytest.mark.parametrize("data", [[{1}, {2}], [None, None], ["a", 1]])
def test_what_is_no_number_is_refused(batchify: Batchify, data: list[Any]) -> None:
    with pytest.raises(ArgumentTypeError, match="samples of numbers"):
        batchify(data)


@BOTH
def test_shapes_must_agree(batchify: Batchify) -> None:
    with pytest.raises(ArgumentError, match=r"equal shape, got \[\(2,\), \(3,\)\]"):
        batchify([np.ones(2), np.ones(3)])
    with pytest.raises(ArgumentError, match=r"equal shape, got \[\(2,\), \(3,\)\]"):
        batchify([nd.ones((2,)), nd.ones((3,))])
    with pytest.raises(ArgumentError, match="tuples of equal length"):
        batchify([(1, 2), (1,)])
    with pytest.raises(ArgumentTypeError, match="only NDArrays, got ndarray"):
        batchify([nd.ones((2,)), np.ones(2)])


@pytest.mark.parametrize(
    "batchify",
    [default_batchify_fn, default_mp_batchify_fn, Stack(), Pad()],
    ids=["default", "mp", "stack", "pad"],
)
def test_samples_may_have_the_bytes_of_another_machine(batchify: Batchify) -> None:
    batch = batchify([np.array([1, 2], ">i4"), np.array([3, 4], ">i4")])
    assert batch.dtype == np.int32
    np.testing.assert_array_equal(batch.asnumpy(), [[1, 2], [3, 4]])


def test_appended_samples_may_have_the_bytes_of_another_machine() -> None:
    (only,) = Append()([np.array([1, 2], ">i4")])
    assert only.dtype == np.int32
    np.testing.assert_array_equal(only.asnumpy(), [[1, 2]])
