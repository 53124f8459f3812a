"""Tables and columns of polars, pandas and pyarrow as arrays, datasets and batches."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.errors import ArgumentTypeError
from gluonish.gluon.data import ArrayDataset, DataLoader, SimpleDataset

VALUES: dict[str, list[Any]] = {"a": [1, 2, 3], "b": [1.5, 2.5, 3.5], "c": ["x", "y", "z"]}


def _polars(values: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("polars", reason="needs the package polars").DataFrame(values)


def _pandas(values: dict[str, list[Any]]) -> Any:
    # Another index than 0, 1, 2: rows are counted.
    pandas = pytest.importorskip("pandas", reason="needs the package pandas")
    return pandas.DataFrame(values, index=[7, 8, 9][: len(next(iter(values.values())))])


def _pyarrow(values: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("pyarrow", reason="needs the package pyarrow").table(values)


MAKERS = {"polars": _polars, "pandas": _pandas, "pyarrow": _pyarrow}
Make = Callable[[dict[str, list[Any]]], Any]


@pytest.fixture(params=MAKERS, name="make")
def _make(request: pytest.FixtureRequest) -> Make:
    return MAKERS[request.param]


def test_columns_become_arrays(make: Make) -> None:
    table = make(VALUES)
    assert nd.array(table["a"]).tolist() == [1, 2, 3]
    assert nd.array(table["a"], dtype="int64").dtype == np.int64
    assert mx.np.array(table["b"]).tolist() == [1.5, 2.5, 3.5]


def test_tables_of_numbers_become_matrices(make: Make) -> None:
    table = make({"a": VALUES["a"], "b": VALUES["b"]})
    for found in (nd.array(table), mx.np.array(table)):
        assert found.tolist() == [[1, 1.5], [2, 2.5], [3, 3.5]]


def test_missing_values_are_nan_or_refused(make: Make) -> None:
    table = make({"a": [1.0, None, 3.0]})
    found = nd.array(table["a"])
    assert np.isnan(found.asnumpy()).tolist() == [False, True, False]
    message = r"array: expected a column without missing values, got column 'a' of .* with 1"
    with pytest.raises(ArgumentTypeError, match=message):
        nd.array(table, dtype="int32")


def test_text_is_refused_by_name(make: Make) -> None:
    message = "expected numbers, got column 'c' of .*; leave it out"
    for call in (nd.array, mx.np.array, ArrayDataset):
        with pytest.raises(ArgumentTypeError, match=message):
            call(make(VALUES))


def test_columns_and_tables_are_items_of_datasets(make: Make) -> None:
    table = make(VALUES)
    features = make({"a": VALUES["a"], "b": VALUES["b"]})
    dataset = ArrayDataset(features, table["a"], table["c"])
    row, label, text = dataset[1]
    assert row.tolist() == [2, 2.5]
    assert (label, text) == (2, "y")
    rows, labels, texts = next(iter(DataLoader(dataset, 2)))
    assert rows.shape == (2, 2)
    assert labels.tolist() == [1, 2]
    assert texts == ["x", "y"]


@pytest.mark.parametrize("workers", [0, 1])
def test_rows_of_a_table_are_dicts(make: Make, workers: int) -> None:
    table = make(VALUES)
    first, last = DataLoader(table, 2, num_workers=workers)
    assert first["a"].tolist() == [1, 2]
    assert first["a"].dtype == np.int64
    assert last["b"].tolist() == [3.5]
    assert first["c"] == ["x", "y"]
    assert next(iter(DataLoader(table["b"], 3))).tolist() == VALUES["b"]
    dataset = SimpleDataset(table).transform(lambda row: (row["a"] * 2, row["c"]))
    assert len(dataset) == 3
    assert dataset[2] == (6, "z")


def test_iterators_take_them(make: Make) -> None:
    table = make({"a": VALUES["a"], "b": VALUES["b"]})
    batch = mx.io.NDArrayIter(table, table["a"], 3).next()
    assert batch.data[0].tolist() == [[1, 1.5], [2, 2.5], [3, 3.5]]
    assert batch.label[0].tolist() == [1, 2, 3]


def test_arrow_arrays_are_exchanged_by_dlpack() -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="needs the package pyarrow")
    values = pyarrow.array([1, 2, 3])
    assert nd.from_dlpack(values).tolist() == [1, 2, 3]
    assert nd.array(pyarrow.chunked_array([[1, 2], [3]])).tolist() == [1, 2, 3]
