"""Sums along trees on CPU devices are those of the list; big arrays take all trees."""

import logging
from collections.abc import Iterator

import numpy as np
import pytest

from gluonish.core.config import (
    MXNET_KVSTORE_LOGTREE,
    MXNET_KVSTORE_TREE_ARRAY_BOUND,
    MXNET_KVSTORE_TREE_BACKTRACK,
    MXNET_KVSTORE_USETREE,
)
from gluonish.core.context import cpu
from gluonish.kvstore import KVStore
from gluonish.ndarray import NDArray, array, zeros
from gluonish.tools.env_checks.threads import engine_trace


@pytest.fixture(autouse=True)
def use_trees() -> Iterator[None]:
    with MXNET_KVSTORE_USETREE.override(True):
        yield


def values(count: int, dtype: str, shape: tuple[int, ...] = (5, 7)) -> list[NDArray]:
    rng = np.random.default_rng(count)
    raw = [rng.uniform(-9, 9, shape).astype(dtype) for _ in range(count)]
    return [array(x, ctx=cpu(i), dtype=dtype) for i, x in enumerate(raw)]


def pushed_and_pulled(given: list[NDArray]) -> list[np.ndarray]:
    store = KVStore("device")
    store.init("w", zeros(given[0].shape, dtype=given[0].dtype))
    store.push("w", given)
    out = [zeros(x.shape, x.context, x.dtype) for x in given]
    store.pull("w", out)
    return [x.asnumpy() for x in out]


@pytest.mark.parametrize("bound", [10_000_000, 0], ids=["one tree", "all trees"])
@pytest.mark.parametrize("backtrack", [False, True])
@pytest.mark.parametrize("count", [2, 3, 4, 5, 6, 7, 8])
def test_integers_give_the_exact_sum(count: int, backtrack: bool, bound: int) -> None:
    given = values(count, "int32")
    before = [x.asnumpy() for x in given]
    with (
        MXNET_KVSTORE_TREE_BACKTRACK.override(backtrack),
        MXNET_KVSTORE_TREE_ARRAY_BOUND.override(bound),
    ):
        for found in pushed_and_pulled(given):
            np.testing.assert_array_equal(found, sum(before))
    for x, expected in zip(given, before, strict=True):
        np.testing.assert_array_equal(x.asnumpy(), expected)


@pytest.mark.parametrize("bound", [10_000_000, 0], ids=["one tree", "all trees"])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-6), ("float16", 1e-3)])
def test_floats_differ_by_rounding_only_and_repeat(
    dtype: str, tolerance: float, bound: int
) -> None:
    given = values(8, dtype)
    exact = sum(x.asnumpy().astype("float64") for x in given)
    with MXNET_KVSTORE_TREE_ARRAY_BOUND.override(bound):
        first, again = pushed_and_pulled(given), pushed_and_pulled(given)
    for found, repeated in zip(first, again, strict=True):
        np.testing.assert_allclose(found, exact, rtol=tolerance, atol=8 * tolerance)
        np.testing.assert_array_equal(found, repeated)


def lanes(size: int) -> set[int]:
    """Numbers of the devices that add."""
    given = values(4, "float32", (size,))
    with engine_trace() as ran:
        pushed_and_pulled(given)
    return {entry.lane[1] for entry in ran if entry.name == "kvstore_tree"}  # type: ignore[index]


def test_a_big_array_is_added_up_on_all_devices() -> None:
    with MXNET_KVSTORE_TREE_ARRAY_BOUND.override(100):
        assert lanes(101) == {0, 1, 2, 3}
        assert len(lanes(100)) == 2  # two receivers in the first round, one of them in the second


def test_trees_are_logged_on_request(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "gluonish"):
        pushed_and_pulled(values(2, "float32"))
        assert not caplog.records
        with MXNET_KVSTORE_LOGTREE.override(True):
            pushed_and_pulled(values(2, "float32"))
    (record,) = caplog.records
    assert "links between cpu(0), cpu(1)\n  0 1\n  1 0\n  tree to 0: 1->0" in record.getMessage()
