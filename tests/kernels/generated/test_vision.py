"""The generated kernels of vision operators give what the references give."""

from typing import Any

import numpy as np
import pytest

from gluonish.kernels.compiler import available
from gluonish.kernels.generated import bilinear_points, box_iou, roi_align  # noqa: F401
from gluonish.ops.detection.boxes import BOX_IOU
from gluonish.ops.registry import Operator, find_operator
from gluonish.ops.vision.bilinear_points import BILINEAR_POINTS, BILINEAR_POINTS_BACKWARD
from gluonish.ops.vision.roi_align import ROI_ALIGN, ROI_ALIGN_BACKWARD

pytestmark = pytest.mark.skipif(not available(), reason="needs llvmlite")

DTYPES = [np.float32, np.float64]
EDGES = [-np.inf, -2, -1, -0.5, 0, 0.5, 1, 6, 6.5, 7, 7.5, 8, 9, 9.5, 1e30, np.inf, np.nan]


def both(op: Operator, shapes: list[Any], *inputs: Any, **attrs: Any) -> list[list[Any]]:
    """Return the outputs of the generated kernel and of the reference."""
    found = []
    for kernel in (op.fast_kernels[0].kernel, op.kernel):
        outs = tuple(np.empty(shape, inputs[0].dtype) for shape in shapes)
        kernel(np, outs if len(outs) > 1 else outs[0], *inputs, **attrs)
        found.append(list(outs))
    return found


def close(found: list[list[Any]], dtype: Any) -> None:
    scale = 1e-5 if dtype == np.float32 else 1e-12
    for got, want in zip(*found, strict=True):
        np.testing.assert_allclose(got, want, rtol=scale, atol=10 * scale)


def points(dtype: Any, count: int = 700) -> tuple[Any, Any, Any]:
    """Images with NaN in a corner, rows and columns: all pairs of edges among random ones."""
    random = np.random.default_rng(0)
    data = random.standard_normal((2, 3, 8, 7)).astype(dtype)
    rows, columns = random.uniform(-3, 11, (2, 2, count)).astype(dtype)
    pairs = np.array([(y, x) for y in EDGES for x in EDGES], dtype)
    rows[0, : len(pairs)], columns[0, : len(pairs)] = pairs.T
    return data, rows, columns


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("border", ["zeros", "inside"])
@pytest.mark.parametrize("strided", [False, True])
def test_images_are_read_between_pixels(dtype: Any, border: str, strided: bool) -> None:
    data, rows, columns = points(dtype)
    if strided:
        data = data.transpose(0, 1, 3, 2)
        rows = np.repeat(rows, 2, axis=1)[:, ::2]
    shape = (2, 3, rows.shape[1])
    close(both(BILINEAR_POINTS, [shape], data, rows, columns, border=border), dtype)


@pytest.mark.parametrize("border", ["zeros", "inside"])
def test_pixels_that_a_point_does_not_see_do_not_count(border: str) -> None:
    data, rows, columns = points(np.float32)
    data[:, :, 0, 0] = np.nan
    data[:, :, -1, -1] = np.inf
    with np.errstate(invalid="ignore"):
        found = both(BILINEAR_POINTS, [(2, 3, 700)], data, rows, columns, border=border)
    close(found, np.float32)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("border", ["zeros", "inside"])
def test_gradients_of_images_and_places(dtype: Any, border: str) -> None:
    data, rows, columns = points(dtype)
    grad = np.random.default_rng(1).standard_normal((2, 3, 700)).astype(dtype)
    shapes = [data.shape, rows.shape, columns.shape]
    found = both(BILINEAR_POINTS_BACKWARD, shapes, grad, data, rows, columns, border=border)
    close(found, dtype)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize(
    ("name", "shapes", "attrs"),
    [
        ("BilinearSampler", [(2, 3, 8, 7), (2, 2, 20, 20)], {}),
        ("SpatialTransformer", [(2, 3, 8, 7), (2, 6)], {"target_shape": (20, 20)}),
        (
            "_contrib_DeformableConvolution",
            [(2, 4, 8, 8), (2, 36, 8, 8), (6, 4, 3, 3), (6,)],
            {"kernel": (3, 3), "pad": (1, 1), "num_filter": 6, "num_deformable_group": 2},
        ),
        (
            "_contrib_ModulatedDeformableConvolution",
            [(2, 4, 8, 8), (2, 18, 8, 8), (2, 9, 8, 8), (6, 2, 3, 3)],
            {"kernel": (3, 3), "pad": (1, 1), "num_filter": 6, "num_group": 2, "no_bias": True},
        ),
    ],
)
def test_operators_that_read_between_pixels(
    name: str, shapes: list[Any], attrs: dict[str, Any], dtype: Any
) -> None:
    random, op = np.random.default_rng(0), find_operator(name)
    known = op.schema.parse(
        name,
        {"transform_type": "affine", "sampler_type": "bilinear", **attrs}
        if name == "SpatialTransformer"
        else attrs,
    )
    inputs = [random.uniform(-1.2, 1.2, shape).astype(dtype) for shape in shapes]
    found = []
    for kernel in (op.fast_kernels[0].kernel, op.kernel):
        outs = tuple(np.zeros(s.shape, s.dtype) for s in op.infer(*inputs, **known))
        kernel(np, outs[0] if op.single else outs, *inputs, **known)
        found.append(outs[0].astype(np.float32))
    scale = 1e-5 if dtype == np.float32 else 2e-3
    got, want = found
    np.testing.assert_allclose(got, want, rtol=scale, atol=scale)


ROIS = [
    *([0, 0, 0, 3, 3], [1, -4, 2, 20, 4], [-1, 0, 0, 3, 3], [1, 5, 5, 1, 1], [7, 0, 0, 1, 1]),
    *([0, 1.3, 2.7, 6.1, 7.9], [0, 0, 0, np.inf, 2], [1, np.nan, 0, 2, 2], [np.nan, 0, 0, 1, 1]),
]
ROI_CASES = [
    {"sample_ratio": ratio, "aligned": aligned, "position_sensitive": sensitive}
    for ratio, aligned, sensitive in [(-1, False, False), (2, True, False), (0, True, True)]
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", ROI_CASES)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_regions_and_their_gradients(dtype: Any, case: dict[str, Any]) -> None:
    random = np.random.default_rng(0)
    data = random.standard_normal((2, 12, 9, 8)).astype(dtype)
    rois = np.array(ROIS, dtype)
    attrs = {"pooled_size": (3, 2), "spatial_scale": 0.9, **case}
    channels = 2 if case["position_sensitive"] else 12
    shape = (len(rois), channels, 3, 2)
    close(both(ROI_ALIGN, [shape], data, rois, **attrs), dtype)
    grad = random.standard_normal(shape).astype(dtype)
    attrs["data_shape"] = data.shape
    close(both(ROI_ALIGN_BACKWARD, [data.shape], grad, rois, **attrs), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", ["corner", "center"])
def test_overlaps_of_boxes(dtype: Any, form: str) -> None:
    random = np.random.default_rng(0)
    lhs, rhs = (random.uniform(-1, 1, s).astype(dtype) for s in [(3, 20, 4), (30, 4)])
    lhs[0, 0], rhs[0] = 0, 0
    lhs[1, 1] = np.nan
    rhs[1] = lhs[2, 2]
    got, want = both(BOX_IOU, [(3, 20, 30)], lhs, rhs, format=form)
    np.testing.assert_array_equal(got[0], want[0])
