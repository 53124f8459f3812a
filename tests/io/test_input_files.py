"""Paths that name several files, against what MXNet 1.9.1 read; see golden/make_input_files.py."""

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish import io
from gluonish.core.errors import (
    ArgumentError,
    FileFormatError,
    MissingFileError,
    NotSupportedError,
)
from gluonish.io.text_lines import input_files
from gluonish.recordio import MXIndexedRecordIO, MXRecordIO, pack_img, unpack
from gluonish.recordio.framing import frame

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "input_files.json").read_text("utf-8"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    contents = {name: text.encode() for name, text in GOLDEN["texts"].items()}
    contents |= {name: base64.b64decode(text) for name, text in GOLDEN["records"].items()}
    for name, content in contents.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def labels(kind: str, **parameters: Any) -> list[float]:
    made: io.MXDataIter
    if kind == "csv":
        made = io.CSVIter(data_shape=(1,), batch_size=1, **parameters)
        return [batch.data[0].asnumpy().item() for batch in made]
    if kind == "svm":
        made = io.LibSVMIter(data_shape=(1,), batch_size=1, **parameters)
    else:
        made = io.ImageRecordIter(data_shape=(3, 2, 2), batch_size=1, verbose=False, **parameters)
    return [batch.label[0].asnumpy().item() for batch in made]


@pytest.mark.parametrize(
    "case", GOLDEN["cases"], ids=lambda case: "-".join(map(str, case["parameters"].values()))
)
def test_samples_are_those_that_mxnet_read(case: dict[str, Any], folder: Path) -> None:
    given = {
        name: value.replace("{0}", str(folder)) if isinstance(value, str) else value
        for name, value in case["parameters"].items()
    }
    found, wanted = labels(case["kind"], **given), case["labels"]
    # The order that MXNet found files of a pattern in is the disk's; here it is that of names.
    assert found == (sorted(wanted) if "|" in str(given) else wanted)


def test_files_of_a_folder_come_by_name_without_hidden_ones_and_folders(tmp_path: Path) -> None:
    for name in ("b", "c", "a", ".hidden"):
        (tmp_path / name).touch()
    (tmp_path / "folder").mkdir()
    found = [Path(file).name for file in input_files(str(tmp_path), "X")]
    assert found == ["a", "b", "c"]


def test_a_file_is_itself_whatever_its_name(tmp_path: Path) -> None:
    for name in ("a;b.csv", "a#b.csv", "a*.csv"):
        path = tmp_path / name
        path.write_text("3\n", "utf-8")
        assert labels("csv", data_csv=str(path)) == [3]


@pytest.mark.usefixtures("folder")
def test_labels_lie_in_several_files_too() -> None:
    iterator = io.CSVIter(
        data_csv="a.csv;b.csv", label_csv="b.csv;a.csv", data_shape=(1,), batch_size=5
    )
    assert next(iterator).label[0].asnumpy().tolist() == [3, 4, 0, 1, 2]


@pytest.mark.parametrize("part", [0, 1, 2])
def test_labels_of_a_part_are_those_of_its_samples(folder: Path, part: int) -> None:
    (folder / "one.svm").write_text("".join(f"0 0:{i}\n" for i in range(6)), "utf-8")
    (folder / "two.svm").write_text("0 0:6\n\n0 0:7\n", "utf-8")
    given = {"data_libsvm": "a.svm;b.svm;svm/c.svm", "num_parts": 3, "part_index": part}
    iterator = io.LibSVMIter(
        label_libsvm="one.svm;two.svm", data_shape=(1,), label_shape=(1,), batch_size=1, **given
    )
    found = [batch.label[0].asnumpy().item() for batch in iterator]
    # The first number of each line of data is its place.
    assert found == labels("svm", **given)


@pytest.mark.usefixtures("folder")
def test_all_parts_together_have_each_record_once() -> None:
    path = "a.rec;b.rec;rec/c.rec"
    for num_parts in range(1, 12):
        found: list[float] = []
        for part in range(num_parts):
            found += labels("rec", path_imgrec=path, num_parts=num_parts, part_index=part)
        assert found == list(range(8))


def test_each_record_file_has_an_index_of_its_own(tmp_path: Path) -> None:
    paths = {}
    for name, numbers in {"a": [0, 1, 2], "b": [3, 4]}.items():
        paths[name] = tmp_path / f"{name}.idx", tmp_path / f"{name}.rec"
        file = MXIndexedRecordIO(*paths[name], "w")
        for i in numbers:
            file.write_idx(
                i, pack_img((0, float(i), i, 0), np.zeros((2, 2, 3), np.uint8), 9, ".png")
            )
        file.close()
    indices, records = (";".join(map(str, column)) for column in zip(*paths.values(), strict=True))
    given = {"path_imgrec": records, "path_imgidx": indices}
    assert labels("rec", **given) == [0, 1, 2, 3, 4]
    assert labels("rec", **given, num_parts=2, part_index=1) == [3, 4]
    with pytest.raises(ArgumentError, match="an index of each of 2 record files, got 1"):
        labels("rec", path_imgrec=records, path_imgidx=str(paths["a"][0]))


def test_the_widest_label_is_that_of_all_files(tmp_path: Path) -> None:
    for name, count in (("a", 1), ("b", 3), ("c", 2)):
        label = [2, 5, *[1, 0.1, 0.1, 0.5, 0.5] * count]
        record = pack_img((0, label, 0, 0), np.zeros((2, 2, 3), np.uint8), 9, ".png")
        (tmp_path / f"{name}.rec").write_bytes(frame(record))
    iterator = io.ImageDetRecordIter(
        path_imgrec=str(tmp_path), data_shape=(3, 2, 2), batch_size=3, verbose=False
    )
    found = next(iterator).label[0].asnumpy()
    assert found.shape == (3, 4 + 2 + 15)
    assert found[:, 3].tolist() == [7, 17, 12]


@pytest.mark.usefixtures("folder")
def test_shuffled_records_come_from_all_files() -> None:
    found = labels("rec", path_imgrec="a.rec;b.rec;rec/c.rec", shuffle=True, seed=3)
    assert sorted(found) == list(range(8))
    assert found != sorted(found)


def test_damage_is_told_by_the_file_that_has_it(folder: Path) -> None:
    content = (folder / "b.rec").read_bytes()
    (folder / "b.rec").write_bytes(bytes(4) + content[4:])
    with pytest.raises(FileFormatError, match=r"at byte 0 of b\.rec"):
        labels("rec", path_imgrec="a.rec;b.rec")
    (folder / "b.rec").write_bytes(content.replace(b"PNG", b"GNP"))
    with pytest.raises(FileFormatError, match=r"in the record at byte 0 of b\.rec"):
        labels("rec", path_imgrec="a.rec;b.rec")
    (folder / "b.csv").write_text("x\n", "utf-8")
    with pytest.raises(FileFormatError, match=r"in line 1 of 'b\.csv', at byte 0"):
        labels("csv", data_csv="a.csv;b.csv")


@pytest.mark.parametrize("path", ["hdfs://host/a.csv", "s3://bucket/a.csv", "a.csv;gs://b/c.csv"])
def test_other_protocols_are_refused(path: str, folder: Path) -> None:
    with pytest.raises(NotSupportedError, match=r"CSVIter: expected a local path, got"):
        labels("csv", data_csv=path)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("path", ["none.csv", "a.csv;none.csv", "none.*", "none/.*", "file://no"])
def test_what_is_not_there_is_named(path: str) -> None:
    # MXNet leaves out the one of several that is not there.
    with pytest.raises(MissingFileError, match=r"CSVIter: expected .*no"):
        labels("csv", data_csv=path)


def test_a_folder_without_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match=r"expected files that match .*, got none"):
        labels("csv", data_csv=str(tmp_path))


@pytest.mark.usefixtures("folder")
def test_a_pattern_that_is_none_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"or a regular expression of names, got '\(a\.csv'"):
        labels("csv", data_csv="(a.csv")


def test_a_record_file_may_have_a_protocol(folder: Path) -> None:
    file = MXRecordIO(f"file://{folder}/b.rec", "r")
    assert [unpack(file.read() or b"")[0].id for _ in range(2)] == [3, 4]
    assert file.read() is None
    with pytest.raises(NotSupportedError, match="there is no client for hdfs"):
        MXRecordIO("hdfs://host/b.rec", "w")


def test_mnist_files_may_have_a_protocol(tmp_path: Path) -> None:
    (tmp_path / "images").write_bytes(
        bytes((0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 64, 32))
    )
    (tmp_path / "labels").write_bytes(bytes((0, 0, 8, 1, 0, 0, 0, 2, 5, 6)))
    iterator = io.MNISTIter(
        image=f"file://{tmp_path}/images",
        label=f"file://{tmp_path}/labels",
        batch_size=2,
        shuffle=False,
        silent=True,
    )
    assert next(iterator).label[0].asnumpy().tolist() == [5, 6]
