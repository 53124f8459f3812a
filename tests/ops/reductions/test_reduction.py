"""Facts of MXNet 1.9.1, found by running it."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gluonish as mx
import gluonish.ops.reductions.arg_reduction
import gluonish.ops.reductions.reduction  # registers the table
from gluonish.core.errors import OperatorError
from tests.checking.values import run_operator

X = np.arange(6, dtype=np.float32).reshape(2, 3)
NAN = np.array([np.nan, 3, 2], np.float32)


@pytest.mark.parametrize(
    ("attrs", "shape"),
    [
        ({}, (1,)),
        ({"axis": ()}, (1,)),
        ({"axis": (0, 1)}, (1,)),
        ({"axis": (0, 1), "keepdims": True}, (1, 1)),
        ({"axis": 1}, (2,)),
        ({"axis": -1, "keepdims": True}, (2, 1)),
        ({"axis": 1, "exclude": True}, (3,)),
        ({"axis": (0, 1), "exclude": True}, (2, 3)),
    ],
)
def test_shape_of_a_sum(attrs: dict[str, Any], shape: tuple[int, ...]) -> None:
    result = run_operator("sum", X, **attrs)
    assert result.shape == shape
    assert result.sum() == 15


def test_missing_axis_is_refused() -> None:
    with pytest.raises(OperatorError, match=r"sum: expected axis in \[-2, 2\)"):
        run_operator("sum", X, axis=-3)


def test_mean_of_large_whole_numbers_is_not_rounded() -> None:
    result = run_operator("mean", np.array([2**53 + 1] * 3))
    assert result.tolist() == [2**53 + 1]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_gradient_of_a_mean_of_more_elements_than_16_bits_count(dtype: str) -> None:
    x = mx.nd.ones((2, 40_000), dtype=dtype)
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.mean(x)
    y.backward(mx.nd.full((1,), 80, dtype=dtype))
    np.testing.assert_allclose(x.grad.astype("float32").asnumpy(), 1e-3, rtol=5e-3)


def test_mean_of_integers_is_cut_toward_zero() -> None:
    result = run_operator("mean", np.array([-1, -2, -4], np.int32))
    assert result.dtype == np.int32
    assert result.tolist() == [-2]


def test_sum_of_small_integers_wraps_around() -> None:
    assert run_operator("sum", np.array([0, 1, 2, 255], np.uint8)).tolist() == [2]


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_long_sum_of_16_bit_floats_is_formed_in_float32(dtype: Any) -> None:
    assert float(run_operator("sum", np.ones(4096, dtype))[0]) == 4096


def test_nan_is_skipped_or_spreads() -> None:
    assert run_operator("nansum", NAN).tolist() == [5]
    assert run_operator("nanprod", NAN).tolist() == [6]
    assert np.isnan(run_operator("max", NAN)).all()


def test_sum_of_nothing_is_zero_and_maximum_is_refused() -> None:
    nothing = np.zeros((0, 3), np.float32)
    assert run_operator("sum", nothing, axis=0).tolist() == [0, 0, 0]
    with pytest.raises(OperatorError, match="at least one element"):
        run_operator("max", nothing, axis=0)


def test_norm_of_integers_is_cut() -> None:
    assert run_operator("norm", X.astype(np.int32)).tolist() == [7]  # of 7.416


@pytest.mark.parametrize("size", [1e30, 1e-30])
@pytest.mark.parametrize("name", ["norm", "_npi_norm"])
def test_norm_is_right_where_squares_leave_the_range(name: str, size: float) -> None:
    attrs = {"axis": (1,)} if name == "norm" else {"axis": (1,), "ord": 2.0, "flag": 0}
    rows = np.array([[3, 4], [0, 0], [np.inf, 1], [np.nan, 1]], np.float32) * np.float32(size)
    found = run_operator(name, rows, **attrs)
    found = found[0] if isinstance(found, list | tuple) else found
    np.testing.assert_allclose(found, [5 * size, 0, np.inf, np.nan], rtol=1e-6)


def test_norm_of_other_orders_is_refused() -> None:
    with pytest.raises(OperatorError, match="ord 1 or 2, got 3"):
        run_operator("norm", X, ord=3)


def test_norm_can_have_another_dtype() -> None:
    assert run_operator("norm", X.astype(np.float16), out_dtype="float32").dtype == np.float32


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int32])
def test_argmax_has_the_dtype_of_the_data(dtype: Any) -> None:
    result = run_operator("argmax", X.astype(dtype), axis=0)
    assert result.dtype == dtype
    assert result.tolist() == [1, 1, 1]


def test_argmax_without_axis_counts_all_elements() -> None:
    assert run_operator("argmax", X).tolist() == [5]
    assert run_operator("argmin", X, keepdims=True).tolist() == [[0]]


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "norm", "nansum"])
def test_overflow_gives_infinity_without_a_warning(name: str) -> None:
    # The error that a warning is here would come from NumPy's own modules, not from ours.
    assert np.isinf(run_operator(name, np.full((4, 4), 3e38, np.float32))).all()


def test_mean_of_nothing_is_nan() -> None:
    with mx.util.np_shape(True):
        assert np.isnan(mx.nd.zeros((0, 3)).mean(axis=0).asnumpy()).tolist() == [True] * 3
        assert np.isnan(mx.np.zeros((0, 3)).mean(axis=0).asnumpy()).tolist() == [True] * 3
