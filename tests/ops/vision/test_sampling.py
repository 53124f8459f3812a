"""Samplers, resizing and deformable convolution: facts that the table of cases does not say."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import OperatorError
from tests.checking.check_operator import check_operator
from tests.checking.values import run_operator

RANDOM = np.random.default_rng(0)
IMAGE = RANDOM.standard_normal((2, 4, 5, 6))


def test_the_identity_map_gives_the_image() -> None:
    maps = np.tile([1.0, 0, 0, 0, 1, 0], (2, 1))
    attrs = {"transform_type": "affine", "sampler_type": "bilinear", "target_shape": (5, 6)}
    np.testing.assert_allclose(run_operator("SpatialTransformer", IMAGE, maps, **attrs), IMAGE)


def test_places_that_are_no_number_read_zeros() -> None:
    grid = np.full((2, 2, 1, 1), np.nan)
    np.testing.assert_array_equal(run_operator("BilinearSampler", IMAGE, grid), 0)


@pytest.mark.parametrize("border", ["zeros", "inside"])
@pytest.mark.parametrize("name", ["_bilinear_points", "_bilinear_points_backward"])
def test_reading_between_pixels_is_differentiable_twice(name: str, border: str) -> None:
    rows, columns = RANDOM.uniform(-1.5, 6.5, (2, 2, 30))
    inputs = [IMAGE, rows, columns]
    if name.endswith("backward"):
        inputs.insert(0, RANDOM.standard_normal((2, 4, 30)))
    check_operator(name, inputs, {"border": border}, half=False)


@pytest.mark.parametrize("plain", [True, False])
def test_convolution_without_offsets_is_convolution(plain: bool) -> None:
    weight, bias = RANDOM.standard_normal((6, 2, 3, 3)), RANDOM.standard_normal(6)
    attrs: dict[str, Any] = {"kernel": (3, 3), "num_filter": 6, "num_group": 2, "pad": (1, 1)}
    inputs = [IMAGE, np.zeros((2, 18, 5, 6)), weight, bias]
    name = "_contrib_DeformableConvolution"
    if not plain:
        inputs.insert(2, np.ones((2, 9, 5, 6)))
        name = "_contrib_ModulatedDeformableConvolution"
    want = run_operator("Convolution", IMAGE, weight, bias, **attrs)
    np.testing.assert_allclose(run_operator(name, *inputs, **attrs), want, atol=1e-12)


def test_shapes_of_parameters_follow_from_the_data() -> None:
    x, offset = mx.sym.Variable("x"), mx.sym.Variable("offset")
    y = mx.sym.contrib.DeformableConvolution(x, offset, kernel=(3, 3), num_filter=7, name="conv")
    shapes, outputs, _ = y.infer_shape(x=(2, 4, 5, 6))
    assert shapes == [(2, 4, 5, 6), (2, 18, 3, 4), (7, 4, 3, 3), (7,)]
    assert outputs == [(2, 7, 3, 4)]


def test_an_adjoint_of_resizing_is_the_transpose() -> None:
    for align in (True, False):
        for height, width in ((9, 4), (3, 11), (1, 1)):
            attrs = {"height": height, "width": width, "align_corners": align}
            x, g = (
                RANDOM.standard_normal((1, 1, 5, 6)),
                RANDOM.standard_normal((1, 1, height, width)),
            )
            y = run_operator("_contrib_BilinearResize2D", x, **attrs)
            back = run_operator("_bilinear_resize_backward", g, size=(5, 6), align_corners=align)
            np.testing.assert_allclose((y * g).sum(), (x * back).sum())


def test_an_output_beyond_all_memory_is_refused() -> None:
    with pytest.raises(OperatorError, match="expected an output of at most 2147483647 elements"):
        run_operator("_contrib_BilinearResize2D", IMAGE, height=1 << 20, width=1 << 20)


def test_correlation_is_differentiable_twice_over_patches() -> None:
    x, y = RANDOM.standard_normal((2, 1, 2, 5, 6))
    attrs = {"kernel_size": 3, "pad_size": 2, "stride1": 2, "is_multiply": False}
    check_operator("Correlation", [x, y], attrs)


def test_maxima_of_the_first_pooling_see_zeros_around_the_image() -> None:
    x = np.full((1, 1, 2, 2), -1.0)
    found = run_operator("Pooling_v1", x, kernel=(2, 2), pad=(1, 1))
    np.testing.assert_array_equal(found[0, 0], [[0, 0, 0], [0, -1, 0], [0, 0, 0]])
    check_operator(
        "Pooling_v1",
        [RANDOM.permutation(30).reshape(1, 1, 5, 6) - 15.3],
        {"kernel": (2, 2), "pad": (1, 1)},
    )
