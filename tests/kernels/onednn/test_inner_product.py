from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gluonish.kernels.onednn import RefusedError, inner_product
from gluonish.ops.kernel import Array
from tests.kernels.onednn.products import fully_connected

Close = Callable[[Array, Array], None]


def _random(shape: tuple[int, ...], dtype: Any, seed: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize(("rows", "in_units", "units"), [(1, 9, 4), (8, 33, 17), (9, 33, 1)])
def test_forward(
    rows: int, in_units: int, units: int, with_bias: bool, dtype: Any, close: Close
) -> None:
    data, weight = _random((rows, in_units), dtype, 1), _random((units, in_units), dtype, 2)
    bias = _random((units,), dtype, 3) if with_bias else None
    out = np.full((rows, units), np.nan, dtype)
    fully_connected(out, data, weight, bias)
    expected = data.astype(np.float64) @ weight.astype(np.float64).T
    close(out, expected if bias is None else expected + bias.astype(np.float64))


@pytest.mark.parametrize("rows", [3, 30])
def test_rows_with_gaps(rows: int, close: Close) -> None:
    data = _random((2 * rows, 12), np.float32, 1)[::2, :10]
    weight, bias = _random((6, 12), np.float32, 2)[:, 2:], _random((6,), np.float32, 3)
    out = np.full((rows, 6), np.nan, np.float32)
    fully_connected(out, data, weight, bias)
    close(out, data.astype(np.float64) @ weight.T + bias)


@pytest.mark.parametrize("with_bias", [False, True])
def test_large_results(with_bias: bool, close: Close, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inner_product, "_LARGE_RESULT", 31 * 53)
    monkeypatch.setattr(inner_product, "_MANY_ROWS", 31)
    data, weight = _random((31, 19), np.float32, 1), _random((53, 19), np.float32, 2)
    bias = _random((53,), np.float32, 3) if with_bias else None
    out = np.full((31, 53), np.nan, np.float32)
    fully_connected(out, data, weight, bias)
    expected = data.astype(np.float64) @ weight.T
    close(out, expected if bias is None else expected + bias)


@pytest.mark.parametrize(
    ("shape", "dtype", "large"),
    [
        ((1120, 10000), np.float32, True),
        ((999, 10000), np.float32, False),
        ((1120, 2048), np.float32, False),
        ((1120, 10000), np.uint16, False),
    ],
    ids=str,
)
def test_which_results_are_large(shape: tuple[int, int], dtype: Any, large: bool) -> None:
    assert inner_product._is_large(np.empty(shape, dtype)) is large


def test_gaps_within_rows_and_empty_arrays_are_refused() -> None:
    square = np.ones((4, 4), np.float32)
    with pytest.raises(RefusedError, match="fully_connected: expected contiguous rows"):
        fully_connected(square, np.ones((4, 8), np.float32)[:, ::2], square)
    with pytest.raises(RefusedError, match="fully_connected: expected arrays"):
        fully_connected(square[:0], square[:0], square)
