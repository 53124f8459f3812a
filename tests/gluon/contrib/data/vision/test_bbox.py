"""Boxes that change with their image: by hand-made examples, and painted boxes that stay found."""

import random
from typing import Any

import numpy as np
import pytest

from gluonish import nd
from gluonish.core.errors import ArgumentError
from gluonish.gluon.contrib.data.vision.transforms import bbox as B

BOXES = np.array([[10.0, 20, 40, 50, 3], [30, 5, 60, 25, 7]])


def painted() -> tuple[Any, Any]:
    """An image with one white box on black, and the box."""
    image = np.zeros((60, 80, 3), np.uint8)
    image[20:45, 12:30] = 255
    return image, np.array([[12.0, 20, 30, 45, 1]])


def found(image: Any) -> Any:
    """Where the white box of an image is."""
    rows, columns = np.nonzero(image[..., 0] > 127)
    return [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]


def test_a_flip_exchanges_edges() -> None:
    want = [[40, 20, 70, 50, 3], [20, 5, 50, 25, 7]]
    np.testing.assert_array_equal(B.bbox_flip(BOXES, (80, 60), flip_x=True), want)
    want = [[10, 10, 40, 40, 3], [30, 35, 60, 55, 7]]
    np.testing.assert_array_equal(B.bbox_flip(BOXES, (80, 60), flip_y=True), want)


def test_a_region_shows_parts_in_its_own_coordinates() -> None:
    got = B.bbox_crop(BOXES, (20, 25, 30, 30))
    np.testing.assert_array_equal(got, [[0, 0, 20, 25, 3]])


def test_a_box_whose_middle_is_outside_may_be_left_out() -> None:
    region = (0, 0, 30, 60)
    assert len(B.bbox_crop(BOXES, region)) == 1
    inside = B.bbox_crop(BOXES, (35, 0, 40, 60), allow_outside_center=False)
    np.testing.assert_array_equal(inside, [[0, 5, 25, 25, 7]])


def test_no_region_is_the_whole_image() -> None:
    np.testing.assert_array_equal(B.bbox_crop(BOXES), BOXES)
    np.testing.assert_array_equal(B.bbox_crop(BOXES, (None, None, None, None)), BOXES)


def test_boxes_grow_with_the_image() -> None:
    got = B.bbox_resize(BOXES, (80, 60), (40, 120))
    np.testing.assert_array_equal(got, [[5, 40, 20, 100, 3], [15, 10, 30, 50, 7]])


def test_overlap_is_the_share_of_both() -> None:
    a = np.array([[0, 0, 10, 10], [20, 20, 30, 30]])
    b = np.array([[0, 0, 10, 10], [5, 0, 15, 10], [50, 50, 50, 50]])
    np.testing.assert_allclose(B.bbox_iou(a, b), [[1, 1 / 3, 0], [0, 0, 0]])
    np.testing.assert_allclose(B.bbox_iou(a[:1], b[1:2], offset=1), [[66 / (2 * 121 - 66)]])


def test_sizes_and_corners_are_converted_both_ways() -> None:
    assert B.bbox_xywh_to_xyxy((3, 4, 10, 20)) == (3, 4, 12, 23)
    assert B.bbox_xyxy_to_xywh((3, 4, 12, 23)) == (3, 4, 10, 20)
    assert B.bbox_clip_xyxy((-3, 4, 90, 70), 80, 60) == (0, 4, 79, 59)
    rows = np.array([[3, 4, 10, 20], [0, 0, 1, 1]])
    np.testing.assert_array_equal(B.bbox_xyxy_to_xywh(B.bbox_xywh_to_xyxy(rows)), rows)


def test_functions_leave_their_arguments_alone() -> None:
    boxes = BOXES.copy()
    B.bbox_flip(boxes, (80, 60), True, True)
    B.bbox_crop(boxes, (20, 25, 30, 30))
    B.bbox_resize(boxes, (80, 60), (40, 30))
    B.bbox_translate(boxes, 3, 4)
    np.testing.assert_array_equal(boxes, BOXES)


@pytest.mark.parametrize(
    "transform",
    [
        B.ImageBboxRandomFlipLeftRight(1),
        B.ImageBboxCrop((5, 10, 60, 45)),
        B.ImageBboxRandomExpand(1, 3, keep_ratio=False),
        B.ImageBboxRandomCropWithConstraints(1),
        B.ImageBboxResize(160, 90),
    ],
    ids=lambda transform: type(transform).__name__,
)
def test_a_painted_box_is_where_the_transform_says(transform: Any) -> None:
    image, boxes = painted()
    random.seed(2)
    for _ in range(10):
        changed, moved = transform(nd.array(image, dtype="uint8"), nd.array(boxes))
        assert moved.shape == (1, 5)
        assert moved.asnumpy()[0, 4] == 1
        np.testing.assert_allclose(moved.asnumpy()[0, :4], found(changed.asnumpy()), atol=1)


def test_numpy_arrays_stay_numpy_arrays() -> None:
    image, boxes = B.ImageBboxRandomFlipLeftRight(1)(*painted())
    assert type(image) is np.ndarray
    np.testing.assert_array_equal(boxes, [[50, 20, 68, 45, 1]])
    assert found(image) == [50, 20, 68, 45]


def test_a_region_outside_the_image_changes_nothing() -> None:
    image, boxes = B.ImageBboxCrop((50, 0, 40, 40))(*painted())
    assert image.shape == (60, 80, 3)
    assert len(boxes) == 1


def test_constraints_hold() -> None:
    random.seed(5)
    boxes = np.array([[10.0, 10, 70, 50]])
    for _ in range(30):
        _, (x, y, width, height) = B.bbox_random_crop_with_constraints(
            boxes, (80, 60), constraints=[(0.6, None)]
        )
        overlap = B.bbox_iou(boxes, np.array([[x, y, x + width, y + height]]))
        # The whole image, which is always one of the choices, overlaps by a half.
        assert overlap.min() >= 0.6 or (width, height) == (80, 60)
        assert 0 <= x <= 80 - width
        assert 0 <= y <= 60 - height


def test_an_image_without_boxes_is_cropped_too() -> None:
    random.seed(1)
    sizes = set()
    for _ in range(10):
        left, (*_, width, height) = B.bbox_random_crop_with_constraints(np.zeros((0, 5)), (80, 60))
        assert left.shape == (0, 5)
        sizes.add((width, height))
    assert len(sizes) > 3


def test_expansion_fills_with_a_color() -> None:
    random.seed(3)
    image, _ = B.ImageBboxRandomExpand(1, 2, fill=(1, 2, 3))(*painted())
    assert image.shape[0] > 60
    assert image.shape[0] * 80 == pytest.approx(image.shape[1] * 60, abs=80)
    colors, counts = np.unique(image.reshape(-1, 3), axis=0, return_counts=True)
    assert [1, 2, 3] in colors.tolist()
    assert counts.sum() == image.shape[0] * image.shape[1]


def test_nothing_happens_with_probability_zero() -> None:
    image, boxes = painted()
    for kind in (
        B.ImageBboxRandomFlipLeftRight,
        B.ImageBboxRandomExpand,
        B.ImageBboxRandomCropWithConstraints,
    ):
        same, left = kind(0)(image, boxes)
        np.testing.assert_array_equal(same, image)
        np.testing.assert_array_equal(left, boxes)


@pytest.mark.parametrize(
    "call",
    [
        lambda: B.ImageBboxCrop((0, 0, 0, 5)),
        lambda: B.ImageBboxRandomExpand(1, 0.5),
        lambda: B.ImageBboxRandomFlipLeftRight(1.5),
        lambda: B.ImageBboxRandomCropWithConstraints(min_scale=2),
        lambda: B.bbox_flip(np.zeros((2, 3)), (4, 5)),
        lambda: B.bbox_crop(BOXES, (1, 2, 3)),
        lambda: B.bbox_xywh_to_xyxy((1, 2, 3)),
        lambda: B.ImageBboxResize(4, 5)(np.zeros((3, 4)), BOXES),
    ],
    ids=range(8),
)
def test_what_is_none_is_refused(call: Any) -> None:
    with pytest.raises(ArgumentError, match="expected"):
        call()
