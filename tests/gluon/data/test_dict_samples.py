"""Samples that are dicts, as the rows of Hugging Face's `datasets` are."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.gluon.data import DataLoader, SimpleDataset
from gluonish.gluon.data.batchify import (
    Group,
    Pad,
    Stack,
    default_batchify_fn,
    default_mp_batchify_fn,
)

ROWS = [
    {
        "label": i,
        "score": i / 2,
        "text": f"row {i}",
        "ids": [i, i + 1, i + 2],
        "tokens": ["a"] * (i + 1),
        "vector": np.full(2, i, "float32"),
        "array": nd.full((2,), i),
        "pair": (i, float(i)),
        "inner": {"flag": i % 2 == 0},
    }
    for i in range(5)
]


class Table:
    """The protocol of `datasets.Dataset`: a length, and rows that are dicts."""

    def __len__(self) -> int:
        return len(ROWS)

    def __getitem__(self, index: int) -> dict[str, Any]:
        return dict(ROWS[index])


def check(batch: dict[str, Any], rows: list[int]) -> None:
    assert list(batch) == list(ROWS[0])
    assert batch["label"].dtype == np.int64
    assert batch["label"].tolist() == rows
    assert batch["score"].tolist() == [i / 2 for i in rows]
    assert batch["text"] == [f"row {i}" for i in rows]
    assert batch["ids"].tolist() == [[i, i + 1, i + 2] for i in rows]
    assert batch["tokens"] == [["a"] * (i + 1) for i in rows]
    assert batch["vector"].dtype == np.float32
    assert batch["vector"].tolist() == [[i, i] for i in rows]
    assert batch["array"].tolist() == [[i, i] for i in rows]
    assert [column.tolist() for column in batch["pair"]] == [rows, [float(i) for i in rows]]
    assert batch["inner"]["flag"].tolist() == [i % 2 == 0 for i in rows]


@pytest.mark.parametrize(
    "options",
    [{}, {"num_workers": 1}, {"num_workers": 2, "thread_pool": True}],
    ids=["process", "worker", "threads"],
)
def test_batches_are_dicts(options: dict[str, Any]) -> None:
    batches = list(DataLoader(Table(), 2, **options))
    assert len(batches) == 3
    for batch, rows in zip(batches, ([0, 1], [2, 3], [4]), strict=True):
        check(batch, rows)


def test_transform_gets_the_row() -> None:
    dataset = SimpleDataset(Table()).transform(lambda row: {"x": row["vector"] * 2})
    (batch,) = DataLoader(dataset, 5)
    assert batch["x"].tolist() == [[2 * i, 2 * i] for i in range(5)]


def test_texts_in_tuples_are_lists() -> None:
    image, names = default_batchify_fn([(np.zeros(2), "a"), (np.zeros(2), "b")])
    assert image.shape == (2, 2)
    assert names == ["a", "b"]


def test_images_are_stacked() -> None:
    from PIL import Image

    images = [Image.fromarray(np.full((2, 3, 3), i, np.uint8)) for i in range(2)]
    batch = default_batchify_fn([{"image": image} for image in images])["image"]
    assert batch.dtype == np.uint8
    assert batch.shape == (2, 2, 3, 3)
    assert batch[1].asnumpy().min() == 1


@pytest.mark.parametrize("workers", [0, 1])
def test_fields_have_functions_of_their_own(workers: int) -> None:
    rows = [{"ids": [1, 2, 3], "label": 0, "text": "x"}, {"ids": [4], "label": 1, "text": "y"}]
    group = Group({"ids": Pad(val=9), "label": Stack()})
    (batch,) = DataLoader(rows, 2, batchify_fn=group, num_workers=workers)
    assert batch["ids"].tolist() == [[1, 2, 3], [4, 9, 9]]
    assert batch["label"].tolist() == [0, 1]
    assert "text" not in batch
    with pytest.raises(ArgumentError, match="Group: expected dicts with a field 'length'"):
        Group({"length": Stack()})(rows)


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        ([{"a": 1}, {"b": 1}], ArgumentError, r"expected dicts with the keys \['a'\], got \['b'\]"),
        ([{"a": 1}, 1], ArgumentError, r"expected dicts with the keys \['a'\], got int"),
        ([{"a": None}, {"a": None}], ArgumentTypeError, "field 'a': expected samples of numbers"),
        ([{"a": [1]}, {"a": [1, 2]}], ArgumentError, r"field 'a': .* lengths \[1, 2\]; .*Pad\(\)"),
        (
            [{"a": {"b": np.ones(2)}}, {"a": {"b": np.ones(3)}}],
            ArgumentError,
            r"field 'a': field 'b': expected samples of equal shape, got \[\(2,\), \(3,\)\]",
        ),
    ],
)
def test_mistakes_name_the_field(rows: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        default_batchify_fn(rows)
    with pytest.raises(error, match=message):
        default_mp_batchify_fn(rows)


def test_rows_of_hugging_face() -> None:
    datasets = pytest.importorskip("datasets", reason="needs the package datasets")
    table = datasets.Dataset.from_dict(
        {"label": [0, 1, 2], "ids": [[1, 2], [3, 4], [5, 6]], "text": ["a", "b", "c"]}
    )
    first, last = DataLoader(table, 2)
    assert first["label"].tolist() == [0, 1]
    assert first["ids"].tolist() == [[1, 2], [3, 4]]
    assert last["text"] == ["c"]
    (batch,) = DataLoader(table.with_format("numpy"), 3, shuffle=True, num_workers=1)
    assert sorted(batch["label"].tolist()) == [0, 1, 2]
    loader = DataLoader(SimpleDataset(table).transform(lambda row: row["ids"]), 3)
    assert next(iter(loader)).tolist() == [[1, 2], [3, 4], [5, 6]]


def test_dicts_go_to_devices() -> None:
    batch = {"x": nd.ones(2), "names": ["a", "b"]}
    moved = mx.gluon.data.thread_pool.as_in_context(batch, mx.cpu(1))
    assert moved["x"].context == mx.cpu(1)
    assert moved["names"] == ["a", "b"]
