from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.errors import ArgumentTypeError
from gluonish.mxnet_names.unlisted import devices

X = nd.arange(8).reshape((4, 2))
HALVES = (slice(0, 2), slice(2, 4))


def test_a_batch_is_copied_whole() -> None:
    target = nd.zeros((4, 2))
    devices.load_general([X.asnumpy()], [target], [0])
    np.testing.assert_array_equal(target.asnumpy(), X.asnumpy())


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_a_batch_is_copied_by_slices(axis: int) -> None:
    rows = HALVES if axis == 0 else (slice(0, 1), slice(1, 2))
    shape = {0: (2, 2), 1: (4, 1), -1: (4, 2)}[axis]
    targets = [nd.zeros(shape, dtype="float64") for _ in rows]
    devices.load_general([X], [list(zip(rows, targets, strict=True))], [axis])
    parts = [X.asnumpy()] * 2 if axis < 0 else np.split(X.asnumpy(), 2, axis)
    for target, part in zip(targets, parts, strict=True):
        np.testing.assert_array_equal(target.asnumpy(), part)


def test_data_and_labels_of_a_batch_are_copied() -> None:
    batch = mx.io.DataBatch([X], [nd.arange(4)])
    for load, load_by_rows, shape, values in (
        (devices.load_data, devices.load_batch_data, (2, 2), X),
        (devices.load_label, devices.load_batch_label, (2,), nd.arange(4)),
    ):
        by_axis, by_rows = [nd.zeros(shape) for _ in HALVES], [nd.zeros(shape) for _ in HALVES]
        load(batch, [list(zip(HALVES, by_axis, strict=True))], [0])
        load_by_rows(batch, [list(zip(HALVES, by_rows, strict=True))])
        for found in (by_axis, by_rows):
            joined = nd.concat(*found, dim=0).asnumpy()
            np.testing.assert_array_equal(joined, values.asnumpy())


def test_outputs_of_devices_are_joined() -> None:
    outputs = [[nd.ones((2, 1)), nd.zeros((1, 1))], [nd.ones((2, 1)), nd.zeros((1, 1))]]
    joined, first = devices.merge_multi_context(outputs, [0, -1])
    assert joined.asnumpy().ravel().tolist() == [1, 1, 0]
    assert first is outputs[1][0]


def test_sparse_weights_need_a_store() -> None:
    store, in_store = devices.create_sparse_kvstore("local")
    assert in_store
    assert devices.create_sparse_kvstore(store) == (store, True)
    with pytest.raises(ArgumentTypeError, match="row_sparse weights, got None"):
        devices.create_sparse_kvstore(None)  # type: ignore[arg-type]


def test_functions_are_called_in_a_row() -> None:
    calls: list[Any] = []
    for callbacks in (None, calls.append, [calls.append, calls.append]):
        devices.call_all(callbacks, 1)
    assert calls == [1, 1, 1]
