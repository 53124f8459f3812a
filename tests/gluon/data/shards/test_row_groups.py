"""Row groups on servers are received ahead: how many, what ends it, and what is requested."""

import gc
import os
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import DownloadError, FileFormatError
from gluonish.gluon.data import DataLoader, ParquetDataset
from gluonish.gluon.data.shards import row_groups
from gluonish.gluon.download import http_fetch
from tests.gluon_repository import Repository

pa = pytest.importorskip("pyarrow", reason="needs the extra parquet")
pq = pytest.importorskip("pyarrow.parquet", reason="needs the extra parquet")

GROUPS, ROWS = 6, 4


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_fetch, "_FIRST_PAUSE_S", 0.001)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file whose row groups have a large column between two small ones."""
    random = np.random.default_rng(0)
    count = GROUPS * ROWS
    content = {
        "x": np.arange(count),
        "large": [random.bytes(10_000) for _ in range(count)],
        "a.b": [{"c": i, "d": str(i)} for i in range(count)],
    }
    pq.write_table(pa.table(content), tmp_path / "a.parquet", row_group_size=ROWS)
    return tmp_path / "a.parquet"


@pytest.fixture
def url(path: Path, repository: Repository) -> str:
    repository.files["/a.parquet"] = path.read_bytes()
    return f"{repository.url}/a.parquet"


def numbers(dataset: Any) -> list[int]:
    return [int(row["x"]) for row in dataset]


def wait_for(condition: Any, limit_s: float = 30.0) -> bool:
    end = time.monotonic() + limit_s
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return bool(condition())


def no_thread_is_left() -> bool:
    names = ("read-ahead", "download-watch")
    return wait_for(lambda: not any(each.name in names for each in threading.enumerate()))


def test_one_row_group_is_received_ahead_and_the_footer_once(
    url: str, repository: Repository
) -> None:
    dataset = ParquetDataset(url)
    repository.asked.clear()
    for number, row in enumerate(dataset):
        assert row["x"] == number
        expected = min(number // ROWS + 2, GROUPS)
        assert wait_for(lambda expected=expected: len(repository.asked) >= expected)
        if not number % ROWS:
            time.sleep(0.05)
        assert len(repository.asked) == expected
    assert no_thread_is_left()


@pytest.mark.parametrize("columns", [None, ("x",), ("a.b", "x"), ("large",)])
@pytest.mark.parametrize("most", [0, 1 << 20], ids=["as a file", "ahead"])
@pytest.mark.parametrize("shuffle", [False, True])
def test_rows_are_those_of_a_local_file(
    path: Path,
    url: str,
    monkeypatch: pytest.MonkeyPatch,
    columns: Any,
    most: int,
    shuffle: bool,
) -> None:
    monkeypatch.setattr(row_groups, "_MOST_NBYTES", most)
    options: dict[str, Any] = {"shuffle": shuffle, "buffer_size": 3, "batch_rows": 3}
    here, there = (ParquetDataset(x, columns, **options) for x in (path, url))
    for _ in range(2):
        assert list(there) == list(here)
    assert no_thread_is_left()


def test_a_large_row_group_is_not_received_ahead(
    url: str, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_groups, "_MOST_NBYTES", 1000)
    rows = iter(ParquetDataset(url))
    next(rows)
    time.sleep(0.2)
    nbytes = 0
    for _, wanted in repository.asked:
        start, end = wanted.removeprefix("bytes=").split("-")
        nbytes += int(end) + 1 - int(start)
    footers = 3 * (1 << 16)
    assert nbytes < footers + 1.5 * ROWS * 10_000


def test_only_the_ranges_of_the_columns_are_requested(path: Path) -> None:
    metadata = pq.ParquetFile(path).metadata
    length = path.stat().st_size
    whole = row_groups._ranges(metadata.row_group(1), None, length)
    assert len(whole) == 1
    small = row_groups._ranges(metadata.row_group(1), ["x", "a.b"], length)
    assert len(small) == 2
    assert small[0][0] == whole[0][0]
    assert small[1][1] == whole[0][1]
    assert sum(end - start for start, end in small) < 5000
    last = row_groups._ranges(metadata.row_group(GROUPS - 1), ["a.b"], length)
    assert last[0][1] <= length
    assert row_groups._ranges(metadata.row_group(1), ["a"], length) == small[1:]


def test_errors_come_after_the_rows_before(url: str, repository: Repository) -> None:
    dataset = ParquetDataset(url)
    repository.asked.clear()
    rows = iter(dataset)
    found = [int(next(rows)["x"])]
    assert wait_for(lambda: len(repository.asked) == 2)
    time.sleep(0.1)
    del repository.files["/a.parquet"]
    with pytest.raises(DownloadError, match=r"read http.*a\.parquet from byte \d+, got 404"):
        found.extend(int(row["x"]) for row in rows)
    assert found == list(range(2 * ROWS))
    assert no_thread_is_left()


def test_a_file_that_changes_between_passes_is_read_anew(
    path: Path, url: str, repository: Repository
) -> None:
    dataset = ParquetDataset(url, ("x",))
    assert numbers(dataset) == list(range(GROUPS * ROWS))
    new = pa.table({"y": np.zeros(GROUPS * ROWS), "x": np.arange(GROUPS * ROWS) + 100})
    pq.write_table(new, path, row_group_size=ROWS)
    repository.files["/a.parquet"] = path.read_bytes()
    assert numbers(dataset) == list(range(100, GROUPS * ROWS + 100))
    pq.write_table(new, path, row_group_size=GROUPS * ROWS // 2)
    repository.files["/a.parquet"] = path.read_bytes()
    with pytest.raises(FileFormatError, match="expected row group 2, got 2 of them"):
        numbers(dataset)
    assert no_thread_is_left()


@pytest.mark.parametrize("how", ["closed", "dropped"])
def test_an_early_stop_interrupts_a_request(url: str, repository: Repository, how: str) -> None:
    dataset = ParquetDataset(url)
    at_once, never = threading.Event(), threading.Event()
    at_once.set()
    repository.asked.clear()
    repository.waits = [at_once, never]
    rows = iter(dataset)
    assert next(rows)["x"] == 0
    assert wait_for(lambda: len(repository.asked) == 2)
    time.sleep(0.1)
    start = time.monotonic()
    if how == "closed":
        rows.close()  # type: ignore[attr-defined]  # a generator
    del rows
    gc.collect()
    assert time.monotonic() - start < 20  # else as long as the server waits
    assert no_thread_is_left()
    never.set()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_reads_on_by_itself(url: str) -> None:
    rows = iter(ParquetDataset(url))
    assert [int(next(rows)["x"]) for _ in range(5)] == list(range(5))
    child = os.fork()
    if not child:
        code = 1
        try:
            code = 0 if numbers(rows) == list(range(5, GROUPS * ROWS)) else 2
        finally:
            os._exit(code)
    assert numbers(rows) == list(range(5, GROUPS * ROWS))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert no_thread_is_left()


@pytest.mark.parametrize("workers", [0, 2])
def test_batches_of_loaders_are_those_of_a_local_file(path: Path, url: str, workers: int) -> None:
    found = []
    for file in (path, url):
        dataset = ParquetDataset(file, ("x",), shuffle=True, buffer_size=5)
        loader = DataLoader(dataset, 3, num_workers=workers)
        found.append([batch["x"].tolist() for _ in range(2) for batch in loader])
    assert found[0] == found[1]


def test_a_pass_is_resumed(url: str) -> None:
    def loader() -> DataLoader:
        return DataLoader(ParquetDataset(url, ("x",), shuffle=True, buffer_size=5), 3)

    first, second = loader(), loader()
    batches = iter(first)
    next(batches)
    next(batches)
    second.load_state_dict(first.state_dict())
    rest = [batch["x"].tolist() for batch in batches]
    assert [batch["x"].tolist() for batch in second] == rest
    assert len(rest) == GROUPS * ROWS // 3 - 2


def test_footers_that_are_kept_are_bounded(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(ParquetDataset(url)._footers) == [url]
    monkeypatch.setattr(row_groups, "_FOOTERS_NBYTES", 10)
    dataset = ParquetDataset(url)
    assert not dataset._footers
    assert numbers(dataset) == list(range(GROUPS * ROWS))
