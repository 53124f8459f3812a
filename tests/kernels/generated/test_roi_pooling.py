"""The generated kernel of ROIPooling gives what the reference gives."""

from typing import Any

import numpy as np
import pytest

from gluonish.kernels.compiler import available
from gluonish.kernels.generated import roi_pooling  # noqa: F401  # hangs the kernel on
from gluonish.ops.vision.roi_pooling import ROI_POOLING

pytestmark = pytest.mark.skipif(not available(), reason="needs llvmlite")

ROIS = [[0, 0, 0, 3, 3], [1, -4, 2, 20, 4], [-1, 0, 0, 3, 3], [1, 5, 5, 1, 1], [7, 0, 0, 1, 1]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("strided", [False, True])
def test_values_and_places_are_those_of_the_reference(dtype: Any, strided: bool) -> None:
    data = np.random.default_rng(0).standard_normal((2, 3, 9, 8)).astype(dtype)
    data[1, 2, 4, 4] = np.nan
    if strided:
        data = data.transpose(0, 1, 3, 2)
    rois = np.array(ROIS, dtype)
    found = []
    for kernel in (ROI_POOLING.fast_kernels[0].kernel, ROI_POOLING.kernel):
        out = np.empty((5, 3, 3, 2), dtype), np.empty((5, 3, 3, 2), np.int64)
        kernel(np, out, data, rois, pooled_size=(3, 2), spatial_scale=0.9)
        found.append(out)
    for got, want in zip(*found, strict=True):
        np.testing.assert_array_equal(got, want)
