"""A pushpull of the arrays of the one before, against stores that never do the same twice."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.errors import OperatorError
from gluonish.kvstore import KVStore
from gluonish.optimizer import create

DEVICES = (mx.cpu(0), mx.cpu(1), mx.cpu(2))
SHAPES = ((3,), (2, 2), (1,), (5, 1))


def _arrays(seed: int, dtype: str = "float32") -> list[list[nd.NDArray]]:
    rng = np.random.default_rng(seed)
    return [
        [nd.array(rng.standard_normal(shape), dtype=dtype, ctx=ctx) for ctx in DEVICES]
        for shape in SHAPES
    ]


def _store(optimizer: str, dtype: str = "float32", kind: str = "device", **options: Any) -> Any:
    store = KVStore(kind)
    half = dtype == "float16"
    store.set_optimizer(create(optimizer, learning_rate=0.1, multi_precision=half, **options))
    weights = _arrays(0, dtype)
    for key, arrays in enumerate(weights):
        store.init(key, arrays[0])
    return store, weights


def _fill(grads: list[list[nd.NDArray]], seed: int) -> None:
    for old, new in zip(grads, _arrays(seed, grads[0][0].dtype), strict=True):
        for x, y in zip(old, new, strict=True):
            x[:] = y


@pytest.mark.parametrize("kind", ["device", "local"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize(
    ("optimizer", "options"), [("sgd", {"momentum": 0.9}), ("adam", {}), ("sgd", {"wd": 0.1})]
)
def test_equals_push_and_pull(
    optimizer: str, options: dict[str, Any], dtype: str, kind: str
) -> None:
    store, weights = _store(optimizer, dtype, kind, **options)
    other, expected = _store(optimizer, dtype, kind, **options)
    grads, keys = _arrays(1, dtype), list(range(len(SHAPES)))
    for step in range(4):
        _fill(grads, step)
        store.pushpull(keys, grads, out=weights)
        assert store._program is not None
        other.push(keys, grads)
        other.pull(keys, expected)
    for arrays, wanted in zip(weights, expected, strict=True):
        for x, y in zip(arrays, wanted, strict=True):
            np.testing.assert_array_equal(x.asnumpy(), y.asnumpy())


def test_other_arrays_are_not_taken_for_those_before() -> None:
    store, weights = _store("sgd")
    other, expected = _store("sgd")
    keys = list(range(len(SHAPES)))
    for step in range(3):
        store.pushpull(keys, _arrays(step), out=weights)
        other.push(keys, _arrays(step))
    other.pull(keys, expected)
    np.testing.assert_array_equal(weights[1][2].asnumpy(), expected[1][2].asnumpy())


@pytest.mark.parametrize("case", ["large", "sparse", "twice", "same target", "one key"])
def test_what_it_is_not_for(case: str) -> None:
    store, weights = _store("sgd")
    keys: Any = [0, 1]
    grads, outs = _arrays(1)[:2], weights[:2]
    if case == "large":
        store.init(9, nd.zeros((300, 300)))
        keys, grads, outs = (
            [9, 0],
            [[nd.ones((300, 300))], grads[0]],
            [[nd.ones((300, 300))], outs[0]],
        )
    elif case == "sparse":
        grads[1] = [x.tostype("row_sparse") for x in grads[1]]
    elif case == "twice":
        keys, grads, outs = [0, 0], [grads[0], grads[0]], [outs[0], outs[0]]
    elif case == "same target":
        outs = [outs[0], [outs[1][0], outs[1][0]]]
    else:
        keys, grads, outs = 0, grads[0], outs[0]  # type: ignore[assignment]
    store.pushpull(keys, grads, out=outs)
    assert store._program is None


def test_failed_gradient_leaves_weights_as_they_were() -> None:
    store, weights = _store("sgd")
    grads, keys = _arrays(1), list(range(len(SHAPES)))
    store.pushpull(keys, grads, out=weights)
    before = weights[0][1].asnumpy()

    def fail(_out: Any) -> None:
        raise OperatorError("no gradient")

    grads[0][0]._write(fail)
    store.pushpull(keys, grads, out=weights)
    with pytest.raises(mx.MXNetError, match="no gradient"):
        weights[0][1].asnumpy()
    np.testing.assert_array_equal(weights[0][1].asnumpy(), before)
    _fill(grads, 5)
    store.pushpull(keys, grads, out=weights)
    assert not np.array_equal(weights[0][1].asnumpy(), before)


def test_settings_of_the_store_end_it() -> None:
    store, weights = _store("sgd")
    grads, keys = _arrays(1), list(range(len(SHAPES)))
    store.pushpull(keys, grads, out=weights)
    store.set_gradient_compression({"type": "2bit", "threshold": 0.5})
    store.pushpull(keys, grads, out=weights)
    assert store._program is None


def test_a_weight_of_another_dtype_ends_it() -> None:
    store, weights = _store("sgd")
    grads, keys = _arrays(1), list(range(len(SHAPES)))
    store.pushpull(keys, grads, out=weights)
    store._overwrite(0, nd.ones(SHAPES[0], dtype="float64"))
    grads[0] = [x.astype("float64") for x in grads[0]]
    store.pushpull(keys, grads, out=weights)
    expected = 1 - 0.1 * sum(x.asnumpy() for x in grads[0])
    np.testing.assert_allclose(weights[0][1].asnumpy(), expected, rtol=1e-6)


def test_single_arrays_in_lists_are_another_call() -> None:
    store, weights = _store("sgd")
    grads, keys = _arrays(1), list(range(len(SHAPES)))
    store.pushpull(keys, grads, out=weights)
    store.pushpull(keys, [x[0] for x in grads], out=[x[0] for x in weights])
    assert store._program is None
