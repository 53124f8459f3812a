"""Arrays of 16-bit floats as users handle them: as those of float32, rounded to their own type."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gluonish as mx
from gluonish import gluon, nd

np16 = pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
VALUES = [[1, 2.5, 3], [4, 5, 6]]

# Expressions of x, (2, 3), and of dtype, whose results have x's dtype.
ND = (
    *(
        "x",
        "x[1]",
        "x[:, 1:]",
        "x[nd.array([1, 0], dtype=dtype)]",
        "x[x[0] - 1 < 1]",
        "x + 1",
        "2 / x",
    ),
    *("nd.zeros((2,), dtype=dtype)", "nd.ones((2,), dtype=dtype)", "nd.full((2,), 3, dtype=dtype)"),
    *("nd.arange(5, dtype=dtype)", "nd.eye(2, dtype=dtype)", "nd.linspace(0, 1, 3, dtype=dtype)"),
    *("x.sum()", "x.mean(axis=1)", "x.max()", "x.norm()", "nd.dot(x, x.T)", "nd.softmax(x)"),
    *("x.tostype('csr')", "x.tostype('row_sparse')", "nd.sparse.dot(x.tostype('csr'), x.T)"),
    *("x.sort(is_ascend=False)", "nd.pick(x, nd.array([0, 1]))", "x == x", "x.reshape((3, 2))"),
    *("nd.take(x, nd.array([1], dtype=dtype))", "nd.one_hot(nd.array([0, 2]), 3, dtype=dtype)"),
    "nd.softmax(x, length=nd.array([1, 2], dtype=dtype), use_length=True)",
    "nd.contrib.boolean_mask(x, nd.array([1, 0], dtype=dtype))",
)
NP = (
    *("x", "x[1]", "x[x > 2]", "x + 1", "1 / x", "x @ x.T", "np.zeros_like(x)", "x.cumsum(0)"),
    *("np.full((2,), 3, dtype=dtype)", "np.arange(3, dtype=dtype)", "np.eye(2, dtype=dtype)"),
    *("np.logspace(0, 1, 3, dtype=dtype)", "x.sum()", "x.mean(1)", "x.std()", "x.var(0)"),
    *(
        "np.nan_to_num(x / 0)",
        "np.nan_to_num(-x / 0)",
        "np.linalg.norm(x)",
        "np.where(x > 2, x, -x)",
    ),
    *("np.einsum('ij,kj->ik', x, x)", "np.concatenate([x, x])", "npx.softmax(x)", "npx.erf(x)"),
    *("np.average(x)", "np.clip(x, 2, 3)", "np.pad(x, 1)", "np.unique(x)", "np.polyval(x[0], x)"),
)


def _value(face: Any, expression: str, dtype: str) -> Any:
    names = {"nd": nd, "np": mx.np, "npx": mx.npx, "dtype": dtype}
    names["x"] = face.array(VALUES, dtype=dtype)
    with np.errstate(all="ignore"):
        return eval(expression, names)


def _check(face: Any, expression: str, dtype: str) -> None:
    found = _value(face, expression, dtype)
    narrow = np.dtype(getattr(ml_dtypes, dtype, dtype))
    assert found.dtype == narrow
    values = found.asnumpy()
    assert values.dtype == narrow
    wide = _value(face, expression, "float32").asnumpy()
    if "nan_to_num" in expression:
        wide = np.sign(wide) * np.float32(ml_dtypes.finfo(narrow).max)
    step = float(ml_dtypes.finfo(narrow).eps)
    np.testing.assert_allclose(values.astype(np.float32), wide, rtol=2 * step, atol=step / 8)


@np16
@pytest.mark.parametrize("expression", ND)
def test_legacy_arrays(expression: str, dtype: str) -> None:
    _check(nd, expression, dtype)


@np16
@pytest.mark.parametrize("expression", NP)
def test_numpy_arrays(expression: str, dtype: str) -> None:
    _check(mx.np, expression, dtype)


@np16
def test_sums_are_taken_in_float32(dtype: str) -> None:
    ones = nd.ones((2, 4100), dtype=dtype)
    for total in (ones.sum(axis=1), mx.np.ones((2, 4100), dtype=dtype).sum(1)):
        rounded = float(np.array(4100).astype(total.asnumpy().dtype))
        assert total.astype("float32").asnumpy().tolist() == [rounded, rounded]
    assert nd.mean(ones).astype("float32").asscalar() == 1


@np16
def test_an_element_is_written_by_an_index_of_that_dtype(dtype: str) -> None:
    x = nd.array(VALUES, dtype=dtype)
    x[nd.array([1], dtype=dtype)] = 7
    assert x.astype("float32").asnumpy().tolist() == [[1, 2.5, 3], [7, 7, 7]]


@np16
def test_text_shows_the_values(dtype: str) -> None:
    assert "2.5" in str(nd.array(VALUES, dtype=dtype))
    assert repr(mx.np.array([1, 2.5], dtype=dtype)) == f"array([1. , 2.5], dtype={dtype})"
    assert mx.np.array([1, 2.5], dtype=dtype).tolist() == [1, 2.5]


@np16
@pytest.mark.parametrize("name", ["uniform", "normal", "exponential", "gamma", "poisson"])
def test_random_numbers_are_those_of_float32_rounded(name: str, dtype: str) -> None:
    drawn = []
    for wanted in (dtype, "float32"):
        mx.random.seed(5)
        drawn.append(getattr(nd.random, name)(shape=(64,), dtype=wanted).asnumpy())
    assert drawn[0].dtype == np.dtype(getattr(ml_dtypes, dtype, dtype))
    wide = drawn[0].astype(np.float32)
    np.testing.assert_allclose(wide, drawn[1], rtol=float(ml_dtypes.finfo(dtype).eps), atol=1e-6)


@np16
def test_metrics_take_predictions(dtype: str) -> None:
    label = nd.array([0, 1])
    for metric in (
        *(mx.metric.Accuracy(), mx.metric.TopKAccuracy(2), mx.metric.CrossEntropy()),
        *(mx.metric.Perplexity(None), mx.metric.F1(), mx.metric.Loss()),
    ):
        found = []
        for wanted in (dtype, "float32"):
            metric.reset()
            metric.update([label], [nd.array([[0.75, 0.25], [0.5, 0.5]], dtype=wanted)])
            found.append(metric.get()[1])
        assert found[0] == pytest.approx(found[1], rel=1e-6)


@np16
@pytest.mark.parametrize("workers", [0, 1])
def test_loaders_keep_the_dtype(workers: int, dtype: str) -> None:
    data = gluon.data.ArrayDataset(nd.array(VALUES, dtype=dtype))
    (batch,) = gluon.data.DataLoader(data, 2, num_workers=workers, thread_pool=True)
    assert batch.dtype == np.dtype(getattr(ml_dtypes, dtype, dtype))
    assert batch.astype("float32").asnumpy().tolist() == VALUES
    (one,) = mx.io.NDArrayIter(nd.array(VALUES, dtype=dtype), batch_size=2)
    assert one.data[0].astype("float32").asnumpy().tolist() == VALUES
