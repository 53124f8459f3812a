from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gluonish.kernels.onednn import RefusedError
from gluonish.kernels.onednn.memory import Array
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


def test_gaps_within_rows_and_empty_arrays_are_refused() -> None:
    square = np.ones((4, 4), np.float32)
    with pytest.raises(RefusedError, match="fully_connected: expected contiguous rows"):
        fully_connected(square, np.ones((4, 8), np.float32)[:, ::2], square)
    with pytest.raises(RefusedError, match="fully_connected: expected arrays"):
        fully_connected(square[:0], square[:0], square)
