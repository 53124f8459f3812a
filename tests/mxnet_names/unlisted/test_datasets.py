import multiprocessing
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish import nd
from gluonish.core.errors import ArgumentError
from gluonish.gluon.data import DataLoader, SimpleDataset
from gluonish.mxnet_names.unlisted.datasets import (
    ConnectionWrapper,
    DownloadedDataset,
    FilteredDataset,
    LegacyDataLoader,
    Queue,
    SimpleQueue,
    reduce_ndarray,
)


class _Mine(DownloadedDataset):
    def _get_data(self) -> None:
        self._data = nd.arange(6).reshape((3, 2))
        self._label = np.array([1, 2, 3])


def test_files_in_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "one"
    mine = _Mine(str(folder), lambda x, y: (x * 2, y))
    assert folder.is_dir()
    assert len(mine) == 3
    assert mine[1][0].asnumpy().tolist() == [4, 6]
    assert mine[1][1] == 2
    assert _Mine(folder, None)[1][0].asnumpy().tolist() == [2, 3]
    with pytest.raises(NotImplementedError, match="method _get_data"):
        DownloadedDataset(folder, None)
    assert len(_Mine(os.fsencode(folder), None)) == 3
    with pytest.raises(ArgumentError, match="_Mine: expected a path without NUL"):
        _Mine("a\0b", None)


def test_samples_are_chosen() -> None:
    chosen = FilteredDataset(SimpleDataset([1, 2, 3]), lambda x: x > 1)
    assert len(chosen) == 2
    assert list(chosen) == [2, 3]


def test_legacy_loader_is_a_loader() -> None:
    batches = [batch.asnumpy().tolist() for batch in LegacyDataLoader(SimpleDataset([1, 2, 3]), 2)]
    assert batches == [x.asnumpy().tolist() for x in DataLoader(SimpleDataset([1, 2, 3]), 2)]


def _send(queue: Any) -> None:
    queue.put(nd.array([1.0, 2.0]))


@pytest.mark.parametrize("kind", [Queue, SimpleQueue])
def test_arrays_go_through_queues(kind: Any) -> None:
    queue = kind()
    process = multiprocessing.get_context().Process(target=_send, args=(queue,))
    process.start()
    assert queue.get().asnumpy().tolist() == [1, 2]
    process.join(30)


def test_arrays_go_through_connections() -> None:
    here, there = (ConnectionWrapper(end) for end in multiprocessing.Pipe())
    here.send([nd.array([3.0]), "text"])
    assert there.poll(5)
    array, text = there.recv()
    assert (array.asscalar(), text) == (3, "text")


def test_an_array_is_taken_apart_for_pickling() -> None:
    make, arguments, *rest = reduce_ndarray(nd.array([1.0, 2.0]))
    made = make(*arguments)
    if rest and rest[0] is not None:
        made.__setstate__(rest[0])
    assert made.asnumpy().tolist() == [1, 2]
