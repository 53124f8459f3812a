"""One window over everything gives what a loop over its positions gives."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gluonish.ops.nn.pooling import _SELECT, POOLING, POOLING_BACKWARD
from gluonish.ops.support import whole_window
from gluonish.ops.support.windows import Geometry
from tests.checking.values import run_kernel

RANDOM = np.random.default_rng(2)
KINDS = ["max", "avg", "sum", "lp"]


def _run(op: Any, inputs: list[Any], **attrs: Any) -> Any:
    parsed = op.schema.parse(op.name, attrs)
    (result,) = run_kernel(op, op.kernel, inputs, parsed, parsed)
    return result


def _both(monkeypatch: pytest.MonkeyPatch, op: Any, inputs: list[Any], **attrs: Any) -> Any:
    """Return the result, and that of the loop over positions."""
    got = _run(op, inputs, **attrs)
    with monkeypatch.context() as patch:
        patch.setattr(whole_window, "covers", lambda *_: False)
        return got, _run(op, inputs, **attrs)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_values_and_gradients_are_those_of_the_loop(
    monkeypatch: pytest.MonkeyPatch, kind: str, dtype: Any, layout: str
) -> None:
    attrs = {"pool_type": kind, "global_pool": True, "layout": layout, "p_value": 2}
    data = RANDOM.integers(-4, 5, (2, 3, 4, 5)).astype(dtype)
    got, want = _both(monkeypatch, POOLING, [data], **attrs)
    assert got.dtype == dtype
    rtol = 1e-2 if got.dtype.itemsize == 2 else 1e-6
    np.testing.assert_allclose(got.astype("f8"), want.astype("f8"), rtol=rtol)
    if kind == "lp":
        return
    grad = RANDOM.standard_normal(got.shape).astype(dtype)
    pair = _both(monkeypatch, POOLING_BACKWARD, [grad, data, want], **attrs)
    np.testing.assert_array_equal(*(x.astype("f8") for x in pair))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32])
def test_what_stands_at_the_maximum_is_that_of_the_loop(
    monkeypatch: pytest.MonkeyPatch, dtype: Any
) -> None:
    data = RANDOM.integers(-4, 5, (2, 3, 4, 5)).astype(dtype)
    values = RANDOM.standard_normal(data.shape).astype(dtype)
    out = _run(POOLING, [data], global_pool=True)
    pair = _both(monkeypatch, _SELECT, [values, data, out], global_pool=True)
    np.testing.assert_array_equal(*(x.astype("f8") for x in pair))


def test_nan_comes_out_and_gets_no_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    data = RANDOM.standard_normal((1, 2, 3, 4)).astype(np.float32)
    data[0, 1, 1, 2] = np.nan
    got, want = _both(monkeypatch, POOLING, [data], global_pool=True)
    np.testing.assert_array_equal(got, want)
    assert np.isnan(got[0, :, 0, 0]).tolist() == [False, True]
    grad = np.ones_like(got)
    got, want = _both(monkeypatch, POOLING_BACKWARD, [grad, data, got], global_pool=True)
    np.testing.assert_array_equal(got, want)
    assert got.sum(axis=(2, 3)).tolist() == [[1, 0]]


def test_the_first_of_equal_maxima_gets_the_gradient() -> None:
    data = np.zeros((1, 1, 2, 3), np.float32)
    data[0, 0, 0, 2] = data[0, 0, 1, 0] = 1
    one = np.ones((1, 1, 1, 1), np.float32)
    found = _run(POOLING_BACKWARD, [one, data, one], global_pool=True)
    assert found[0, 0].tolist() == [[0, 0, 1], [0, 0, 0]]


def test_a_kernel_as_large_as_the_data_is_a_whole_window() -> None:
    geometry = Geometry((3, 4), (1, 1), (1, 1), (0, 0))
    assert whole_window.covers((3, 4), (1, 1), geometry)
    assert not whole_window.covers((3, 5), (1, 2), geometry)
    assert not whole_window.covers((3, 4), (3, 1), geometry._replace(pad=(1, 0)))


@pytest.mark.parametrize("kind", ["max", "sum"])
def test_an_empty_batch_gives_an_empty_result(kind: str) -> None:
    data = np.zeros((0, 2, 3, 4), np.float32)
    assert _run(POOLING, [data], global_pool=True, pool_type=kind).shape == (0, 2, 1, 1)


def test_integers_have_a_maximum() -> None:
    data = np.array([[[3, -7, 5]]], np.int8)
    assert _run(POOLING, [data], global_pool=True).tolist() == [[[5]]]
