import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gluonish as mx
from gluonish import test_utils
from gluonish.core.errors import ArgumentError, ArgumentTypeError

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "test_utils.json").read_text("utf-8"))
NAN = float("nan")


def f32(*values: float) -> Any:
    return np.array(values, np.float32)


def verdict(name: str, a: Any, b: Any, options: dict[str, Any]) -> Any:
    try:
        result = getattr(test_utils, name)(a, b, **options)
    except AssertionError:
        return "AssertionError"
    return "passes" if result is None else result


@pytest.mark.parametrize("name", ["assert_almost_equal", "almost_equal", "assert_allclose"])
def test_verdicts_are_those_of_mxnet(name: str) -> None:
    rows = [row for row in GOLDEN["comparisons"] if row[0] == name]
    assert len(rows) > 200
    wrong = [
        row
        for row in rows
        if verdict(name, np.array(row[3], row[1]), np.array(row[4], row[2]), row[5]) != row[6]
    ]
    assert not wrong


@pytest.mark.parametrize("convert", [np.asarray, mx.nd.array, mx.np.array])
def test_arrays_of_every_kind_compare(convert: Any) -> None:
    test_utils.assert_almost_equal(convert(f32(1, 2)), f32(1, 2.0001))
    with pytest.raises(AssertionError, match=r"Location of maximum error: \(1,\), x=2.0+, y=3.0+"):
        test_utils.assert_almost_equal(convert(f32(1, 2)), f32(1, 3), names=("x", "y"))


def test_sparse_arrays_compare_with_dense_ones() -> None:
    dense = mx.nd.array([[1, 2]])
    test_utils.assert_almost_equal(dense.tostype("csr"), dense.tostype("row_sparse"))
    with pytest.raises(AssertionError, match=r"\(0, 1\)"):
        test_utils.assert_almost_equal(dense.tostype("csr"), mx.nd.array([[1, 3]]))


def test_bfloat16_compares_with_its_own_tolerance() -> None:
    x = mx.nd.array([1.0, 2.0], dtype="bfloat16")
    test_utils.assert_almost_equal(x, f32(1.02, 2))
    test_utils.assert_almost_equal(f32(1.02, 2).astype(ml_dtypes.bfloat16), f32(1.02, 2))
    with pytest.raises(AssertionError):
        test_utils.assert_almost_equal(x, f32(1.5, 2))


def test_large_integers_are_compared_exactly() -> None:
    big = np.array([2**60, 1])
    test_utils.assert_almost_equal(big, big.copy())
    with pytest.raises(AssertionError):
        test_utils.assert_almost_equal(big, big + np.array([1, 0]))


def test_booleans_numbers_and_lists_compare() -> None:
    test_utils.assert_almost_equal(np.array([True, False]), np.array([True, False]))
    test_utils.assert_almost_equal(1.0, 1.0 + 1e-9)
    test_utils.assert_almost_equal([1.0, 2.0], [1.0, 2.0])
    for a, b in ((np.array([True]), np.array([False])), (1.0, 1.1), ([1.0], [1.5])):
        with pytest.raises(AssertionError):
            test_utils.assert_almost_equal(a, b)


def test_message_lists_as_many_errors_as_asked_for() -> None:
    zeros, numbers = np.zeros((3, 4)), np.arange(12.0).reshape(3, 4)
    for mismatches, shown, share in (
        ((2, 5), 2, "at least 50"),
        ((10, 11), 10, "mismatch 91"),
        ((0, 0), 0, "mismatch 91"),
    ):
        with pytest.raises(AssertionError, match=share) as error:
            test_utils.assert_almost_equal(zeros, numbers, mismatches=mismatches)
        assert str(error.value).count("Location of error") == shown


def test_nan_is_the_largest_error() -> None:
    with pytest.raises(AssertionError, match=r"Error nan .*\n.*maximum error: \(1,\)"):
        test_utils.assert_almost_equal(f32(1, NAN, 3), f32(9, NAN, 3))


def test_shapes_broadcast_unless_told_otherwise() -> None:
    test_utils.assert_almost_equal(np.ones((2, 3)), np.ones(3))
    assert test_utils.almost_equal(f32(1, 1), f32(1))
    for function in (test_utils.assert_almost_equal, test_utils.almost_equal):
        with pytest.raises(AssertionError, match=r"\(2,\) and \(1,\)"):
            function(f32(1, 1), f32(1), use_broadcast=False)
        with pytest.raises(ArgumentError, match=r"shapes that broadcast, got \(2,\) and \(3,\)"):
            function(f32(1, 1), f32(1, 1, 1))


@pytest.mark.parametrize("value", [None, "text"])
def test_what_is_no_array_is_refused(value: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="expected arrays or numbers"):
        test_utils.assert_almost_equal(value, value)


def test_zero_size_arrays_are_equal() -> None:
    test_utils.assert_almost_equal(np.zeros((0, 3)), mx.np.zeros((0, 3)))


def test_same_wants_shape_and_values() -> None:
    assert test_utils.same(np.ones(2), mx.nd.ones(2))
    assert not test_utils.same(np.ones(2), np.ones((1, 2)))
    assert not test_utils.same(f32(NAN), f32(NAN))


def test_check_shapes_fails_for_two() -> None:
    test_utils.checkShapes(np.ones(2), mx.nd.ones(2))
    with pytest.raises(AssertionError, match=r"^checkShapes: .*\(2,\) and \(3,\)"):
        test_utils.checkShapes(np.ones(2), np.ones(3))


def test_location_error_tells_place_and_values() -> None:
    text = test_utils.locationError(np.ones((2, 2)), np.zeros((2, 2)), (1, 0), ("x", "y"), True)
    assert text == "Location of maximum error: (1, 0), x=1.00000000, y=0.00000000"


@pytest.mark.parametrize("convert", [np.asarray, mx.nd.array])
def test_share_of_elements_may_differ(convert: Any) -> None:
    a, b = np.arange(100.0), np.arange(100.0)
    b[:5] += 1
    test_utils.assert_almost_equal_with_err(convert(a), convert(b), etol=0.06)
    for etol in (0.04, None):
        with pytest.raises(AssertionError, match=r"mismatch 5.0"):
            test_utils.assert_almost_equal_with_err(convert(a), convert(b), etol=etol)


def test_ignoring_nan_ignores_only_nan() -> None:
    x = f32(1, NAN, 3)
    test_utils.assert_almost_equal_ignore_nan(x, mx.nd.array([1, 5, 3]))
    test_utils.assert_almost_equal_ignore_nan(f32(1, 5, 3), x)
    assert np.isnan(x[1])
    with pytest.raises(AssertionError):
        test_utils.assert_almost_equal_ignore_nan(x, f32(1, 5, 4))


def test_nested_tuples_compare_and_none_fits_anything() -> None:
    one, two = mx.nd.ones(2), mx.nd.ones(2) * 2
    test_utils.compare_ndarray_tuple((one, (two, None)), (one, (two, one)))
    for wrong in ((one, (one, None)), (one,), one):
        with pytest.raises(AssertionError):
            test_utils.compare_ndarray_tuple((one, (two, None)), wrong)


def test_same_array_is_the_same_memory_and_keeps_its_values() -> None:
    x = mx.nd.array([1e20, 0, 1, -3])
    kept = x.asnumpy()
    assert test_utils.same_array(x, x[:])
    assert not test_utils.same_array(x, x.copy())
    assert not test_utils.same_array(mx.nd.ones(3), mx.nd.ones(3))
    assert not test_utils.same_array(x, mx.nd.ones(3))
    np.testing.assert_array_equal(x.asnumpy(), kept)
