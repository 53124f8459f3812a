import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gluonish as mx
from gluonish import test_utils
from gluonish.core.errors import ArgumentTypeError

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "test_utils.json").read_text("utf-8"))


@pytest.mark.parametrize("name", ["default_rtols", "default_atols", "default_numeric_eps"])
def test_defaults_are_those_of_mxnet(name: str) -> None:
    ours = {str(key): value for key, value in getattr(test_utils, name)().items()}
    assert ours.items() >= GOLDEN["tolerances"][name].items()


def test_every_float_has_tolerances_and_float32_is_the_default() -> None:
    assert np.dtype(ml_dtypes.bfloat16) in test_utils.default_rtols()
    assert test_utils.default_dtype() is np.float32


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (mx.nd.zeros(2, dtype="float16"), "float16"),
        (np.zeros(2, "int32"), "int32"),
        (np.float32(3), "float32"),
        (3, "float64"),
        ([1.0, 2.0], "float64"),
        ([mx.nd.ones(2)], "float32"),
    ],
)
def test_effective_dtype_is_that_of_the_values(values: Any, dtype: str) -> None:
    assert test_utils.effective_dtype(values) == np.dtype(dtype)


@pytest.mark.parametrize("values", ["text", None, ["a"]])
def test_effective_dtype_refuses_what_is_no_number(values: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^effective_dtype: expected an array"):
        test_utils.effective_dtype(values)


def test_tolerance_is_a_number_or_found_by_dtype() -> None:
    x, defaults = np.zeros(2, "float32"), test_utils.default_rtols()
    assert test_utils.get_tolerance(x, None, defaults) == 1e-4
    assert test_utils.get_tolerance(x, 0.5, defaults) == 0.5
    assert test_utils.get_tolerance(x, {"float32": 0.25}, defaults) == 0.25
    assert test_utils.get_tolerance(x, {np.dtype("float64"): 0.25}, defaults) == 1e-4


def test_dtype_without_a_tolerance_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="complex64; pass a number"):
        test_utils.get_tolerance(np.zeros(2, "complex64"), None, test_utils.default_rtols())


def test_coarser_dtype_decides() -> None:
    x, y = np.zeros(2, "float32"), np.zeros(2, "float16")
    assert test_utils.get_tols(x, y, None, None) == (1e-2, 1e-1)
    assert test_utils.get_tols(x, y, 0.5, None) == (0.5, 1e-1)
    assert test_utils.get_tols(x.astype("int32"), x.astype("int64"), None, None) == (0, 0)


def test_getters_give_what_they_got_or_the_default() -> None:
    assert (test_utils.get_atol(), test_utils.get_rtol(), test_utils.get_etol()) == (1e-20, 1e-5, 0)
    assert (test_utils.get_atol(0.3), test_utils.get_rtol(0.2), test_utils.get_etol(0.1)) == (
        *(0.3, 0.2, 0.1),
    )
    assert test_utils.get_atol(dtype=np.float16) == 1e-1
    assert test_utils.get_rtol(dtype=np.float16) == 1e-2
