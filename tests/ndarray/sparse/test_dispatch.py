import logging
from typing import Any

import numpy as np
import pytest

from gluonish import nd
from gluonish.core.config import MXNET_STORAGE_FALLBACK_LOG_VERBOSE
from gluonish.core.errors import ArgumentTypeError, OperatorError
from gluonish.ndarray.sparse import dispatch

MATRIX = np.array([[0, 1, 0], [0, 0, 0], [2, 0, 3]], np.float32)


def make(stype: str) -> Any:
    return nd.array(MATRIX).tostype(stype)


def test_fallback_is_logged_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "_logged", set())
    with caplog.at_level(logging.WARNING, logger="gluonish"):
        for _ in range(3):
            nd.softmax(make("csr"))
    assert len(caplog.records) == 1
    assert "softmax: no sparse implementation for csr" in caplog.text


def test_log_can_be_silenced(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "_logged", set())
    with MXNET_STORAGE_FALLBACK_LOG_VERBOSE.override(False):
        nd.softmax(make("csr"))
    assert not caplog.records


def test_out_keeps_its_storage_type() -> None:
    for stype in ("default", "row_sparse"):
        out = nd.zeros((3, 3), stype=stype)
        assert nd.elemwise_add(make("row_sparse"), make("row_sparse"), out=out) is out
        assert out.stype == stype
        np.testing.assert_array_equal(out.asnumpy(), MATRIX * 2)
    out = nd.zeros((3, 3), stype="csr")
    nd.elemwise_add(nd.array(MATRIX), nd.array(MATRIX), out=out)
    np.testing.assert_array_equal(out.asnumpy(), MATRIX * 2)
    nd.random.uniform(1, 2, shape=(3, 3), out=out)
    assert out.indices.size == 9  # type: ignore[attr-defined]


def test_operator_checks_sparse_inputs_as_dense_ones() -> None:
    with pytest.raises(OperatorError, match="elemwise_add"):
        nd.elemwise_add(make("csr"), nd.sparse.zeros("csr", (2, 3)))
    with pytest.raises(OperatorError, match="dot"):
        nd.dot(make("csr"), nd.ones((2, 3)))
    with pytest.raises(ArgumentTypeError, match="elemwise_add: expected rhs to be an NDArray"):
        nd.elemwise_add(make("csr"), MATRIX)


def test_state_of_a_fallen_back_update_is_written_back() -> None:
    weight, grad = make("row_sparse"), make("row_sparse")
    state = nd.sparse.zeros("row_sparse", (3, 3))
    nd.rmsprop_update(weight, grad, state, lr=0.1, gamma1=0.5, out=weight)
    assert state.stype == weight.stype == "row_sparse"
    np.testing.assert_allclose(state.asnumpy(), MATRIX**2 / 2)


@pytest.mark.parametrize("stype", ["row_sparse", "csr"])
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_arrays_without_elements_work(stype: str, shape: tuple[int, int]) -> None:
    x = nd.sparse.zeros(stype, shape)
    for y in (x + x, x * 2, nd.abs(x), x * x, x.tostype("default"), x.astype("float64"), x.copy()):
        assert y.shape == shape
        y.asnumpy()
    assert nd.zeros(shape).tostype(stype).asnumpy().shape == shape


@pytest.mark.parametrize("dtype", ["float16", "float64", "int32", "bfloat16"])
@pytest.mark.parametrize("stype", ["row_sparse", "csr"])
def test_other_dtypes_work(stype: str, dtype: str) -> None:
    x = nd.array(MATRIX, dtype=dtype).tostype(stype)
    assert (x + x).dtype == x.dtype
    np.testing.assert_array_equal((x + x).astype("float32").asnumpy(), MATRIX * 2)
    np.testing.assert_array_equal(
        (x * 2).tostype("default").astype("float32").asnumpy(), MATRIX * 2
    )
    if dtype != "int32":
        product = nd.sparse.dot(make("csr").astype(dtype), nd.ones((3, 2), dtype=dtype))
        np.testing.assert_array_equal(product.astype("float32").asnumpy(), MATRIX @ np.ones((3, 2)))


def test_random_matrices_agree_with_numpy() -> None:
    random = np.random.default_rng(5)
    for _ in range(20):
        rows, columns = random.integers(1, 7, 2)
        a, b = (
            random.normal(size=(rows, columns)) * (random.random((rows, columns)) < 0.4)
            for _ in range(2)
        )
        w, v = random.normal(size=(columns, 3)), random.normal(size=(rows, 3))
        for stype in ("row_sparse", "csr"):
            x, y = nd.array(a, dtype="float64").tostype(stype), nd.array(b).astype("float64")
            other = y.tostype(stype)
            for found, expected in (
                (x + other, a + b),
                (x - other, a - b),
                (x * other, a * b),
                (x * y, a * b),
                (nd.add_n(x, other, x), 2 * a + b),
            ):
                np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-6, atol=1e-7)
                if found.stype != "default":
                    found.check_format()
        x = nd.array(a, dtype="float64").tostype("csr")
        right, left = nd.array(w, dtype="float64"), nd.array(v, dtype="float64")
        np.testing.assert_allclose(nd.sparse.dot(x, right).asnumpy(), a @ w)
        product = nd.sparse.dot(x, left, transpose_a=True)
        product.check_format()  # type: ignore[attr-defined]
        np.testing.assert_allclose(product.asnumpy(), a.T @ v, atol=1e-12)
        np.testing.assert_allclose(nd.sparse.dot(left.T, x).asnumpy(), v.T @ a, atol=1e-12)
        np.testing.assert_allclose(nd.sparse.sum(x, axis=0).asnumpy(), a.sum(0), atol=1e-12)
        np.testing.assert_allclose(nd.sparse.sum(x, axis=1).asnumpy(), a.sum(1), atol=1e-12)
