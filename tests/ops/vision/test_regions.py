"""Operators on regions of images: facts that the table of cases does not say."""

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import OperatorError
from tests.checking.values import run_operator

IMAGE = np.random.default_rng(0).standard_normal((2, 8, 6, 7)).astype(np.float32)
POOL = {"pooled_size": (2, 2), "spatial_scale": 1.0}


@pytest.mark.parametrize("name", ["ROIPooling", "_contrib_ROIAlign"])
@pytest.mark.parametrize("image", [-1, 2, 1e9, np.nan])
def test_a_region_of_no_image_gives_zeros(name: str, image: float) -> None:
    rois = np.array([[image, 0, 0, 3, 3]], np.float32)
    np.testing.assert_array_equal(run_operator(name, IMAGE, rois, **POOL), 0)


@pytest.mark.parametrize("corner", [np.nan, np.inf, -np.inf, 1e30])
@pytest.mark.parametrize("name", ["ROIPooling", "_contrib_ROIAlign"])
def test_corners_that_are_no_place_are_no_error(name: str, corner: float) -> None:
    rois = np.array([[0, corner, 0, 3, 3], [0, 0, 0, 3, corner]], np.float32)
    assert run_operator(name, IMAGE, rois, **POOL).shape == (2, 8, 2, 2)


def test_an_aligned_region_of_no_width_gives_zeros() -> None:
    rois = np.array([[0, 3, 3, 1, 1]], np.float32)
    found = run_operator("_contrib_ROIAlign", IMAGE, rois, aligned=True, **POOL)
    np.testing.assert_array_equal(found, 0)


def test_mean_of_a_whole_constant_image_is_the_constant() -> None:
    rois = np.array([[0, 1, 1, 4, 4]], np.float32)
    for name in ("ROIPooling", "_contrib_ROIAlign"):
        found = run_operator(name, np.full((1, 2, 6, 6), 3.0, np.float32), rois, **POOL)
        np.testing.assert_allclose(found, 3.0, rtol=1e-6)


def test_more_samples_than_an_image_needs_are_refused() -> None:
    rois = np.zeros((1, 5), np.float32)
    with pytest.raises(OperatorError, match="_contrib_ROIAlign: expected sample_ratio of at most"):
        run_operator("_contrib_ROIAlign", IMAGE, rois, sample_ratio=10**6, **POOL)


def test_regions_have_no_gradient() -> None:
    data, rois = mx.nd.array(IMAGE), mx.nd.array([[0, 1, 1, 4, 4]])
    rois.attach_grad()
    with mx.autograd.record():
        found = mx.nd.contrib.ROIAlign(data, rois, **POOL)
    found.backward()
    assert rois.grad is not None
    np.testing.assert_array_equal(rois.grad.asnumpy(), 0)


def test_without_regions_there_is_nothing_to_pool() -> None:
    rois = np.zeros((0, 5), np.float32)
    for name in ("ROIPooling", "_contrib_ROIAlign"):
        assert run_operator(name, IMAGE, rois, **POOL).shape == (0, 8, 2, 2)
