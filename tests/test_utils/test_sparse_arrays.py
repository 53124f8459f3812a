from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import test_utils
from gluonish.core.errors import ArgumentError


@pytest.fixture(autouse=True)
def _seeded() -> None:
    np.random.seed(0)  # noqa: NPY002  # the generator under test


@pytest.mark.parametrize("stype", ["default", "row_sparse", "csr"])
def test_shape_dtype_device_and_storage_are_as_asked(stype: str) -> None:
    x = test_utils.rand_ndarray((4, 3), stype, dtype="float64", ctx=mx.cpu(1))
    assert (x.stype, x.shape, x.dtype, x.context) == (stype, (4, 3), np.float64, mx.cpu(1))
    assert test_utils.rand_ndarray((4, 3), stype).dtype is np.float32


def test_dense_arrays_are_normal_and_sparse_ones_uniform() -> None:
    dense = test_utils.rand_ndarray((100, 100)).asnumpy()
    assert dense.min() < -2
    assert abs(dense.std() - 1) < 0.05
    for stype in ("row_sparse", "csr"):
        stored = test_utils.rand_ndarray((100, 100), stype, density=1.0).asnumpy()
        assert 0 <= stored.min() < 0.1 < 0.9 < stored.max() < 1


def test_density_is_of_rows_or_of_elements() -> None:
    rows = test_utils.rand_ndarray((500, 5), "row_sparse", density=0.3).asnumpy()
    assert abs((rows != 0).any(axis=1).mean() - 0.3) < 0.07
    assert set((rows != 0).mean(axis=1)) == {0.0, 1.0}
    elements = test_utils.rand_ndarray((50, 50), "csr", density=0.3).asnumpy()
    assert abs((elements != 0).mean() - 0.3) < 0.05
    for stype in ("row_sparse", "csr"):
        assert not test_utils.rand_ndarray((5, 5), stype, density=0).asnumpy().any()


def test_power_law_doubles_the_rows() -> None:
    x = test_utils.rand_ndarray((10, 20), "csr", density=0.4, distribution="powerlaw").asnumpy()
    assert (x != 0).sum(axis=1).tolist() == [2, 4, 8, 16, 20, 20, 7, 1, 1, 1]
    for density in (0.05, 1.0):
        with pytest.raises(ArgumentError, match="powerlaw"):
            test_utils.rand_ndarray((10, 20), "csr", density=density, distribution="powerlaw")


def test_parts_come_with_the_array() -> None:
    x, (data, rows) = test_utils.rand_sparse_ndarray((4, 3), "row_sparse", 1.0)
    np.testing.assert_array_equal(x.asnumpy()[rows], data)
    y, (indptr, columns, values) = test_utils.rand_sparse_ndarray((4, 3), "csr", 0.5)
    again = mx.nd.sparse.csr_matrix((values, columns, indptr), shape=(4, 3))
    np.testing.assert_array_equal(again.asnumpy(), y.asnumpy())


@pytest.mark.parametrize("stype", ["row_sparse", "csr"])
def test_values_may_be_given_or_changed(stype: str) -> None:
    twos, _ = test_utils.rand_sparse_ndarray((4, 3), stype, 1.0, data_init=2.0)
    assert set(twos.asnumpy().flat) == {2.0}
    threes = test_utils.rand_ndarray((4, 3), stype, 1.0, modifier_func=lambda v: 3.0)
    assert set(threes.asnumpy().flat) == {3.0}


def test_row_indices_say_which_rows_are_stored() -> None:
    for make in (test_utils.create_sparse_array, test_utils.create_sparse_array_zd):
        x = make((4, 3), "row_sparse", density=0.9, rsp_indices=[1, 3])
        assert (x.asnumpy() != 0).any(axis=1).tolist() == [False, True, False, True]
    assert not test_utils.create_sparse_array_zd((50, 2), "row_sparse", 0.9).asnumpy().any()
    with pytest.raises(ArgumentError, match="at most 2 rsp_indices, got 3"):
        test_utils.create_sparse_array((2, 2), "row_sparse", rsp_indices=[0, 1, 1])


def test_csr_density_holds_in_both_makers() -> None:
    full = test_utils.create_sparse_array((4, 3), "csr", density=1.0, dtype="float64")
    assert full.dtype is np.float64
    assert full.asnumpy().all()
    assert test_utils.create_sparse_array_zd((4, 3), "csr", 1.0).asnumpy().all()
    assert not test_utils.create_sparse_array_zd((4, 3), "csr", 0.0).asnumpy().any()


def test_shuffled_columns_are_the_same_matrix() -> None:
    x = mx.nd.array(np.arange(1, 13).reshape(2, 6)).tostype("csr")
    kept = x.asnumpy()
    test_utils.shuffle_csr_column_indices(x)
    columns = x.indices.asnumpy().reshape(2, 6)  # type: ignore[attr-defined]
    assert columns.tolist() != [list(range(6))] * 2
    np.testing.assert_array_equal(np.sort(columns), [list(range(6))] * 2)
    np.testing.assert_array_equal(x.asnumpy(), kept)


def test_rand_ndarray_shuffles_on_request() -> None:
    x: Any = test_utils.rand_ndarray((2, 9), "csr", 1.0, shuffle_csr_indices=True)
    assert x.indices.asnumpy().tolist() != list(range(9)) * 2


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"stype": "dense"}, "stype row_sparse or csr, got 'dense'"),
        ({"stype": "csr", "density": 2}, r"density in \[0, 1\], got 2"),
        ({"stype": "row_sparse", "distribution": "powerlaw"}, "got 'powerlaw'"),
        ({"stype": "csr", "distribution": "normal"}, "got 'normal'"),
        ({"stype": "csr", "shape": (2, 3, 4)}, "two axes"),
    ],
)
def test_impossible_arrays_are_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(ArgumentError, match=match):
        test_utils.rand_ndarray(**{"shape": (4, 3), **options})
