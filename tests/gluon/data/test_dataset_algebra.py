"""Datasets and samplers against what MXNet 1.9.1 gave, and datasets in worker processes."""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish.gluon.data import (
    ArrayDataset,
    BatchSampler,
    DataLoader,
    Dataset,
    FilterSampler,
    IntervalSampler,
    RandomSampler,
    RecordFileDataset,
    SequentialSampler,
    SimpleDataset,
)
from gluonish.recordio import MXIndexedRecordIO

GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "golden" / "dataset_algebra.json").read_text()
)
ELEVEN = SimpleDataset(list(range(11)))
PAIRS = ArrayDataset(np.arange(6).reshape(3, 2), [5, 6, 7])


def elements(dataset: Dataset) -> list[Any]:
    return [dataset[i] for i in range(len(dataset))]


@pytest.mark.parametrize("case", GOLDEN["shard"])
def test_shards_are_those_of_mxnet(case: str) -> None:
    count, index = map(int, case.split(","))
    assert elements(ELEVEN.shard(count, index)) == GOLDEN["shard"][case]


@pytest.mark.parametrize("case", GOLDEN["take"])
def test_first_elements_are_those_of_mxnet(case: str) -> None:
    assert elements(ELEVEN.take(int(case))) == GOLDEN["take"][case]


def test_chosen_elements_are_those_of_mxnet() -> None:
    assert elements(ELEVEN.take(None)) == GOLDEN["take_all"]
    assert elements(ELEVEN.filter(lambda x: x % 3 == 0)) == GOLDEN["filter"]
    assert elements(ELEVEN.sample(SequentialSampler(4, 3))) == GOLDEN["sample"]
    assert elements(ELEVEN.filter(lambda x: x % 2).shard(2, 1).take(2)) == GOLDEN["chain"]
    assert list(FilterSampler(lambda x: x > 4, ELEVEN)) == GOLDEN["filter_sampler"]


@pytest.mark.parametrize("case", GOLDEN["batches"])
def test_passes_and_their_lengths_are_those_of_mxnet(case: str) -> None:
    last, length, size = case.split(",")
    sampler = BatchSampler(SequentialSampler(int(length)), int(size), last)
    assert [[len(sampler), list(sampler)] for _ in range(4)] == GOLDEN["batches"][case]


@pytest.mark.parametrize("seed", GOLDEN["random"])
def test_random_orders_are_those_of_mxnet(seed: str) -> None:
    np.random.seed(int(seed))  # noqa: NPY002 (what programs seed)
    assert [int(i) for i in RandomSampler(9)] == GOLDEN["random"][seed]


@pytest.mark.parametrize("lazy", [True, False])
def test_transforms_are_those_of_mxnet(lazy: bool) -> None:
    doubled = PAIRS.transform(lambda a, b: [*(2 * a).tolist(), b], lazy)
    assert elements(doubled) == GOLDEN["transform"]
    sums = PAIRS.transform_first(lambda x: x.sum(), lazy)
    assert [list(map(int, element)) for element in elements(sums)] == GOLDEN["transform_first"]
    more = ELEVEN.transform_first(lambda x: x + 1, lazy)
    assert elements(more) == GOLDEN["transform_first_of_singles"]


@pytest.mark.parametrize(("lazy", "here", "later"), [(True, 0, 6), (False, 3, 3)])
def test_lazy_transform_is_called_when_an_element_is_taken(
    lazy: bool, here: int, later: int
) -> None:
    calls: list[int] = []
    dataset = SimpleDataset([1, 2, 3]).transform(calls.append, lazy)
    assert len(calls) == here
    for _ in range(2):
        elements(dataset)
    assert len(calls) == later


class Halved:
    """A transform that is a class of a module that workers cannot import."""

    def __init__(self, by: float) -> None:
        self.by = by

    def __call__(self, x: Any, *rest: Any) -> Any:
        return (x / self.by, *rest) if rest else x / self.by


@pytest.mark.parametrize(
    "dataset",
    [
        PAIRS.transform(Halved(2)),
        PAIRS.transform_first(Halved(2)),
        ArrayDataset(nd.arange(12).reshape((6, 2)), [1, 2, 3, 4, 5, 6]).transform(Halved(4)),
        ArrayDataset(nd.arange(6), np.arange(6)).shard(2, 1).take(2),
        ELEVEN.filter(lambda x: x > 2).transform(Halved(3)).sample(IntervalSampler(8, 3)),
        ArrayDataset(ELEVEN.shard(2, 0), ELEVEN.take(6).transform(lambda x: [x, -x])),
    ],
    ids=["pairs", "first", "ndarray", "sampled", "chain", "datasets"],
)
def test_workers_give_what_the_main_process_gives(dataset: Dataset) -> None:
    def values(num_workers: int) -> list[Any]:
        batches = DataLoader(dataset, 2, num_workers=num_workers)
        return [
            [(part.dtype, part.asnumpy().tolist()) for part in batch]
            if isinstance(batch, list)
            else (batch.dtype, batch.asnumpy().tolist())
            for batch in batches
        ]

    assert values(2) == values(0)


def test_interval_sampler_draws_every_index_or_one_round() -> None:
    # What MXNet draws; the length of one round is that of the round here, and there of all.
    assert list(IntervalSampler(13, 3)) == [0, 3, 6, 9, 12, 1, 4, 7, 10, 2, 5, 8, 11]
    assert list(IntervalSampler(13, 3, rollover=False)) == [0, 3, 6, 9, 12]
    assert (len(IntervalSampler(13, 3)), len(IntervalSampler(13, 3, rollover=False))) == (13, 5)


def test_record_files_are_opened_again_in_each_process(tmp_path: Path) -> None:
    path = tmp_path / "some.rec"
    with_index = MXIndexedRecordIO(str(tmp_path / "some.idx"), str(path), "w")
    records = [bytes([i]) * (i + 1) for i in range(40)]
    for i, record in enumerate(records):
        with_index.write_idx(i, record)
    with_index.close()
    dataset = RecordFileDataset(path)
    assert dataset[7] == records[7]
    assert elements(pickle.loads(pickle.dumps(dataset))) == records
    loader = DataLoader(dataset, 3, num_workers=2, batchify_fn=list)
    for _ in range(2):
        assert [record for batch in loader for record in batch] == records
    assert dataset[39] == records[39]
