"""Samples that are named tuples."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from gluonish import nd
from gluonish.core.errors import ArgumentError
from gluonish.core.mxnet_rules import Rules, current_rules, follow_mxnet
from gluonish.gluon.data import DataLoader, SimpleDataset
from gluonish.gluon.data.batchify import Stack, default_batchify_fn, default_mp_batchify_fn


class Point(NamedTuple):
    position: Any
    label: Any
    texts: dict[str, str]


class Other(NamedTuple):
    position: Any
    label: int
    texts: dict[str, str]


POINTS = [Point(nd.full((2,), i), i, {"name": f"n{i}"}) for i in range(3)]


def check(batch: Any, rows: list[int]) -> None:
    assert type(batch) is Point
    assert batch.position.tolist() == [[i, i] for i in rows]
    assert batch.label.dtype == np.int64
    assert batch.label.tolist() == rows
    assert batch.texts == {"name": [f"n{i}" for i in rows]}


@pytest.mark.parametrize("batchify", [default_batchify_fn, default_mp_batchify_fn])
def test_batch_of_named_tuples_is_one(batchify: Any) -> None:
    check(batchify(POINTS), [0, 1, 2])
    nested = batchify([(point, 1.0) for point in POINTS])
    assert type(nested) is list
    check(nested[0], [0, 1, 2])


@pytest.mark.parametrize(
    "arguments", [{}, {"num_workers": 1}, {"num_workers": 1, "thread_pool": True}]
)
def test_loader_keeps_the_names(arguments: dict[str, Any]) -> None:
    loader = DataLoader(SimpleDataset(POINTS), 2, **arguments)
    for batch, rows in zip(loader, [[0, 1], [2]], strict=True):
        check(batch, rows)


def test_pinned_batches_keep_the_names() -> None:
    (batch,) = DataLoader(SimpleDataset(POINTS), 3, pin_memory=True)
    check(batch, [0, 1, 2])


@pytest.mark.parametrize("batchify", [default_batchify_fn, default_mp_batchify_fn])
def test_named_tuples_of_two_classes_are_refused(batchify: Any) -> None:
    with pytest.raises(ArgumentError, match="one class, Point, got Other"):
        batchify([POINTS[0], Other(*POINTS[1])])


def rules_in_worker(_: int) -> int:
    return int(current_rules())


@pytest.mark.parametrize("rules", Rules)
@pytest.mark.parametrize(
    "arguments", [{}, {"num_workers": 1}, {"num_workers": 1, "thread_pool": True}]
)
def test_by_the_rules_of_mxnet_batches_are_lists(rules: Rules, arguments: dict[str, Any]) -> None:
    before = follow_mxnet(rules)
    try:
        batch = next(iter(DataLoader(SimpleDataset(POINTS), 3, **arguments)))
        numbers = DataLoader(SimpleDataset([0, 0]).transform(rules_in_worker), 2, **arguments)
        found = next(iter(numbers)).asnumpy().tolist()
    finally:
        follow_mxnet(before)
    assert type(batch) is (Point if rules == Rules.GLUONISH else list)
    assert found == [rules, rules]


def test_plain_tuples_stay_lists() -> None:
    assert type(default_batchify_fn([(1, 2), (3, 4)])) is list
    assert type(Stack()([(1, 2), (3, 4)])) is list
