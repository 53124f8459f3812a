"""ImageIter and ImageDetIter beyond the golden calls."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import image, nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError, FileFormatError
from gluonish.recordio import MXIndexedRecordIO, MXRecordIO, pack, pack_img

SIZES = [(9, 12), (8, 8), (13, 10), (9, 9), (11, 8)]


def stored(i: int) -> bytes:
    return pack_img((0, 0, 0, 0), np.full((*SIZES[i], 3), 10 * i, np.uint8), 9, ".png")[24:]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for i in range(len(SIZES)):
        (tmp_path / f"{i}.png").write_bytes(stored(i))
    return tmp_path


def listed(folder: Path, **kwargs: Any) -> image.ImageIter:
    names = [[i, f"{i}.png"] for i in range(len(SIZES))]
    return image.ImageIter(2, (3, 8, 8), imglist=names, path_root=folder, **kwargs)


def levels(batch: Any) -> list[float]:
    return [float(level) for level in batch.data[0].asnumpy()[:, 0, 0, 0]]


def test_all_that_a_subclass_overrides_is_asked(folder: Path) -> None:
    asked = []

    class Asked(image.ImageIter):
        def next_sample(self) -> Any:
            asked.append("next_sample")
            return super().next_sample()

        def read_image(self, fname: str) -> bytes:
            asked.append("read_image")
            return super().read_image(fname)

        def imdecode(self, s: Any) -> Any:
            asked.append("imdecode")
            return super().imdecode(s)

        def check_valid_image(self, data: Any) -> None:
            asked.append("check_valid_image")
            super().check_valid_image(data)

        def augmentation_transform(self, data: Any) -> Any:
            asked.append("augmentation_transform")
            assert isinstance(data, nd.NDArray)
            return super().augmentation_transform(data) + 1

        def postprocess_data(self, datum: Any) -> Any:
            asked.append("postprocess_data")
            assert datum.shape == (8, 8, 3)
            return super().postprocess_data(datum) * 2

    names = [[i, f"{i}.png"] for i in range(2)]
    iterator = Asked(1, (3, 8, 8), imglist=names, path_root=folder)
    assert levels(iterator.next()) == [2]
    assert asked == [
        "next_sample",
        "read_image",
        "imdecode",
        "check_valid_image",
        "augmentation_transform",
        "postprocess_data",
    ]


def test_an_epoch_ends_until_reset(folder: Path) -> None:
    iterator = listed(folder)
    assert len(list(iterator)) == 3
    assert list(iterator) == []
    iterator.reset()
    assert len(list(iterator)) == 3


def test_a_hard_reset_forgets_what_rolled_over(folder: Path) -> None:
    iterator = listed(folder, last_batch_handle="roll_over")
    assert [levels(batch) for batch in iterator] == [[0, 10], [20, 30]]
    iterator.hard_reset()
    assert [levels(batch) for batch in iterator] == [[0, 10], [20, 30]]
    iterator.reset()
    assert [levels(batch) for batch in iterator] == [[40, 0], [10, 20], [30, 40]]


def test_a_batch_goes_round_a_small_set_several_times(folder: Path) -> None:
    names = [[1, "1.png"], [2, "2.png"]]
    iterator = image.ImageIter(5, (3, 8, 8), imglist=names, path_root=folder)
    (batch,) = list(iterator)
    assert levels(batch) == [10, 20, 10, 20, 10]
    assert batch.pad == 3


def test_the_last_batch_of_a_subclass_that_begins_again_at_reset_has_its_own_samples(
    folder: Path,
) -> None:
    class Counted(image.ImageIter):
        def reset(self) -> None:
            super().reset()
            self.left = 6

        def next_sample(self) -> Any:
            if not self.left:
                raise StopIteration
            self.left -= 1
            return float(self.left), stored(self.left % 5)

    iterator = Counted(4, (3, 8, 8), imglist=[[0, "0.png"]], path_root=folder)
    for _ in range(2):
        first, last = iterator
        assert first.label[0].asnumpy().tolist() == [5, 4, 3, 2]
        assert (last.label[0].asnumpy().tolist(), last.pad) == ([1, 0, 1, 0], 2)
        assert levels(last) == [10, 0, 10, 0]
        iterator.reset()


def test_what_rolls_over_grows_until_it_is_a_batch(folder: Path) -> None:
    names = [[1, "1.png"], [2, "2.png"]]
    iterator = image.ImageIter(
        5, (3, 8, 8), imglist=names, path_root=folder, last_batch_handle="roll_over"
    )
    found = []
    for _ in range(5):
        found.append([levels(batch) for batch in iterator])
        iterator.reset()
    assert found == [[], [], [[10, 20, 10, 20, 10]], [], [[20, 10, 20, 10, 20]]]


@pytest.mark.parametrize("dtype", ["float64", "int32", "int64"])
def test_labels_have_their_dtype(folder: Path, dtype: str) -> None:
    iterator = listed(folder, dtype=dtype)
    assert iterator.next().label[0].dtype == np.dtype(dtype)
    assert iterator.provide_label[0].dtype == np.dtype(dtype)


def test_a_broken_file_is_named_and_left_behind(folder: Path) -> None:
    (folder / "2.png").write_bytes(b"no image")
    iterator = listed(folder)
    assert levels(iterator.next()) == [0, 10]
    with pytest.raises(FileFormatError, match=r"expected an image in 2\.png, got something else"):
        iterator.next()
    assert levels(iterator.next()) == [30, 40]


def test_a_broken_record_is_named(folder: Path) -> None:
    path = folder / "a"
    records = MXIndexedRecordIO(f"{path}.idx", f"{path}.rec", "w")
    records.write_idx(7, mx.recordio.pack((0, 1.0, 7, 0), b"no image"))
    records.close()
    for index in (f"{path}.idx", None):
        iterator = image.ImageIter(1, (3, 8, 8), path_imgrec=f"{path}.rec", path_imgidx=index)
        with pytest.raises(FileFormatError, match=r"record (7|0) of .*a\.rec"):
            iterator.next()


@pytest.mark.parametrize("line", ["0\t1.png", "a\t1\t1.png", "0\tx\t1.png", "0 1 1.png"])
def test_a_line_that_is_none_is_named(folder: Path, line: str) -> None:
    (folder / "a.lst").write_text(f"\n{line}\n")
    with pytest.raises(FileFormatError, match="on line 2 of"):
        image.ImageIter(2, (3, 8, 8), path_imglist=folder / "a.lst", path_root=folder)


def test_augmenters_that_make_another_size_are_refused(folder: Path) -> None:
    iterator = listed(folder, aug_list=[image.CenterCropAug((5, 5))])
    with pytest.raises(ArgumentError, match=r"\(3, 8, 8\) from the augmenters.*got \(3, 5, 5\)"):
        iterator.next()


def test_keywords_beside_a_list_of_augmenters_are_refused(folder: Path) -> None:
    with pytest.raises(ArgumentTypeError, match="none with aug_list, got rand_crop"):
        listed(folder, aug_list=[], rand_crop=True)


def test_an_unknown_way_to_end_is_refused(folder: Path) -> None:
    with pytest.raises(ArgumentError, match="last_batch_handle to be one of"):
        listed(folder, last_batch_handle="keep")


def boxes(folder: Path, counts: list[int], **kwargs: Any) -> image.ImageDetIter:
    names = [
        [[2, 5, *([1, 0.1, 0.1, 0.5, 0.9] * count)], f"{i}.png"] for i, count in enumerate(counts)
    ]
    return image.ImageDetIter(2, (3, 8, 8), imglist=names, path_root=folder, **kwargs)


def test_two_iterators_get_the_larger_shape_of_labels(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small, large = boxes(folder, [1, 2]), boxes(folder, [1, 4, 1])
    assert small.sync_label_shape(large, verbose=True) is large
    assert "label_shape (2, 5) becomes (4, 5)" in capsys.readouterr().out
    assert small.next().label[0].shape == (2, 4, 5)
    assert large.sync_label_shape(boxes(folder, [1])).label_shape == (4, 5)


def label_of(count: int) -> list[float]:
    return [2, 5, *([1, 0.1, 0.1, 0.5, 0.9] * count)]


def unread(*_: object) -> bytes:
    raise AssertionError("a whole record was read")


def test_the_widest_label_of_a_list_is_found_without_the_images(tmp_path: Path) -> None:
    assert boxes(tmp_path, [1, 3]).label_shape == (3, 5)


@pytest.mark.parametrize("indexed", [True, False], ids=["indexed", "in-order"])
def test_the_widest_label_of_records_is_found_without_the_images(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, indexed: bool
) -> None:
    paths = tmp_path / "a.idx", tmp_path / "a.rec"
    records = MXIndexedRecordIO(*paths, "w")
    for i, count in enumerate([1, 3, 2]):
        records.write_idx(i, pack((0, label_of(count), i, 0), bytes(20000)))
    records.close()
    with monkeypatch.context() as patch:
        patch.setattr(MXRecordIO, "read", unread)
        patch.setattr("gluonish.recordio.record_table.read_record", unread)
        files = {"path_imgidx": paths[0]} if indexed else {}
        iterator = image.ImageDetIter(1, (3, 8, 8), path_imgrec=paths[1], **files)
    assert iterator.label_shape == (3, 5)
    assert iterator.next_sample()[0].tolist() == np.float32(label_of(1)).tolist()


def test_a_part_of_the_records_has_its_own_widest_label(tmp_path: Path) -> None:
    paths = tmp_path / "a.idx", tmp_path / "a.rec"
    records = MXIndexedRecordIO(*paths, "w")
    for i, count in enumerate([1, 2, 5, 3]):
        records.write_idx(i, pack((0, label_of(count), i, 0), stored(i)))
    records.close()
    files = {"path_imgidx": paths[0], "path_imgrec": paths[1], "num_parts": 2}
    assert image.ImageDetIter(1, (3, 8, 8), **files).label_shape == (2, 5)
    assert image.ImageDetIter(1, (3, 8, 8), part_index=1, **files).label_shape == (5, 5)


def test_the_widest_label_is_that_of_a_subclasss_own_samples(folder: Path) -> None:
    class Wide(image.ImageDetIter):
        def next_sample(self) -> Any:
            label, stored = super().next_sample()
            return np.append(label.asnumpy(), label.asnumpy()[2:]), stored

    names = [[label_of(2), "0.png"]]
    assert Wide(1, (3, 8, 8), imglist=names, path_root=folder).label_shape == (4, 5)


def test_what_rolls_over_gets_a_new_shape_of_labels(folder: Path) -> None:
    iterator = boxes(folder, [1, 2, 1], last_batch_handle="roll_over")
    assert len(list(iterator)) == 1
    iterator.reshape(label_shape=(3, 5))
    iterator.reset()
    first = iterator.next().label[0].asnumpy()
    assert first.shape == (2, 3, 5)
    assert (first[0, 1:] == -1).all()
    assert levels(iterator.next()) == [10, 20]


def test_another_shape_of_images_needs_augmenters_that_make_it(folder: Path) -> None:
    iterator = boxes(folder, [1, 1], aug_list=image.CreateDetAugmenter((3, 6, 7)))
    iterator.reshape((3, 6, 7))
    assert iterator.provide_data[0].shape == (2, 3, 6, 7)
    assert iterator.next().data[0].shape == (2, 3, 6, 7)


def test_augmenters_of_a_program_get_boxes(folder: Path) -> None:
    class Marked(image.DetAugmenter):
        def __call__(self, src: Any, label: Any) -> Any:
            assert isinstance(src, nd.NDArray)
            label[:, 0] = 9
            return src, label

    iterator = boxes(folder, [1, 1], aug_list=[*image.CreateDetAugmenter((3, 8, 8)), Marked()])
    assert (iterator.next().label[0].asnumpy()[:, 0, 0] == 9).all()


@pytest.mark.parametrize("without_opencv", [False, True])
def test_names_of_classes_are_drawn(
    folder: Path, without_opencv: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if without_opencv:
        monkeypatch.setitem(__import__("sys").modules, "cv2", None)
    names = [[[2, 5, 1, 0.1, 0.1, 0.9, 0.9], "0.png"]]
    iterator = image.ImageDetIter(1, (3, 60, 60), imglist=names, path_root=folder)
    (plain,) = iterator.draw_next(color=(255, 0, 0))
    (named,) = iterator.draw_next(color=(255, 0, 0), id2labels={1: "ab"})
    (other,) = iterator.draw_next(color=(255, 0, 0), id2labels={2: "ab"})
    assert (plain == other).all()
    ys, xs = np.nonzero((named != plain).any(axis=2))
    assert 6 < ys.min() < ys.max() < 40
    assert 8 < xs.min() < xs.max() < 50


def test_the_colour_is_the_same_on_every_image(folder: Path) -> None:
    drawn = list(boxes(folder, [1, 1, 1]).draw_next(color=(255, 9, 7), thickness=1))
    assert all((picture == (7, 9, 255)).all(axis=2).any() for picture in drawn)


def test_boxes_beyond_the_image_are_drawn_as_far_as_they_are_seen(folder: Path) -> None:
    names = [[[2, 5, 1, -0.5, 0.25, 0.5, 1.5], "0.png"]]
    iterator = image.ImageDetIter(1, (3, 8, 8), imglist=names, path_root=folder)
    (picture,) = iterator.draw_next(color=(255, 255, 255), thickness=1)
    seen = (picture == 255).all(axis=2)
    wanted = np.zeros((8, 8), bool)
    wanted[2, :5] = wanted[2:, 4] = True
    assert (seen == wanted).all()
