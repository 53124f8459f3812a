"""The records of a file as a dataset."""

import pickle
from pathlib import Path

import pytest

from gluonish.core.errors import MissingFileError, OutOfBoundsError
from gluonish.gluon.data import DataLoader, RecordFileDataset
from gluonish.recordio import MXIndexedRecordIO

RECORDS = [b"%d" % i * (i + 1) for i in range(10)]


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = MXIndexedRecordIO(str(tmp_path / "a.idx"), str(tmp_path / "a.rec"), "w")
    for i, record in enumerate(RECORDS):
        file.write_idx(100 - i, record)
    file.close()
    return str(tmp_path / "a.rec")


def test_elements_are_the_records_in_the_order_of_the_index(path: str) -> None:
    dataset = RecordFileDataset(path)
    assert [dataset[i] for i in range(len(dataset))] == RECORDS
    assert dataset[-1] == RECORDS[-1]
    assert (dataset.filename, dataset.idx_file) == (path, path[:-3] + "idx")


@pytest.mark.parametrize("kind", [OutOfBoundsError, IndexError])
def test_an_index_beyond_is_told(path: str, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="expected an index below 10, got 10"):
        RecordFileDataset(path)[10]


def test_a_missing_index_is_told(path: str) -> None:
    Path(path).with_suffix(".idx").unlink()
    with pytest.raises(MissingFileError, match=r"a\.idx"):
        RecordFileDataset(path)


def test_it_can_be_sent(path: str) -> None:
    dataset = pickle.loads(pickle.dumps(RecordFileDataset(path)))
    assert dataset[3] == RECORDS[3]


@pytest.mark.parametrize("thread_pool", [False, True])
def test_workers_read_the_records(path: str, thread_pool: bool) -> None:
    dataset = RecordFileDataset(path)
    loader = DataLoader(
        dataset, 3, num_workers=2, batchify_fn=list, thread_pool=thread_pool, timeout=60
    )
    assert [record for batch in loader for record in batch] == RECORDS
