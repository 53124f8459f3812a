from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gluonish as mx
from gluonish.core.dtype import (
    BFLOAT16,
    DTYPE_FLAGS,
    dtype_from_flag,
    is_floating,
    normalize_dtype,
    promote,
)
from gluonish.core.errors import ArgumentTypeError
from gluonish.core.mxnet_rules import follow_mxnet


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, np.float32),
        ("float16", np.float16),
        (np.int32, np.int32),
        (np.dtype("uint8"), np.uint8),
        (float, np.float64),
        (bool, np.bool_),
        ("float", np.float64),
        ("<f4", np.float32),
        ("i8", np.int64),
        (np.longlong, np.int64),
        ("bfloat16", ml_dtypes.bfloat16),
        (ml_dtypes.bfloat16, ml_dtypes.bfloat16),
    ],
)
def test_names_types_and_dtypes_are_understood(given: Any, expected: Any) -> None:
    assert normalize_dtype(given) == np.dtype(expected)


def test_an_array_stands_for_its_element_type() -> None:
    # MXNet hands what it is given to np.dtype; Sockeye writes `output.astype(label)`.
    assert normalize_dtype(np.ones(1, np.int8)) == np.int8
    assert mx.nd.ones(2).astype(mx.nd.ones(3, dtype="float16")).dtype == np.float16


@pytest.mark.parametrize("given", ["float31", "a", "(2,)f4", "complex64", object(), np.str_, ">f4"])
def test_other_types_are_refused_with_the_list(given: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="dtype: expected one of float32, float64"):
        normalize_dtype(given)


def test_file_numbers_lead_back() -> None:
    assert all(dtype_from_flag(flag) == dtype for dtype, flag in DTYPE_FLAGS.items())
    with pytest.raises(ArgumentTypeError, match="dtype flag: expected one of"):
        dtype_from_flag(99)


def test_bfloat16_is_a_floating_type() -> None:
    assert is_floating(BFLOAT16)
    assert not is_floating(np.dtype("int32"))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("float32", "int64", "float32"),
        ("float16", "int64", "float16"),
        ("bool", "int8", "int8"),
        ("uint8", "int8", "int16"),
        ("uint8", "int64", "int64"),
        ("int32", "int64", "int64"),
        ("float16", "bfloat16", "float32"),
        ("bfloat16", "float64", "float64"),
        ("bfloat16", "int32", "bfloat16"),
    ],
)
def test_types_meet_on_either_side(a: str, b: str, expected: str) -> None:
    pair = normalize_dtype(a), normalize_dtype(b)
    assert promote(*pair) == promote(*reversed(pair)) == normalize_dtype(expected)


@pytest.mark.parametrize("a", [dtype for dtype in DTYPE_FLAGS if dtype.kind in "iu"])
@pytest.mark.parametrize("b", [dtype for dtype in DTYPE_FLAGS if dtype.kind in "iu"])
def test_integers_meet_as_in_numpy(a: Any, b: Any) -> None:
    expected = np.promote_types(a, b)
    if expected.kind == "f":
        with pytest.raises(ArgumentTypeError, match="cast one of them first"):
            promote(a, b)
    else:
        assert promote(a, b) == expected


def test_bytes_meet_in_int32_by_the_rules_of_mxnet_1_9() -> None:
    before = follow_mxnet(True)
    try:
        assert promote(np.dtype("int8"), np.dtype("uint8")) == np.dtype("int32")
    finally:
        follow_mxnet(before)


def test_types_for_files_only_do_not_meet() -> None:
    with pytest.raises(ArgumentTypeError, match="cast one of them first"):
        promote(normalize_dtype("float8_e5m2"), np.dtype("float32"))


@pytest.mark.parametrize("dtype", ["float31", 3, object, "complex64"])
@pytest.mark.parametrize("error", [TypeError, KeyError, ValueError, mx.MXNetError])
def test_an_unknown_dtype_has_the_classes_that_mxnet_raises(dtype: Any, error: Any) -> None:
    """TypeError for the first two, KeyError for the others; ValueError was raised by us before."""
    for call in (
        lambda: mx.nd.ones(2, dtype=dtype),
        lambda: mx.nd.random.uniform(shape=2, dtype=dtype),
        lambda: mx.nd.softmax(mx.nd.ones(2), dtype=dtype),
        lambda: mx.sym.var("x").astype(dtype),
        lambda: mx.nd.empty(2, dtype=dtype),
    ):
        with pytest.raises(error, match="expected"):
            call()
