"""ImageDetRecordIter: what happens to images and boxes where it is random, and bad labels."""

import numpy as np
import pytest

from gluonish.core.errors import ArgumentError, FileFormatError
from gluonish.io.image_record import ImageDetRecordIter
from gluonish.recordio import MXIndexedRecordIO, pack_img

BOXES = np.array([[0.1, 0.2, 0.5, 0.6], [0.4, 0.4, 0.9, 0.8]])
LABEL = [2, 5, 1, *BOXES[0], 3, *BOXES[1]]
HEIGHT, WIDTH = 80, 100


def write(folder, labels, images=None):
    writer = MXIndexedRecordIO(folder / "x.idx", folder / "x.rec", "w")
    y, x = np.mgrid[:HEIGHT, :WIDTH].astype(np.uint8) * 2
    image = np.stack([np.full_like(x, 60), y, x], axis=-1)
    for i, label in enumerate(labels):
        found = image if images is None else images[i]
        writer.write_idx(i, pack_img((0, np.float32(label), i, 0), found, 9, ".png"))
    writer.close()
    return folder / "x.rec"


@pytest.fixture(scope="module")
def ramp(tmp_path_factory):
    """60 images whose red is twice the column, green twice the row, and blue 60."""
    return write(tmp_path_factory.mktemp("ramp"), [LABEL] * 60)


def batch_of(path, **parameters):
    parameters = {"batch_size": 60, "data_shape": (3, 40, 50), **parameters}
    batch = next(ImageDetRecordIter(path_imgrec=path, **parameters))
    return batch.data[0].asnumpy(), batch.label[0].asnumpy()


def objects_of(label):
    """Class and box of each object of a sample's label."""
    return label[6 : 4 + int(label[3])].reshape(-1, 5)


def regions_of(data):
    """Left, top, right, bottom of the region that each sample is of, by its colours; in shares."""
    found = []
    for red, green, _ in data:
        wide, tall = red.shape[1], red.shape[0]
        columns, rows = np.arange(3, wide - 3) + 0.5, np.arange(3, tall - 3) + 0.5
        right, left = np.polyfit(columns, (red[tall // 2, 3:-3] / 2 + 0.5) / WIDTH, 1)
        bottom, top = np.polyfit(rows, (green[3:-3, wide // 2] / 2 + 0.5) / HEIGHT, 1)
        found.append((left, top, left + right * wide, top + bottom * tall))
    return np.array(found)


def shares(region, box):
    """Overlap, sample coverage and object coverage of a region and a box."""
    wide = min(region[2], box[2]) - max(region[0], box[0])
    tall = min(region[3], box[3]) - max(region[1], box[1])
    common = max(0, wide) * max(0, tall)
    area, own = ((b[2] - b[0]) * (b[3] - b[1]) for b in (region, box))
    return common / (area + own - common), common / area, common / own


CROPS = {"rand_crop_prob": 1.0, "min_crop_scales": 0.3}


def test_boxes_follow_the_region(ramp):
    data, labels = batch_of(ramp, **CROPS)
    regions = regions_of(data)
    assert len({tuple(np.round(region, 2)) for region in regions}) > 40
    for region, label in zip(regions, labels, strict=True):
        origin, extent = np.tile(region[:2], 2), np.tile(region[2:] - region[:2], 2)
        found = objects_of(label)
        assert len(found)
        for kind, *box in found:
            want = np.clip((BOXES[int(kind) // 2] - origin) / extent, 0, 1)
            assert np.abs(want - box).max() < 0.03


def test_a_region_keeps_the_objects_whose_centre_it_has(ramp):
    data, labels = batch_of(ramp, **CROPS)
    for region, label in zip(regions_of(data), labels, strict=True):
        kept = set(objects_of(label)[:, 0].astype(int) // 2)
        for i, box in enumerate(BOXES):
            center = (box[:2] + box[2:]) / 2
            inside = min(*(center - region[:2]), *(region[2:] - center))
            if abs(inside) > 0.02:  # nearer, the colours do not tell
                assert (i in kept) == (inside > 0)


def test_a_region_keeps_the_objects_that_it_covers_enough_of(ramp):
    parameters = {"crop_emit_mode": "overlap", "emit_overlap_thresh": 0.6, **CROPS}
    data, labels = batch_of(ramp, **parameters)
    for region, label in zip(regions_of(data), labels, strict=True):
        kept = set(objects_of(label)[:, 0].astype(int) // 2)
        for i, box in enumerate(BOXES):
            covered = shares(region, box)[2]
            if abs(covered - 0.6) > 0.05:
                assert (i in kept) == (covered > 0.6)


@pytest.mark.parametrize(
    ("limits", "which", "low", "high"),
    [
        ({"min_crop_overlaps": 0.35}, 0, 0.35, 1),
        ({"max_crop_overlaps": 0.1}, 0, 0, 0.1),
        ({"min_crop_sample_coverages": 0.4}, 1, 0.4, 1),
        ({"min_crop_object_coverages": 0.9}, 2, 0.9, 1),
        ({"max_crop_object_coverages": 0.5}, 2, 0, 0.5),
    ],
    ids=str,
)
def test_an_object_fulfils_the_limits_of_every_region(ramp, limits, which, low, high):
    data, _ = batch_of(ramp, max_crop_trials=200, **CROPS, **limits)
    for region in regions_of(data):
        found = [shares(region, box)[which] for box in BOXES]
        assert any(low - 0.03 <= share <= high + 0.03 for share in found)


def test_regions_have_the_scales_and_proportions_asked_for(ramp):
    ranges = {"min_crop_scales": 0.4, "max_crop_scales": 0.6}
    ratios = {"min_crop_aspect_ratios": 0.8, "max_crop_aspect_ratios": 1.6}
    data, _ = batch_of(ramp, rand_crop_prob=1.0, max_crop_trials=100, **ranges, **ratios)
    regions = regions_of(data)
    wide, tall = regions[:, 2] - regions[:, 0], regions[:, 3] - regions[:, 1]
    scale, ratio = np.sqrt(wide * tall), wide * WIDTH / (tall * HEIGHT)
    assert 0.38 < scale.min() < 0.45
    assert 0.55 < scale.max() < 0.62
    assert 0.75 < ratio.min() < 0.95
    assert 1.4 < ratio.max() < 1.68


def test_samplers_have_their_own_limits(ramp):
    two = {"num_crop_sampler": 2, "min_crop_scales": (0.3, 0.8), "max_crop_scales": (0.35, 0.85)}
    data, _ = batch_of(ramp, rand_crop_prob=1.0, max_crop_trials=100, **two)
    regions = regions_of(data)
    scale = np.sqrt((regions[:, 2] - regions[:, 0]) * (regions[:, 3] - regions[:, 1]))
    small = scale < 0.5
    assert 0.25 < small.mean() < 0.75
    assert scale[small].max() < 0.37
    assert scale[~small].min() > 0.78


def test_an_image_stays_whole_where_no_region_fits(ramp):
    asked = {"min_crop_sample_coverages": 0.99, "min_crop_scales": 0.9, "rand_crop_prob": 1.0}
    data, labels = batch_of(ramp, **asked)
    np.testing.assert_allclose(regions_of(data), [[0, 0, 1, 1]] * 60, atol=0.02)
    np.testing.assert_allclose(labels[:, 4:], [LABEL] * 60, atol=1e-6)


def test_padding_puts_the_image_into_a_larger_one(ramp):
    asked = {"rand_pad_prob": 1.0, "max_pad_scale": 2.0, "fill_value": 250, "inter_method": 0}
    data, labels = batch_of(ramp, **asked)
    extents = []
    for image, label in zip(data, labels, strict=True):
        rows, columns = np.nonzero(image[2] == 60)
        left, top = columns.min() / 50, rows.min() / 40
        wide, tall = (np.ptp(columns) + 1) / 50, (np.ptp(rows) + 1) / 40
        assert (image[:, image[2] != 60] == 250).all()
        extents.append((wide, tall))
        want = BOXES * [wide, tall, wide, tall] + [left, top, left, top]
        assert np.abs(objects_of(label)[:, 1:] - want).max() < 0.05
    extents = np.array(extents)  # type: ignore[assignment]
    assert np.abs(extents[:, 0] - extents[:, 1]).max() < 0.06
    assert 0.48 < extents.min() < 0.6  # type: ignore[attr-defined]
    assert 0.9 < extents.max() <= 1  # type: ignore[attr-defined]


def test_half_of_the_images_are_mirrored_with_their_boxes(ramp):
    data, labels = batch_of(ramp, rand_mirror_prob=0.5)
    mirrored = data[:, 0, 0, 0] > data[:, 0, 0, -1]
    assert 0.3 < mirrored.mean() < 0.7
    want = BOXES.copy()
    want[:, [0, 2]] = 1 - want[:, [2, 0]]
    for flag, label in zip(mirrored, labels, strict=True):
        np.testing.assert_allclose(objects_of(label)[:, 1:], want if flag else BOXES, atol=1e-6)


def test_colours_change_where_asked_and_boxes_do_not(ramp):
    plain, want = batch_of(ramp)
    for what, limit in (("hue", 20), ("saturation", 60), ("illumination", 40), ("contrast", 0.5)):
        asked = {f"max_random_{what}": limit, f"random_{what}_prob": 0.5}
        data, labels = batch_of(ramp, **asked)
        same = np.abs(data - plain).max(axis=(1, 2, 3)) <= 2
        assert 0.25 < same.mean() < 0.75
        np.testing.assert_array_equal(labels, want)


def test_batches_do_not_depend_on_threads(ramp, monkeypatch):
    monkeypatch.setattr("gluonish.io.image_record.source.usable_cores", lambda: 8)
    asked = {
        **CROPS,
        "rand_pad_prob": 0.5,
        "max_pad_scale": 1.5,
        "rand_mirror_prob": 0.5,
        "max_random_hue": 10,
        "random_hue_prob": 0.5,
        "shuffle": True,
    }
    first, other = (batch_of(ramp, preprocess_threads=n, **asked) for n in (1, 8))
    for a, b in zip(first, other, strict=True):
        np.testing.assert_array_equal(a, b)


def test_boxes_without_area_are_left_out(tmp_path):
    path = write(tmp_path, [[2, 5, 1, 0.5, 0.2, 0.1, 0.6, 2, 0.1, 0.1, 0.3, 0.3]])
    _, (label,) = batch_of(path, batch_size=1)
    assert label[3] == 7
    np.testing.assert_allclose(objects_of(label), [[2, 0.1, 0.1, 0.3, 0.3]])
    assert (label[11:] == -1).all()


@pytest.mark.parametrize(
    "label",
    [
        [1.0, 2.0],
        [1, 5, 1, 0.1, 0.2, 0.5, 0.6],
        [2, 4, 1, 0.1, 0.2, 0.3],
        [2, 5, 1, 0.1, 0.2, 0.5],
        [2, 5, 1, 0.1, 0.2, 0.5, 0.6, 7],
        [float("nan"), 5, 1, 0.1, 0.2, 0.5, 0.6],
        [9e9, 5, 1, 0.1, 0.2, 0.5, 0.6],
    ],
    ids=str,
)
def test_bad_labels_name_their_record(tmp_path, label):
    path = write(tmp_path, [label])
    with pytest.raises(
        FileFormatError, match=r"ImageDetRecordIter: expected .* byte 0 of .*x\.rec"
    ):
        batch_of(path, batch_size=1)


def test_labels_of_another_width_are_refused(ramp, tmp_path):
    with pytest.raises(FileFormatError, match=r"expected 7 labels of image 0, got 12.*byte 0"):
        batch_of(ramp, label_width=7)
    with pytest.raises(ArgumentError, match="label_pad_width of at least 12"):
        batch_of(ramp, label_pad_width=5)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rand_crop_prob": 2.0}, "rand_crop_prob"),
        ({"min_crop_scales": 0.5, "max_crop_scales": 0.3}, "crop_scales"),
        ({"max_crop_scales": 3.0}, "crop_scales"),
        ({"min_crop_aspect_ratios": 0.0}, "aspect_ratios"),
        ({"min_crop_scales": (0.5, 0.5)}, "num_crop_sampler"),
        ({"num_crop_sampler": 2, "max_crop_trials": (1, 2, 3)}, "max_crop_trials"),
        ({"data_shape": (5, 4, 4)}, "data_shape"),
    ],
    ids=str,
)
def test_bad_values_are_refused_by_name(ramp, parameters, message):
    with pytest.raises(ArgumentError, match=f"ImageDetRecordIter: .*{message}"):
        batch_of(ramp, **parameters)


def test_an_image_without_objects_keeps_its_header(tmp_path):
    path = write(tmp_path, [[4, 5, 7, 8]])
    _, (label,) = batch_of(path, batch_size=1, **CROPS)
    assert label.tolist() == [3, 40, 50, 4, 4, 5, 7, 8]
