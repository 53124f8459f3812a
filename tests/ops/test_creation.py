"""Facts of MXNet 1.9.1, found by running it."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import OperatorError
from tests.checking.values import run_operator


@pytest.mark.parametrize(
    ("attrs", "expected"),
    [
        ({"start": 3}, [0, 1, 2]),
        ({"start": 5, "stop": 0, "step": -2}, [5, 3, 1]),
        ({"start": 0, "stop": 1, "step": 0.3}, [0, 0.3, 0.6, 0.9]),
        ({"start": 1, "stop": 3, "repeat": 2}, [1, 1, 2, 2]),
    ],
)
def test_arange(attrs: dict[str, Any], expected: list[float]) -> None:
    np.testing.assert_allclose(run_operator("_arange", **attrs), expected, rtol=1e-6)


@pytest.mark.parametrize(
    "attrs",
    [{"start": 5, "stop": 0}, {"start": 0, "stop": 0}, {"start": float("nan")}, {"start": 1e30}],
)
def test_arange_that_leads_nowhere_is_refused(attrs: dict[str, Any]) -> None:
    with pytest.raises(OperatorError, match="leading from start to stop"):
        run_operator("_arange", **attrs)


@pytest.mark.parametrize("name", ["_arange", "_npi_arange"])
@pytest.mark.parametrize("count", [3, 1 << 16])
def test_arange_of_whole_numbers_that_no_float_equals(name: str, count: int) -> None:
    start = 2**53 + 1
    found = run_operator(name, start=start, stop=start + count, dtype="int64")
    np.testing.assert_array_equal(found, np.arange(start, start + count))


def test_linspace_leaves_the_end_out_on_request() -> None:
    result = run_operator("_linspace", start=0, stop=1, num=5, endpoint=False)
    np.testing.assert_allclose(result, [0, 0.2, 0.4, 0.6, 0.8], rtol=1e-6)


def test_eye_has_ones_on_a_diagonal() -> None:
    result = run_operator("_eye", N=2, M=3, k=-1, dtype="int32")
    assert result.tolist() == [[0, 0, 0], [1, 0, 0]]


def test_full_cuts_its_value_for_integers() -> None:
    assert run_operator("_full", shape=(2,), value=2.7, dtype="int32").tolist() == [2, 2]


def test_device_is_accepted() -> None:
    assert run_operator("_zeros", shape=(2,), ctx="cpu(0)", dtype="bfloat16").shape == (2,)


@pytest.mark.filterwarnings("ignore:arange. expected a dtype that holds:RuntimeWarning")  # uint8
@pytest.mark.parametrize("face", ["nd", "np"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
@pytest.mark.parametrize(
    ("bounds", "wanted"),
    [
        ((1.3, 8, 1.3), [1, 2, 3, 4, 5, 6]),
        ((0.5, 3, 0.5), [0, 0, 0, 0, 0]),
        ((0.5, 3, 1.2), [0, 1, 2]),
        ((-1.5, 4, 1.7), [-1, 0, 1, 2]),
        ((5.5, 0, -1.6), [5, 4, 3, 2]),
    ],
)
def test_whole_ranges_start_and_go_by_whole_numbers(
    face: str, dtype: str, bounds: tuple[float, float, float], wanted: list[int]
) -> None:
    found = getattr(mx, face).arange(*bounds, dtype=dtype).asnumpy()
    assert found.tolist() == np.array(wanted).astype(dtype).tolist()  # MXNet's
    symbol = mx.sym.arange(*bounds, dtype=dtype)
    assert symbol.eval()[0].asnumpy().tolist() == found.tolist()


def test_a_large_whole_range_goes_by_whole_numbers() -> None:
    found = mx.nd.arange(1.5, 1e5, 1.5, dtype="int32").asnumpy()
    assert found.tolist() == list(range(1, len(found) + 1))
    assert len(found) == 66666
