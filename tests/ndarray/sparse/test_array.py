import copy
import pickle
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.errors import ArgumentError
from gluonish.ndarray.sparse.array import NotSupportedForSparseNDArray

MATRIX = np.array([[0, 1, 0], [0, 0, 0], [2, 0, 3]], np.float32)


@pytest.fixture(params=["row_sparse", "csr"])
def x(request: pytest.FixtureRequest) -> Any:
    return nd.array(MATRIX).tostype(request.param)


def test_sparse_array_is_an_ndarray_with_the_facts_of_one(x: Any) -> None:
    assert isinstance(x, nd.NDArray)
    assert isinstance(x, nd.sparse.BaseSparseNDArray)
    assert (x.shape, x.ndim, x.size, len(x)) == ((3, 3), 2, 9, 3)
    assert (x.dtype, x.context, x.ctx) == (np.float32, mx.cpu(), mx.cpu())
    np.testing.assert_array_equal(np.asarray(x), MATRIX)


def test_parts_are_copies(x: Any) -> None:
    for part in (x.data, x.indices):
        part[:] = 7
    np.testing.assert_array_equal(x.asnumpy(), MATRIX)


def test_parts_of_each_kind() -> None:
    rows = nd.array(MATRIX).tostype("row_sparse")
    assert rows.indices.tolist() == [0, 2]  # type: ignore[attr-defined]
    assert rows.data.tolist() == [[0, 1, 0], [2, 0, 3]]  # type: ignore[attr-defined]
    csr = nd.array(MATRIX).tostype("csr")
    assert csr.indptr.tolist() == [0, 1, 1, 3]  # type: ignore[attr-defined]
    assert csr.indices.tolist() == [1, 0, 2]  # type: ignore[attr-defined]
    assert csr.data.tolist() == [1, 2, 3]  # type: ignore[attr-defined]
    assert csr.indices.dtype == csr.indptr.dtype == rows.indices.dtype == np.int64  # type: ignore[attr-defined]


def test_parts_cannot_be_set(x: Any) -> None:
    for name in ("data", "indices"):
        with pytest.raises(NotSupportedForSparseNDArray, match=f"setting {name}"):
            setattr(x, name, nd.ones(2))


@pytest.mark.parametrize(
    "call", ["reshape(9)", "__dlpack__()", "_make_contiguous()", "__dlpack_device__()"]
)
def test_what_needs_dense_memory_is_refused(x: Any, call: str) -> None:
    with pytest.raises(NotSupportedForSparseNDArray, match=r"tostype\('default'\)"):
        eval(f"x.{call}", {"x": x})


def test_repr_tells_class_and_shape(x: Any) -> None:
    assert repr(x) == f"\n<{type(x).__name__} 3x3 @cpu(0)>"


def test_pickled_array_comes_back(x: Any) -> None:
    again = pickle.loads(pickle.dumps(x))
    assert type(again) is type(x)
    np.testing.assert_array_equal(again.asnumpy(), MATRIX)


def test_copies_are_independent(x: Any) -> None:
    for copied in (copy.copy(x), copy.deepcopy(x), x.copy()):
        copied *= 2
        np.testing.assert_array_equal(copied.asnumpy(), MATRIX * 2)
        np.testing.assert_array_equal(x.asnumpy(), MATRIX)


def test_handles_see_a_write(x: Any) -> None:
    handle = x.detach()
    x *= 3
    np.testing.assert_array_equal(handle.asnumpy(), MATRIX * 3)


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        (([1, 2, 3], [0, 5, 1], [0, 2, 2, 3]), "column numbers that are out of range"),
        (([1, 2, 3], [0, 1, 1], [0, 2, 1, 3]), "row pointers that go down"),
        (([1, 2, 3], [1, 0, 1], [0, 2, 2, 3]), "do not ascend within a row"),
    ],
)
def test_check_format_finds_wrong_numbers(parts: Any, problem: str) -> None:
    values, columns, pointers = parts
    made = nd.sparse.CSRNDArray(
        nd.array(values),
        (nd.array(pointers, dtype="int64"), nd.array(columns, dtype="int64")),
        (3, 3),
    )
    with pytest.raises(ArgumentError, match=problem):
        made.check_format()
    made.check_format(full_check=False)


@pytest.mark.parametrize("rows", [[2, 0], [0, 3], [1, 1]])
def test_check_format_finds_wrong_rows(rows: list[int]) -> None:
    parts = nd.ones((2, 3)), (nd.array(rows, dtype="int64"),)
    made = nd.sparse.RowSparseNDArray(*parts, (3, 3))
    with pytest.raises(ArgumentError, match="check_format: expected a valid row_sparse"):
        made.check_format()


def test_columns_that_begin_anew_in_each_row_are_in_order() -> None:
    nd.sparse.csr_matrix(([1, 2, 3, 4], [1, 2, 0, 2], [0, 2, 2, 4]), shape=(3, 3)).check_format()


class _Matrix:
    """What SciPy's matrices look like, of three rows and columns."""

    def __init__(self, data: list[float], indices: list[int], indptr: list[int]) -> None:
        self.data = np.array(data, np.float32)
        self.indices = np.array(indices, np.int32)
        self.indptr = np.array(indptr, np.int32)
        self.shape = (3, 3)
        self.nnz = len(data)

    def tocsr(self) -> "_Matrix":
        return self


@pytest.mark.parametrize("make", [nd.sparse.csr_matrix, nd.sparse.array, nd.array])
def test_matrix_of_scipy_is_taken(make: Any) -> None:
    x = make(_Matrix([1, 2, 3], [1, 0, 2], [0, 1, 1, 3]))
    assert x.stype == "csr"
    np.testing.assert_array_equal(x.asnumpy(), MATRIX)


@pytest.mark.parametrize("make", [nd.sparse.csr_matrix, nd.sparse.array, nd.array])
def test_elements_that_a_matrix_of_scipy_has_twice_are_summed(make: Any) -> None:
    source = _Matrix([4, 1, 2, 3, 5], [2, 0, 2, 1, 1], [0, 3, 3, 5])
    x = make(source)
    assert x.tolist() == [[1, 0, 6], [0, 0, 0], [0, 8, 0]]
    assert (x.data.tolist(), x.indices.tolist()) == ([1, 6, 8], [0, 2, 1])
    x.check_format()
    assert source.indices.tolist() == [2, 0, 2, 1, 1]


def test_columns_that_a_matrix_of_scipy_has_in_any_order_are_sorted() -> None:
    x = nd.sparse.csr_matrix(_Matrix([1, 2, 3], [2, 0, 1], [0, 2, 2, 3]), dtype="float64")
    assert (x.data.tolist(), x.indices.tolist(), x.dtype) == ([2, 1, 3], [0, 2, 1], np.float64)


def test_inner_arrays_are_numbered_as_in_mxnet() -> None:
    matrix = nd.sparse.csr_matrix(np.eye(3))
    assert matrix._aux_data(0).asnumpy().tolist() == [0, 1, 2, 3]
    assert matrix._aux_data(1).asnumpy().tolist() == [0, 1, 2]
    rows = nd.ones((2, 2)).tostype("row_sparse")
    assert rows._aux_data(0).asnumpy().tolist() == [0, 1]  # type: ignore[attr-defined]
