"""The generated loop that removes overlapping boxes keeps what the reference keeps."""

from typing import Any

import numpy as np
import pytest

from gluonish.kernels.compiler import available
from gluonish.kernels.generated.box_nms import suppress_overlaps
from gluonish.ops.detection.box_nms import BOX_NMS
from gluonish.ops.detection.boxes import Rule
from gluonish.ops.detection.boxes import suppress_overlaps as reference

pytestmark = pytest.mark.skipif(not available(), reason="needs llvmlite")


def _boxes(count: int, dtype: Any) -> Any:
    random = np.random.default_rng(count)
    low = random.integers(0, 20, (count, 2))
    return np.concatenate([low, low + random.integers(-1, 9, (count, 2))], axis=1).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "rule",
    [Rule(0.5), Rule(0.5, equal=True), Rule(0.2, border=1, most=7), Rule(-1.0), Rule(0.0), Rule(2)],
    ids=str,
)
def test_same_boxes_remain(dtype: Any, rule: Rule) -> None:
    boxes = _boxes(120, dtype)
    boxes[5, 1] = np.nan
    classes = np.arange(120).astype(dtype) % 3
    for named in (None, classes):
        want = reference(boxes, named, rule)
        np.testing.assert_array_equal(suppress_overlaps(boxes, named, rule), want)


def test_no_boxes_are_no_error() -> None:
    assert suppress_overlaps(np.zeros((0, 4), np.float32), None, Rule(0.5)).shape == (0,)


def test_the_operator_prefers_it() -> None:
    assert [kernel.name for kernel in BOX_NMS.fast_kernels] == ["generated.suppression"]
