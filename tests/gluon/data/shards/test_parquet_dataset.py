"""Rows of Parquet files, from disks and from servers; pyarrow says what is in them."""

import gc
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    DownloadError,
    FileFormatError,
    MissingFileError,
)
from gluonish.gluon.data import DataLoader, ParquetDataset
from gluonish.gluon.download import http_fetch
from tests.gluon_repository import Repository

pa = pytest.importorskip("pyarrow", reason="needs the extra parquet")
pq = pytest.importorskip("pyarrow.parquet", reason="needs the extra parquet")


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_fetch, "_FIRST_PAUSE_S", 0.001)


def table(start: int, count: int) -> Any:
    numbers = np.arange(start, start + count)
    return pa.table(
        {
            "x": numbers,
            "half": numbers / 2,
            "text": [f"row {i}" for i in numbers],
            "bytes": [bytes([i % 256]) for i in numbers],
            "vector": [[i, i + 1] for i in numbers],
            "nested": [{"a": int(i)} for i in numbers],
            "missing": pa.array([None if i % 3 else int(i) for i in numbers], pa.int64()),
        }
    )


def files(folder: Path, sizes: tuple[int, ...] = (10, 7, 1), rows: int = 4) -> str:
    """Write files with row groups of ``rows`` rows; return a pattern."""
    start = 0
    for number, size in enumerate(sizes):
        pq.write_table(table(start, size), folder / f"f{number}.parquet", row_group_size=rows)
        start += size
    return f"{folder}/f{{0..{len(sizes) - 1}}}.parquet"


def numbers(dataset: Any) -> list[int]:
    return [int(row["x"]) for row in dataset]


@pytest.mark.parametrize("batch_rows", [1, 3, 100])
def test_rows_are_those_of_pyarrow(tmp_path: Path, batch_rows: int) -> None:
    pattern = files(tmp_path)
    expected = pa.concat_tables([pq.read_table(path) for path in sorted(tmp_path.iterdir())])
    rows = list(ParquetDataset(pattern, batch_rows=batch_rows))
    assert len(rows) == 18
    for row, original in zip(rows, expected.to_pylist(), strict=True):
        assert row.keys() == original.keys()
        for name in ("x", "half", "text", "bytes", "nested"):
            assert row[name] == original[name]
        assert row["vector"].tolist() == original["vector"]
        missing = original["missing"]
        assert np.isnan(row["missing"]) if missing is None else row["missing"] == missing


def test_columns_are_chosen(tmp_path: Path) -> None:
    dataset = ParquetDataset(files(tmp_path), ("text", "x"))
    assert next(iter(dataset)) == {"text": "row 0", "x": 0}
    with pytest.raises(ArgumentError, match=r"a column 'tex' in .*f0\.parquet, got x, half, text"):
        ParquetDataset(files(tmp_path), ("x", "tex"))


@pytest.mark.parametrize(
    "workers",
    [{}, {"num_workers": 2}, {"num_workers": 5, "thread_pool": True}],
    ids=["here", "processes", "threads"],
)
@pytest.mark.parametrize("shuffle", [False, True])
def test_loaders_give_each_row_once(tmp_path: Path, workers: dict[str, Any], shuffle: bool) -> None:
    dataset = ParquetDataset(files(tmp_path), ("x", "vector"), shuffle=shuffle, buffer_size=5)
    loader = DataLoader(dataset, 4, **workers)
    passes = [list(loader) for _ in range(2)]
    assert [len(batches) for batches in passes] == [len(loader)] * 2
    found = [[x for batch in batches for x in batch["x"].tolist()] for batches in passes]
    assert [sorted(x) for x in found] == [list(range(18))] * 2
    assert (found[0] != found[1]) == shuffle
    assert passes[0][0]["vector"].shape == (4, 2)


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize(("parts", "workers"), [(2, 0), (4, 3), (5, 2), (20, 1)])
def test_processes_get_equal_shares(
    tmp_path: Path, parts: int, workers: int, shuffle: bool
) -> None:
    pattern = files(tmp_path)
    found, counts = [], set()
    for index in range(parts):
        dataset = ParquetDataset(
            pattern, ("x",), shuffle=shuffle, num_parts=parts, part_index=index
        )
        batches = list(DataLoader(dataset, 2, num_workers=workers, thread_pool=True))
        counts.add(tuple(len(batch["x"]) for batch in batches))
        share = [x for batch in batches for x in batch["x"].tolist()]
        assert len(share) == len(dataset) == -(-18 // parts)
        found += share
    assert len(counts) == 1
    assert set(found) == set(range(18))


def test_unequal_shares_repeat_no_row(tmp_path: Path) -> None:
    pattern = files(tmp_path)
    found = []
    for index in range(4):
        dataset = ParquetDataset(
            pattern, num_parts=4, part_index=index, equal_parts=False, shuffle=True
        )
        assert len(dataset) in (4, 5)
        found += numbers(dataset)
    assert sorted(found) == list(range(18))


@pytest.mark.parametrize("workers", [0, 3])
def test_a_pass_may_have_more_rows_than_there_are(tmp_path: Path, workers: int) -> None:
    dataset = ParquetDataset(files(tmp_path, (2,)), samples_per_epoch=11)
    batches = list(DataLoader(dataset, 2, num_workers=workers, thread_pool=True))
    assert sum(len(batch["x"]) for batch in batches) == 11 == len(dataset)


def test_only_the_columns_of_a_file_on_a_server_are_requested(
    tmp_path: Path, repository: Repository
) -> None:
    random = np.random.default_rng(0)
    content = {"x": np.arange(5000), "large": [random.bytes(300) for _ in range(5000)]}
    pq.write_table(pa.table(content), tmp_path / "a.parquet", row_group_size=1000)
    repository.files["/a.parquet"] = (tmp_path / "a.parquet").read_bytes()
    repository.cuts = [1, 4, 1 << 20, 100]  # two answers are cut off
    dataset = ParquetDataset(f"{repository.url}/a.parquet", ("x",))
    assert numbers(DataLoader(dataset, 1)) == list(range(5000))
    asked = [x.removeprefix("bytes=").split("-") for _, x in repository.asked]
    nbytes = sum(int(end) - int(start) + 1 for start, end in asked)
    assert nbytes < len(repository.files["/a.parquet"]) / 5


@pytest.mark.parametrize("rows", [0, 1, 9, 18])
def test_a_thread_receives_rows_and_ends_with_the_pass(
    tmp_path: Path, repository: Repository, rows: int
) -> None:
    files(tmp_path)
    for path in tmp_path.iterdir():
        repository.files[f"/{path.name}"] = path.read_bytes()
    dataset = ParquetDataset(f"{repository.url}/f{{0..2}}.parquet", batch_rows=3)
    assert numbers(dataset) == list(range(18))
    found = iter(dataset)
    assert [int(next(found)["x"]) for _ in range(rows)] == list(range(rows))
    names = [each.name for each in threading.enumerate()]
    assert names.count("read-ahead") <= 1
    del found
    gc.collect()
    assert not {"read-ahead", "download-watch"} & {each.name for each in threading.enumerate()}


def test_servers_that_fail_are_errors(tmp_path: Path, repository: Repository) -> None:
    with pytest.raises(DownloadError, match=r"read http.*none\.parquet from byte 0, got 404"):
        ParquetDataset(f"{repository.url}/none.parquet")
    files(tmp_path)
    repository.files["/a.parquet"] = (tmp_path / "f0.parquet").read_bytes()
    dataset = ParquetDataset(f"{repository.url}/a.parquet")
    repository.files["/a.parquet"] = (tmp_path / "f2.parquet").read_bytes()
    with pytest.raises(FileFormatError, match="expected 4 rows in row group 0, got 1"):
        list(dataset)
    repository.ranges = False
    with pytest.raises(DownloadError, match="a server that does not send parts of files"):
        ParquetDataset(f"{repository.url}/a.parquet")


@pytest.mark.parametrize("keep", [0, 3, 100, -1])
def test_a_damaged_file_is_an_error(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(table(0, 10), path)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(FileFormatError, match=r"a\.parquet: expected a Parquet file, got"):
        ParquetDataset(path)


def test_damaged_pages_name_the_row_group(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(table(0, 100), path, row_group_size=50)
    content = bytearray(path.read_bytes())
    content[4:400] = bytes(396)
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"a\.parquet: expected .* in row group 0"):
        list(ParquetDataset(path))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"columns": "x"}, ArgumentTypeError, "columns to be a list of names, got 'x'"),
        ({"columns": 5}, ArgumentTypeError, "columns to be a list of names, got 5"),
        ({"columns": ()}, ArgumentError, "at least one column"),
        ({"batch_rows": 0}, ArgumentError, "batch_rows"),
        ({"part_index": 3}, ArgumentError, "part_index in 0"),
    ],
)
def test_bad_arguments_are_refused(
    tmp_path: Path, arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=f"ParquetDataset: expected .*{message}"):
        ParquetDataset(files(tmp_path), **arguments)


def test_files_without_rows_and_missing_files_are_refused(tmp_path: Path) -> None:
    pq.write_table(table(0, 0), tmp_path / "a.parquet")
    with pytest.raises(ArgumentError, match="at least one row"):
        ParquetDataset(tmp_path / "a.parquet")
    with pytest.raises(MissingFileError):
        ParquetDataset(tmp_path / "b.parquet")


def test_without_pyarrow_the_error_says_what_to_install(tmp_path: Path) -> None:
    path = files(tmp_path)
    program = f"""
import sys
sys.modules["pyarrow"] = None
from gluonish.gluon.data import ParquetDataset
ParquetDataset({path!r})
"""
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert "pip install 'gluonish[parquet]'" in result.stderr


def test_files_of_other_columns_are_refused_unless_common_ones_are_chosen(tmp_path: Path) -> None:
    for number, names in enumerate((("x", "y"), ("x", "z"))):
        pq.write_table(pa.table({key: [1] for key in names}), tmp_path / f"{number}.parquet")
    pattern = f"{tmp_path}/*.parquet"
    with pytest.raises(ArgumentError, match=r"first file in .*1\.parquet, too, x, y, got x, z"):
        ParquetDataset(pattern)
    assert numbers(ParquetDataset(pattern, columns=("x",))) == [1, 1]
