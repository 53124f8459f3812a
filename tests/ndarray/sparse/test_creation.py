from typing import Any

import numpy as np
import pytest

from gluonish import cpu, nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError

sparse = nd.sparse


def test_coordinates_may_stand_in_any_order_and_twice() -> None:
    parts = ([1, 2, 3, 4], ([2, 0, 0, 2], [1, 2, 0, 1]))
    x = sparse.csr_matrix(parts, shape=(3, 4))
    assert x.asnumpy().tolist() == [[3, 0, 2, 0], [0, 0, 0, 0], [0, 5, 0, 0]]
    x.check_format()
    assert sparse.csr_matrix(parts).shape == (3, 3)


def test_rows_are_sorted() -> None:
    x = sparse.row_sparse_array(([[1], [2]], [3, 1]), shape=(5, 1))
    assert x.indices.tolist() == [1, 3]
    assert x.data.tolist() == [[2], [1]]


def test_dtype_and_device_are_those_asked_for() -> None:
    for x in (
        sparse.csr_matrix([[0, 1]], ctx=cpu(1), dtype="float16"),
        sparse.row_sparse_array(([[1]], [0]), ctx=cpu(1), dtype="float16"),
        sparse.zeros("csr", (1, 2), ctx=cpu(1), dtype="float16"),
        sparse.array(sparse.zeros("row_sparse", (1, 2)), ctx=cpu(1), dtype="float16"),
    ):
        assert (x.dtype, x.context) == (np.float16, cpu(1))


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (sparse.csr_matrix, ((1, 2, 3, 4),), "got a tuple of 4"),
        (sparse.csr_matrix, (([1], 3),), r"expected \(data, \(row, column\)\)"),
        (sparse.csr_matrix, (([1], ([1, 2], [0])),), "as many rows and columns"),
        (sparse.csr_matrix, (([1], ([5], [0])), (2, 2)), "csr_matrix: expected arrays that form"),
        (sparse.csr_matrix, (([1], ([0], [5])), (2, 2)), "csr_matrix: expected arrays that form"),
        (sparse.csr_matrix, (([1], [0], [0, 2]),), "row pointers that do not cover"),
        (sparse.csr_matrix, (np.ones((2, 3)), (3, 3)), r"shape \(3, 3\), got \(2, 3\)"),
        (sparse.csr_matrix, (np.ones(3),), "2 axes for csr"),
        (sparse.row_sparse_array, (([[1]], [7]), (5, 1)), "out of range"),
        (sparse.row_sparse_array, (([[1], [2]], [3, 3]), (5, 1)), "each row once"),
        (sparse.row_sparse_array, (([[1]], [1], [2]),), "got a tuple of 3"),
        (sparse.zeros, ("thin", (2, 2)), "zeros: expected stype in"),
        (sparse.zeros, ("csr", (2,)), "2 axes for csr"),
        (sparse.zeros, ("row_sparse", (-1,)), "sizes of at least 0"),
    ],
)
def test_wrong_parts_are_refused(make: Any, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        make(*arguments)


def test_other_storage_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="dense or csr"):
        sparse.csr_matrix(sparse.zeros("row_sparse", (2, 2)))
    with pytest.raises(ArgumentTypeError, match="dense or row_sparse"):
        sparse.row_sparse_array(sparse.zeros("csr", (2, 2)))
    with pytest.raises(ArgumentTypeError, match="expected a sparse array"):
        sparse.array(nd.ones((2, 2)))


def test_zeros_hold_nothing() -> None:
    assert sparse.zeros("csr", (2, 3)).indptr.tolist() == [0, 0, 0]  # type: ignore[attr-defined]
    assert sparse.zeros("row_sparse", (2, 3)).data.shape == (0, 3)  # type: ignore[attr-defined]
    assert sparse.zeros("row_sparse", 3).shape == (3,)
    assert sparse.zeros("default", (2, 3)).stype == "default"
