"""ImageRecordIter: orders, parts, errors, threads and memory, beside what MXNet's batches show."""

import gc
import threading
import tracemalloc
from collections import Counter
from itertools import chain, pairwise

import numpy as np
import pytest

from gluonish.core.errors import (
    ArgumentError,
    FileFormatError,
    MissingFileError,
    NotSupportedError,
    OperatorError,
)
from gluonish.io.image_record import (
    ImageDetRecordIter,
    ImageRecordInt8Iter,
    ImageRecordIter,
    ImageRecordUInt8Iter,
)
from gluonish.ndarray import load
from gluonish.recordio import MXIndexedRecordIO, pack, pack_img

RANDOM = {
    "rand_crop": True,
    "rand_mirror": True,
    "max_rotate_angle": 10,
    "max_aspect_ratio": 0.2,
    "max_shear_ratio": 0.1,
    "max_random_scale": 1.2,
    "min_random_scale": 0.8,
    "brightness": 0.3,
    "contrast": 0.3,
    "saturation": 0.3,
    "pca_noise": 0.1,
    "random_h": 10,
    "random_s": 10,
    "random_l": 10,
    "max_random_contrast": 0.2,
    "max_random_illumination": 5.0,
}


def write(folder, name, images, labels=None):
    writer = MXIndexedRecordIO(folder / f"{name}.idx", folder / f"{name}.rec", "w")
    for i, image in enumerate(images):
        label = float(i) if labels is None else labels[i]
        writer.write_idx(i, pack_img((0, label, i, 0), image, 9, ".png"))
    writer.close()
    return folder / f"{name}.rec"


@pytest.fixture(scope="module")
def ramp(tmp_path_factory):
    """23 images whose red is the column, green the row, and blue the number of the image."""
    y, x = np.mgrid[:40, :50].astype(np.uint8) * 4
    images = [np.stack([np.full_like(x, i), y, x], axis=-1) for i in range(23)]
    return write(tmp_path_factory.mktemp("ramp"), "ramp", images)


def iterate(path, **parameters):
    parameters = {"batch_size": 4, "data_shape": (3, 16, 20), **parameters}
    return ImageRecordIter(path_imgrec=path, **parameters)


def labels_of(iterator):
    """The labels of one pass, without those that only fill the last batch."""
    found = []
    for batch in iterator:
        found.extend(batch.label[0].asnumpy()[: iterator.batch_size - batch.pad].tolist())
    return found


def offsets_of(path):
    lines = path.with_suffix(".idx").read_text().splitlines()
    return [int(line.split("\t")[1]) for line in lines]


def data_of(iterator):
    return np.concatenate([batch.data[0].asnumpy() for batch in iterator])


def test_each_shuffled_pass_has_every_record_in_an_order_of_its_own(ramp):
    iterator = iterate(ramp, shuffle=True, round_batch=False)
    orders = []
    for _ in range(3):
        orders.append(labels_of(iterator))
        iterator.reset()
    assert all(sorted(order) == list(range(23)) for order in orders)
    assert len({tuple(order) for order in [*orders, list(range(23))]}) == 4


def test_filling_and_later_passes_leave_no_record_out(ramp):
    iterator = iterate(ramp, shuffle=True)
    seen = Counter()  # type: ignore[var-annotated]
    for _ in range(4):
        for batch in iterator:
            seen.update(batch.label[0].asnumpy().tolist())
        iterator.reset()
    assert set(seen) == set(range(23))
    assert max(seen.values()) - min(seen.values()) <= 1


def test_seed_decides_the_order(ramp):
    first, same, other = (labels_of(iterate(ramp, shuffle=True, seed=seed)) for seed in (1, 1, -2))
    assert first == same
    assert first != other


def test_chunks_keep_records_together_that_lie_together(tmp_path):
    images = [np.random.default_rng(i).integers(0, 256, (150, 700, 3), np.uint8) for i in range(12)]
    path = write(tmp_path, "large", images)  # 315 kB each, so that 3 or 4 begin in a megabyte
    shuffled = {"shuffle": True, "shuffle_chunk_size": 1, "batch_size": 3}
    order = labels_of(iterate(path, **shuffled))
    offsets = [
        int(line.split("\t")[1]) for line in (tmp_path / "large.idx").read_text().splitlines()
    ]
    chunks = [offsets[int(label)] >> 20 for label in order]
    changes = sum(a != b for a, b in pairwise(chunks))
    assert sorted(order) == list(range(12))
    assert order != sorted(order)
    assert changes == len(set(chunks)) - 1
    moved = labels_of(iterate(path, shuffle_chunk_seed=5, **shuffled))
    assert [offsets[int(label)] >> 20 for label in moved] != chunks


@pytest.mark.parametrize("indexed", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3, 5, 9, 40])
def test_every_record_is_in_exactly_one_part(ramp, count, indexed):
    index = {"path_imgidx": ramp.with_suffix(".idx")} if indexed else {}
    parts = [labels_of(iterate(ramp, num_parts=count, part_index=i, **index)) for i in range(count)]
    assert list(chain(*parts)) == list(range(23))


def test_parts_begin_at_records_and_not_inside_one(tmp_path):
    mark = bytes.fromhex("0a23d7ce")
    writer = MXIndexedRecordIO(tmp_path / "cut.idx", tmp_path / "cut.rec", "w")
    for i in range(8):  # records that hold the mark lie in several parts
        writer.write_idx(i, pack((0, float(i), i, 0), mark * 200))
    writer.close()
    found = []
    for part in range(5):
        iterator = iterate(tmp_path / "cut.rec", num_parts=5, part_index=part)
        found.extend(iterator.handle._offsets.all().tolist())
    assert found == offsets_of(tmp_path / "cut.rec")


@pytest.mark.parametrize("random_resized", [False, True])
def test_batches_do_not_depend_on_threads(ramp, monkeypatch, random_resized):
    monkeypatch.setattr("gluonish.io.image_record.source.usable_cores", lambda: 8)
    made = []
    for threads in (1, 3, 8):
        more = {"random_resized_crop": True, "min_random_area": 0.3} if random_resized else {}
        iterator = iterate(
            ramp, preprocess_threads=threads, shuffle=True, seed_aug=3, **RANDOM, **more
        )
        first = data_of(iterator)
        iterator.reset()
        made.append((first, data_of(iterator)))
    for first, second in made[1:]:
        np.testing.assert_array_equal(first, made[0][0])
        np.testing.assert_array_equal(second, made[0][1])
    assert np.abs(made[0][0][:8] - made[0][1][:8]).max() > 1


def test_seed_aug_changes_the_images_and_not_their_order(ramp):
    first, other = (iterate(ramp, shuffle=True, rand_crop=True, seed_aug=s) for s in (1, 2))
    assert np.abs(data_of(first) - data_of(other)).max() > 0
    first.reset()
    other.reset()
    assert labels_of(first) == labels_of(other)


def test_threads_are_no_more_than_the_cores(ramp, monkeypatch):
    monkeypatch.setattr("gluonish.io.image_record.source.usable_cores", lambda: 3)
    assert iterate(ramp, preprocess_threads=64).handle.threads == 3
    assert iterate(ramp, preprocess_threads=2).handle.threads == 2


def test_random_crops_are_regions_of_the_image_anywhere(ramp):
    data = np.concatenate([data_of(iterate(ramp, rand_crop=True, seed=s)) for s in range(6)])
    left, top = data[:, 0, 0, 0] / 4, data[:, 1, 0, 0] / 4
    np.testing.assert_array_equal(data[:, 0, 5], (left[:, None] + np.arange(20)) * 4)
    np.testing.assert_array_equal(data[:, 1, :, 5], (top[:, None] + np.arange(16)) * 4)
    assert left.min() <= 2
    assert left.max() >= 28
    assert top.min() <= 2
    assert top.max() >= 22


def test_random_resized_crops_have_areas_and_proportions_of_the_range(ramp):
    asked = {
        "random_resized_crop": True,
        "min_random_area": 0.2,
        "max_random_area": 0.4,
        "min_aspect_ratio": 0.75,
        "max_aspect_ratio": 0.9,
    }
    data = np.concatenate([data_of(iterate(ramp, seed=s, **asked)) for s in range(6)])
    # The inner pixels of a linear map tell its step, which is the region's extent by the size.
    wide = (data[:, 0, 8, 12] - data[:, 0, 8, 7]) / 4 / 5 * 20
    tall = (data[:, 1, 10, 10] - data[:, 1, 5, 10]) / 4 / 5 * 16
    area, ratio = wide * tall / (40 * 50), wide / tall
    assert 0.17 < area.min() < 0.25
    assert 0.35 < area.max() < 0.44
    assert 0.68 < ratio.min() < 0.8
    assert 1.2 < ratio.max() < 1.48
    assert 0.3 < (ratio < 1).mean() < 0.7


def test_half_of_the_images_are_mirrored(ramp):
    data = np.concatenate([data_of(iterate(ramp, rand_mirror=True, seed=s)) for s in range(6)])
    falling = data[:, 0, 0, 0] > data[:, 0, 0, -1]
    assert 0.35 < falling.mean() < 0.65


def test_brightness_multiplies_within_its_range(ramp):
    plain, changed = data_of(iterate(ramp)), data_of(iterate(ramp, brightness=0.4))
    rows = plain[:, 1, :, 0] > 50
    factor = np.array(
        [
            np.median(c[1, :, 0][r] / p[1, :, 0][r])
            for p, c, r in zip(plain, changed, rows, strict=True)
        ]
    )
    assert 0.59 < factor.min() < 0.8
    assert 1.2 < factor.max() < 1.41
    assert (changed == np.floor(changed)).all()


def test_contrast_keeps_gray_and_saturation_keeps_brightness(tmp_path):
    gray = [np.full((16, 20, 3), 100, np.uint8)] * 4
    path = write(tmp_path, "gray", gray)
    for what in ("contrast", "saturation"):
        assert np.abs(data_of(iterate(path, **{what: 0.5})) - 100).max() <= 1
    colors = [np.full((16, 20, 3), (40, 90, 160), np.uint8)] * 8
    data = data_of(iterate(write(tmp_path, "colors", colors), saturation=0.5))
    luminance = data[:, :, 0, 0] @ np.array([0.299, 0.587, 0.114])
    assert np.abs(luminance - (0.299 * 160 + 0.587 * 90 + 0.114 * 40)).max() < 1
    assert np.ptp(data[:, 0, 0, 0]) > 10


def test_lighting_moves_all_pixels_along_the_components(tmp_path):
    path = write(tmp_path, "flat", [np.full((16, 20, 3), 128, np.uint8)] * 64)
    data = data_of(iterate(path, pca_noise=0.5))
    assert (np.ptp(data, axis=(2, 3)) == 0).all()
    shift = data[:, :, 0, 0] - 128
    gray = shift @ np.ones(3) / 3
    assert 10 < gray.std() < 25  # 0.5 * 55.46 / sqrt(3), as the first component is nearly gray
    assert (shift - gray[:, None]).std() < 4


def test_contrast_and_illumination_come_after_the_mean(tmp_path):
    path = write(tmp_path, "flat", [np.full((16, 20, 3), 100, np.uint8)] * 16)
    same = data_of(iterate(path, max_random_contrast=0.5, mean_r=100, mean_g=100, mean_b=100))
    assert np.abs(same).max() < 1e-5  # of 100 times a factor: the last bits
    light = data_of(iterate(path, max_random_illumination=10.0, scale=0.5)) * 2 - 100
    assert -10 <= light.min() < -4
    assert 4 < light.max() <= 10


def test_mean_image_is_made_stored_and_read(ramp, tmp_path):
    path = tmp_path / "mean.params"
    plain = data_of(iterate(ramp, round_batch=False))[:23]
    centred = data_of(iterate(ramp, mean_img=path, round_batch=False, scale=0.5))[:23]
    (mean,) = load(path).values()
    np.testing.assert_allclose(mean.asnumpy(), plain.mean(axis=0), atol=1e-4)
    np.testing.assert_allclose(centred, (plain - plain.mean(axis=0)) / 2, atol=1e-4)
    before = path.read_bytes()
    mirrored = data_of(iterate(ramp, mean_img=path, mirror=True, round_batch=False))[:23]
    np.testing.assert_allclose(mirrored, 2 * centred[..., ::-1], atol=1e-4)
    assert path.read_bytes() == before
    with pytest.raises(FileFormatError, match=r"expected one image \(3, 8, 8\) in .*mean.params"):
        iterate(ramp, mean_img=path, data_shape=(3, 8, 8))


@pytest.mark.parametrize("dtype", ["float16", "float64", "int32", "int64", "bfloat16"])
def test_other_dtypes_hold_the_same_numbers(ramp, dtype):
    want = data_of(iterate(ramp, mean_r=3, scale=0.5))
    iterator = iterate(ramp, mean_r=3, scale=0.5, dtype=dtype)
    assert np.dtype(iterator.provide_data[0].dtype).name == dtype
    batch = next(iterator)
    assert np.dtype(batch.data[0].dtype).name == dtype
    got = batch.data[0].astype("float32").asnumpy()
    tolerance = {"float64": 1e-6, "float16": 0.1, "bfloat16": 0.6}.get(dtype, 0.5)
    np.testing.assert_allclose(got, want[:4], atol=tolerance)


def test_last_batch_without_rounding_is_zeros_behind_its_samples(ramp):
    *_, last = iterate(ramp, round_batch=False)
    assert last.pad == 1
    assert (last.data[0].asnumpy()[3] == 0).all()
    assert last.label[0].asnumpy().tolist() == [20, 21, 22, 0]


def test_a_batch_larger_than_the_data_goes_round(tmp_path):
    path = write(tmp_path, "few", [np.zeros((4, 4, 3), np.uint8)] * 3)
    iterator = iterate(path, batch_size=8, data_shape=(3, 4, 4))
    for expected in ([0, 1, 2, 0, 1, 2, 0, 1], [2, 0, 1, 2, 0, 1, 2, 0]):
        (batch,) = list(iterator)
        assert batch.label[0].asnumpy().tolist() == expected
        iterator.reset()


def test_reset_in_mid_pass_begins_anew(ramp):
    iterator = iterate(ramp)
    next(iterator)
    next(iterator)
    iterator.reset()
    assert labels_of(iterator) == list(range(23))


def test_batches_that_are_kept_are_not_written_again(ramp):
    iterator = iterate(ramp, prefetch_buffer=1)
    kept = list(iterator)
    copies = [batch.data[0].asnumpy().copy() for batch in kept]
    for _ in range(3):
        iterator.reset()
        for _ in iterator:
            pass
    for batch, copy in zip(kept, copies, strict=True):
        np.testing.assert_array_equal(batch.data[0].asnumpy(), copy)


def test_no_thread_is_left_behind(ramp):
    before = set(threading.enumerate())
    iterator = iterate(ramp)
    next(iterator)
    iterator.reset()
    next(iterator)
    del iterator
    gc.collect()
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
    assert set(threading.enumerate()) <= before


def test_memory_does_not_grow(ramp):
    iterator = iterate(ramp, shuffle=True, **RANDOM)

    def allocate(passes):
        for _ in range(passes):
            for batch in iterator:
                batch.data[0].wait_to_read()
            iterator.reset()
        gc.collect()

    allocate(3)
    tracemalloc.start()
    try:
        allocate(2)
        start, _ = tracemalloc.get_traced_memory()
        allocate(20)
        end, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert end - start < 40_000  # bytes: a batch has 15 360, and there were 120
    assert len(iterator.handle._memory._free) <= 7


def test_truncated_file_gives_what_is_whole_and_then_names_file_and_byte(ramp, tmp_path):
    path = tmp_path / "cut.rec"
    path.write_bytes(ramp.read_bytes()[:-10])
    last = offsets_of(ramp)[-1]
    iterator = iterate(path)
    labels = [next(iterator).label[0].asnumpy().tolist() for _ in range(5)]
    assert list(chain(*labels)) == list(range(20))
    with pytest.raises(FileFormatError, match=rf"at byte {last} of .*cut\.rec"):
        next(iterator)
    with pytest.raises(StopIteration):
        next(iterator)


def test_corrupt_image_names_its_record(ramp, tmp_path):
    content = bytearray(ramp.read_bytes())
    offset = offsets_of(ramp)[6]
    content[offset + 32 : offset + 60] = bytes(28)
    path = tmp_path / "bad.rec"
    path.write_bytes(content)
    iterator = iterate(path)
    assert next(iterator).label[0].asnumpy().tolist() == [0, 1, 2, 3]
    with pytest.raises(FileFormatError, match=rf"image.* in the record at byte {offset} of .*bad"):
        next(iterator)


def test_record_without_a_header_names_file_and_byte(tmp_path):
    writer = MXIndexedRecordIO(tmp_path / "short.idx", tmp_path / "short.rec", "w")
    writer.write_idx(0, b"too short")
    writer.close()
    with pytest.raises(FileFormatError, match=r"header.*at byte 0 of .*short\.rec"):
        next(iterate(tmp_path / "short.rec"))


def test_index_of_another_file_is_refused(ramp, tmp_path):
    (tmp_path / "other.idx").write_text("0\t0\n1\t99999999\n")
    with pytest.raises(FileFormatError, match=r"got 99999999 in .*other\.idx"):
        iterate(ramp, path_imgidx=tmp_path / "other.idx")
    (tmp_path / "off.idx").write_text("0\t4\n")
    with pytest.raises(FileFormatError, match="at byte 4 of"):
        next(iterate(ramp, path_imgidx=tmp_path / "off.idx"))


def test_labels_must_fit(records, ramp, tmp_path):
    with pytest.raises(FileFormatError, match=r"expected 1 labels of image 10, got 3"):
        next(iterate(records / "wide.rec"))
    with pytest.raises(FileFormatError, match=r"expected 3 labels of image 0, got 1"):
        next(iterate(ramp, label_width=3))
    (tmp_path / "few.lst").write_text("0\t1\tx.png\n1\t2\ty.png\n")
    with pytest.raises(FileFormatError, match=r"a line for image 2 in .*few\.lst"):
        next(iterate(ramp, path_imglist=tmp_path / "few.lst"))
    with pytest.raises(FileFormatError, match=r"tab-separated index, 2 labels and path .* line 1"):
        iterate(ramp, path_imglist=tmp_path / "few.lst", label_width=2)


def test_channels_must_fit(ramp):
    with pytest.raises(FileFormatError, match=r"4 uint8 channels.*got 3"):
        next(iterate(ramp, data_shape=(4, 8, 8)))


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"data_shape": (3, 4)}, ArgumentError, "data_shape"),
        ({"data_shape": (2, 4, 4)}, ArgumentError, "data_shape"),
        ({"data_shape": (3, 0, 4)}, ArgumentError, "data_shape"),
        ({"batch_size": 0}, OperatorError, "batch_size"),
        ({"batch_size": "many"}, OperatorError, "batch_size"),
        ({"preprocess_threads": 0}, OperatorError, "preprocess_threads"),
        ({"label_width": 0}, OperatorError, "label_width"),
        ({"ctx": "tpu"}, OperatorError, "ctx"),
        ({"aug_seq": "det_aug_default"}, OperatorError, "aug_seq"),
        ({"num_parts": 2, "part_index": 2}, ArgumentError, "part_index"),
        ({"inter_method": 7}, ArgumentError, "inter_method"),
        ({"fill_value": 256}, ArgumentError, "fill_value"),
        ({"max_crop_size": 8}, ArgumentError, "min_crop_size"),
        ({"min_crop_size": 9, "max_crop_size": 8}, ArgumentError, "min_crop_size"),
        ({"min_random_scale": 2.0}, ArgumentError, "random_scale"),
        ({"max_aspect_ratio": 1.5}, ArgumentError, "aspect"),
        ({"random_resized_crop": True, "min_random_area": 2.0}, ArgumentError, "random_area"),
        ({"brightness": -0.1}, ArgumentError, "brightness"),
        ({"std_r": -1.0}, ArgumentError, "std_"),
        ({"pad": -1}, ArgumentError, "pad"),
    ],
    ids=lambda value: None if isinstance(value, type) else str(value).replace(" ", ""),
)
def test_bad_values_are_refused_by_name(ramp, parameters, error, message):
    with pytest.raises(error, match=f"ImageRecordIter: .*{message}"):
        iterate(ramp, **parameters)


def test_missing_files_are_refused(ramp, tmp_path):
    with pytest.raises(ArgumentError, match="path_imgrec"):
        iterate("")
    for parameters in ({"path_imgrec": "x.rec"}, {"path_imgidx": "x.idx"}, {"path_imglist": "x"}):
        given = {key: tmp_path / value for key, value in parameters.items()}
        with pytest.raises(MissingFileError, match="expected an existing file"):
            ImageRecordIter(
                **{"path_imgrec": ramp, "batch_size": 1, "data_shape": (3, 4, 4), **given}
            )


def test_iterators_of_bytes_take_no_other_dtype_and_no_normalization(ramp):
    with pytest.raises(ArgumentError, match="expected dtype None or uint8"):
        ImageRecordUInt8Iter(path_imgrec=ramp, batch_size=1, data_shape=(3, 4, 4), dtype="float32")
    with pytest.warns(UserWarning, match="mean_r"):
        ImageRecordInt8Iter(path_imgrec=ramp, batch_size=1, data_shape=(3, 4, 4), mean_r=1)


def test_too_small_an_image_for_the_crop_size_names_its_record(ramp):
    iterator = iterate(ramp, max_crop_size=45, min_crop_size=45)
    with pytest.raises(FileFormatError, match=r"max_crop_size \(45\) .*byte 0 of"):
        next(iterator)


def test_detection_scans_labels_beyond_a_page(tmp_path):
    objects = np.tile([1, 0.1, 0.1, 0.5, 0.5], 400)
    label = np.concatenate([[2, 5], objects]).astype(np.float32)
    path = write(tmp_path, "many", [np.zeros((8, 8, 3), np.uint8)], [label])
    iterator = ImageDetRecordIter(path_imgrec=path, batch_size=1, data_shape=(3, 8, 8))
    assert iterator.provide_label[0].shape == (1, 4 + 2002)
    np.testing.assert_array_equal(next(iterator).label[0].asnumpy()[0, 4:], label)


def test_without_opencv_images_are_the_same(ramp, monkeypatch):
    want = data_of(iterate(ramp, resize=20, mirror=True, pad=2))
    for module in ("gluonish.ops.image.codec", "gluonish.ops.image.resampling"):
        monkeypatch.setattr(f"{module}.open_cv", lambda: None)
    got = data_of(iterate(ramp, resize=20, mirror=True, pad=2))
    assert np.abs(got - want).max() <= 1


@pytest.mark.parametrize("parameters", [{"rotate": 10}, {"random_h": 5}], ids=str)
def test_what_needs_opencv_says_so(ramp, monkeypatch, parameters):
    for module in ("geometry", "augmentation"):
        monkeypatch.setattr(f"gluonish.io.image_record.{module}.open_cv", lambda: None)
    with pytest.raises(NotSupportedError, match="expected OpenCV"):
        iterate(ramp, **parameters)


def test_verbose_logs_file_and_threads(ramp, caplog):
    with caplog.at_level("INFO", "gluonish"):
        iterate(ramp, preprocess_threads=1)
        iterate(ramp, verbose=False)
    assert [record.getMessage() for record in caplog.records] == [
        f"ImageRecordIter: {ramp}, 1 threads"
    ]
