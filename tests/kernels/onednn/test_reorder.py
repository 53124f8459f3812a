from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gluonish.kernels.onednn import reorder, supports_reorder
from gluonish.ops.kernel import RefusedError


@pytest.mark.parametrize("axes", [(0, 1, 2, 3), (3, 1, 0, 2), (1, 0, 3, 2)], ids=str)
def test_transposes_are_copied(axes: tuple[int, ...], dtype: Any) -> None:
    data = np.random.default_rng(1).standard_normal((2, 3, 4, 5)).astype(dtype).transpose(axes)
    out = np.full(data.shape, np.nan, dtype)
    assert supports_reorder(out, data)
    reorder(out, data)
    np.testing.assert_array_equal(out, data)


def test_float32_is_rounded_to_bfloat16_and_back(backend: Any) -> None:
    bfloat16 = np.dtype(ml_dtypes.bfloat16)
    if bfloat16 not in backend.engine.data_types:
        pytest.skip("this machine has no bfloat16 instructions")
    data = np.random.default_rng(1).standard_normal((7, 9), dtype=np.float32)
    rounded, back = np.zeros(data.shape, bfloat16), np.zeros_like(data)
    reorder(rounded, data)
    np.testing.assert_array_equal(rounded, data.astype(bfloat16))
    reorder(back, rounded)
    np.testing.assert_array_equal(back, rounded.astype(np.float32))


def test_shapes_that_differ_are_refused() -> None:
    small, large = np.ones(3, np.float32), np.ones(4, np.float32)
    assert not supports_reorder(large, small)
    with pytest.raises(RefusedError, match="'invalid_arguments'"):
        reorder(large, small)
