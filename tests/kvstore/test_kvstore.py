"""Stores of one process: sums, updates, keys, states."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.config import MXNET_KVSTORE_USETREE
from gluonish.core.context import Context, cpu
from gluonish.core.errors import ArgumentError, ArgumentTypeError, OperatorError
from gluonish.engine import use_engine
from gluonish.kvstore import KVStore, KVStoreBase, create
from gluonish.kvstore.compression import TwoBitCompression
from gluonish.ndarray import NDArray, array, ones, zeros
from gluonish.optimizer import SGD, Adam, Updater
from gluonish.optimizer import create as create_optimizer

GOLDEN = Path(__file__).parents[1] / "golden"
DEVICES = [cpu(0), cpu(1), cpu(2)]


@pytest.fixture(params=["local", "device"])
def store(request: pytest.FixtureRequest) -> KVStore:
    made = create(request.param)
    assert isinstance(made, KVStore)
    return made


def everywhere(value: float, shape: tuple[int, ...] = (2, 2)) -> list[NDArray]:
    return [ones(shape, ctx=device) * (value + i) for i, device in enumerate(DEVICES)]


def pulled(store: KVStore, key: Any, shape: tuple[int, ...] = (2, 2)) -> list[Any]:
    out = [zeros(shape, ctx=device) for device in DEVICES]
    store.pull(key, out=out)
    values = [x.asnumpy() for x in out]
    for value in values:
        np.testing.assert_array_equal(value, value.flat[0])
    return [float(value.flat[0]) for value in values]


def test_first_value_reaches_all_devices(store: KVStore) -> None:
    store.init(3, ones((2, 2)) * 7)
    assert pulled(store, 3) == [7.0, 7.0, 7.0]


def test_stored_value_is_a_copy(store: KVStore) -> None:
    value = ones((2, 2))
    store.init("w", value)
    value[:] = 5
    assert pulled(store, "w") == [1.0] * 3


def test_push_replaces_by_the_sum_over_devices(store: KVStore) -> None:
    store.init("w", ones((2, 2)))
    store.push("w", everywhere(1))
    assert pulled(store, "w") == [6.0] * 3
    store.push("w", ones((2, 2)) * 9)
    assert pulled(store, "w") == [9.0] * 3


def test_pushpull_writes_over_its_values(store: KVStore) -> None:
    store.init(0, zeros((2, 2)))
    values = everywhere(1)
    store.pushpull(0, values)
    assert [x.asnumpy()[0, 0] for x in values] == [6.0] * 3


def test_broadcast_stores_and_delivers(store: KVStore) -> None:
    out = [zeros((2, 2), ctx=device) for device in DEVICES]
    store.broadcast("w", ones((2, 2)) * 3, out=out)
    assert [x.asnumpy()[0, 0] for x in out] == [3.0] * 3


def test_lists_of_keys_take_lists_of_values(store: KVStore) -> None:
    store.init([4, 5], [ones((2, 2)), ones((3,))])
    store.push([4, 5], [everywhere(1), everywhere(2, (3,))])
    assert pulled(store, 4) == [6.0] * 3
    assert pulled(store, 5, (3,)) == [9.0] * 3


def test_key_that_stands_twice_in_a_list_is_added_up(store: KVStore) -> None:
    store.init(1, zeros((2, 2)))
    store.push([1, 1], [ones((2, 2)), ones((2, 2)) * 2])
    assert pulled(store, 1) == [3.0] * 3


def test_pull_converts_the_dtype(store: KVStore) -> None:
    store.init(1, ones((2,)))
    out = zeros((2,), dtype="float16")
    store.pull(1, out=out)
    assert out.asnumpy().tolist() == [1.0, 1.0]


def test_half_precision_is_added_up_in_float32(store: KVStore) -> None:
    store.init(1, zeros((1,), dtype="float16"))
    values = [
        array([v], ctx=d, dtype="float16") for v, d in zip([2048, 1, 1], DEVICES, strict=True)
    ]
    store.pushpull(1, values)
    assert values[0].asnumpy()[0] == 2050


def test_sum_repeats_exactly_on_every_engine() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(size=(3, 300, 300)).astype("float32")
    results = []
    for engine in ("NaiveEngine", "ThreadedEnginePerDevice", "ThreadedEngine"):
        with use_engine(engine):
            store = create("device")
            store.init(0, zeros((300, 300)))
            given = [array(v, ctx=d) for v, d in zip(values, DEVICES, strict=True)]
            store.pushpull(0, given)
            results.append(given[2].asnumpy())
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])
    np.testing.assert_array_equal(results[0], values[0] + values[1] + values[2])


def test_own_updater_gets_key_sum_and_stored_value(store: KVStore) -> None:
    calls = []

    def update(key: Any, gradient: NDArray, weight: NDArray) -> None:
        calls.append((key, gradient.asnumpy()[0, 0]))
        weight += gradient

    store.init(["a", "b"], [ones((2, 2)), ones((2, 2))])
    store._set_updater(update)
    store.push(["a", "b"], [everywhere(1), everywhere(0)])
    assert calls == [("a", 6.0), ("b", 3.0)]
    assert pulled(store, "a") == [7.0] * 3


def test_optimizer_updates_stored_weights(store: KVStore) -> None:
    store.init([0, 1], [ones((2, 2)), ones((2, 2))])
    store.set_optimizer(SGD(learning_rate=0.5))
    store.push([0, 1], [everywhere(1), everywhere(0)])
    assert pulled(store, 0) == [-2.0] * 3
    assert pulled(store, 1) == [-0.5] * 3


def test_updater_that_takes_lists_gets_lists(store: KVStore) -> None:
    store.init([0, 1], [ones((2, 2)), ones((2, 2))])
    store.set_optimizer(SGD())
    indices = []

    class Listening(Updater):
        def __call__(self, index: Any, grad: Any, weight: Any) -> None:
            indices.append(index)
            super().__call__(index, grad, weight)

    store._set_updater(Listening(SGD()))
    store.push([0, 1], [everywhere(1), everywhere(0)])
    assert indices == [[0, 1]]


def test_local_adds_up_on_the_cpu_and_device_on_the_first_device() -> None:
    for kind, place in (("local", cpu(0)), ("device", cpu(2))):
        store = create(kind)
        assert isinstance(store, KVStore)
        store.init(0, ones((2,)))
        store.push(0, [ones((2,), ctx=cpu(2)), ones((2,), ctx=cpu(1))])
        assert store._stored[0].context == place


@pytest.mark.parametrize("optimizer", [SGD(momentum=0.9), Adam()])
def test_optimizer_states_are_saved_and_loaded(
    store: KVStore, optimizer: SGD, tmp_path: Path
) -> None:
    store.init(0, ones((2, 2)))
    store.set_optimizer(optimizer)
    store.push(0, everywhere(1))
    store.save_optimizer_states(tmp_path / "s", dump_optimizer=True)
    other = KVStore("device")
    other.init(0, zeros((2, 2)))
    store.pull(0, out=other._stored[0])
    other.set_optimizer(SGD())
    other.load_optimizer_states(tmp_path / "s")
    for each in (store, other):
        each.push(0, everywhere(2))
    assert pulled(store, 0) == pulled(other, 0)


def test_failed_save_leaves_the_old_file(store: KVStore, tmp_path: Path) -> None:
    (tmp_path / "s").write_text("old")
    optimizer = SGD()
    optimizer.strange = object()  # type: ignore[attr-defined]
    store.set_optimizer(optimizer)
    with pytest.raises(ArgumentTypeError):
        store.save_optimizer_states(tmp_path / "s", dump_optimizer=True)
    assert [p.name for p in tmp_path.iterdir()] == ["s"]
    assert (tmp_path / "s").read_text() == "old"


def test_states_without_optimizer_are_refused(store: KVStore, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="set_optimizer"):
        store.save_optimizer_states(tmp_path / "s")
    with pytest.raises(ArgumentError, match="set_optimizer"):
        store.load_optimizer_states(tmp_path / "s")


def test_compressed_values_are_mxnets() -> None:
    told = json.loads((GOLDEN / "gradient_2bit.json").read_text(encoding="utf-8"))
    store = create("device")
    store.set_gradient_compression({"type": "2bit", "threshold": told["threshold"]})
    shape = tuple(told["shape"])
    store.init("g", zeros(shape))
    for step in told["steps"]:
        values = [array(g, ctx=d) for g, d in zip(step["grads"], DEVICES, strict=False)]
        store.push("g", values)
        out = zeros(shape)
        store.pull("g", out=out)
        np.testing.assert_allclose(out.asnumpy(), np.array(step["pulled"], np.float32))


def test_packed_gradients_are_those_of_the_layout() -> None:
    told = json.loads((GOLDEN / "gradient_2bit.json").read_text(encoding="utf-8"))
    compression = TwoBitCompression(told["threshold"])
    for step in told["steps"]:
        for sender, gradient in enumerate(step["grads"]):
            sent = compression.compress("g", sender, array(gradient), 0).asnumpy()
            packed = compression.pack(sent)
            assert packed.tobytes().hex() == step["packed_hex_derived"][sender]
            np.testing.assert_array_equal(compression.unpack(packed, sent.shape), sent)


def test_local_store_refuses_compression() -> None:
    with pytest.raises(ArgumentError, match="device store, got local"):
        create("local").set_gradient_compression({"type": "2bit"})


def test_mixed_keys_are_refused(store: KVStore) -> None:
    store.init(1, ones((1,)))
    with pytest.raises(ArgumentError, match="one type, got 'a'"):
        store.init("a", ones((1,)))
    with pytest.raises(ArgumentError, match="one type, got 'a'"):
        store.push("a", ones((1,)))


def test_second_init_is_refused(store: KVStore) -> None:
    store.init(1, ones((1,)))
    with pytest.raises(ArgumentError, match="new key, got 1 again"):
        store.init(1, ones((1,)))


def test_unknown_key_is_refused(store: KVStore) -> None:
    store.init(1, ones((1,)))
    with pytest.raises(ArgumentError, match="push: expected a key initialized by init, got 2"):
        store.push(2, ones((1,)))
    with pytest.raises(ArgumentError, match="pull: expected a key initialized by init, got 2"):
        store.pull(2, out=ones((1,)))


def test_other_shapes_and_dtypes_are_refused(store: KVStore) -> None:
    store.init(1, ones((2,)))
    with pytest.raises(ArgumentError, match=r"float32\(2,\) for key 1, got float32\(5,\)"):
        store.push(1, ones((5,)))
    with pytest.raises(ArgumentError, match=r"float32\(2,\) for key 1, got float16\(2,\)"):
        store.push(1, ones((2,), dtype="float16"))
    with pytest.raises(ArgumentError, match=r"pull: .* got float32\(3,\)"):
        store.pull(1, out=zeros((3,)))


@pytest.mark.parametrize(
    ("key", "value", "error", "message"),
    [
        ([1, 2], [1], ArgumentError, r"2 values for \[1, 2\], got 1"),
        (1.5, None, ArgumentTypeError, r"int or str key, got 1\.5"),
        (1, 3.0, ArgumentTypeError, "NDArrays for key 1, got float"),
        (1, [], ArgumentTypeError, "got none"),
    ],
)
def test_wrong_arguments_are_refused(
    store: KVStore, key: Any, value: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        store.init(key, value)


def test_pull_needs_arrays(store: KVStore) -> None:
    store.init(1, ones((1,)))
    with pytest.raises(ArgumentError, match="arrays in out"):
        store.pull(1)


def test_row_sparse_pull_needs_arrays_and_rows(store: KVStore) -> None:
    with pytest.raises(ArgumentError, match="row_sparse_pull: expected arrays in out and row_ids"):
        store.row_sparse_pull(1)


def test_facts_are_those_of_one_process(store: KVStore) -> None:
    assert (store.rank, store.num_workers, store.type) == (0, 1, store._kind)
    assert store.is_capable(KVStoreBase.OPTIMIZER)
    store._barrier()
    with pytest.raises(ArgumentError, match="is_capable: expected 'optimizer', got 'magic'"):
        store.is_capable("magic")


def test_unknown_kind_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"KVStore: expected one of local, .*got 'foo'"):
        KVStore("foo")


def failed(context: Context) -> NDArray:
    """An array whose values were never computed."""

    def fail(out: Any) -> None:
        raise ValueError("no gradient")

    made = zeros((2,), context)
    made._write(fail, name="failing")
    return made


@pytest.mark.parametrize("trees", [False, True])
@pytest.mark.parametrize("updates", [False, True])
def test_push_that_fails_leaves_the_old_value_and_a_usable_store(
    updates: bool, trees: bool
) -> None:
    with use_engine("ThreadedEnginePerDevice"), MXNET_KVSTORE_USETREE.override(trees):
        store = KVStore("device")
        store.init("w", array([1.0, 2.0]))
        if updates:
            store.set_optimizer(create_optimizer("sgd", learning_rate=1.0))
        good = [array([0.25, 0.5], ctx=cpu(i)) for i in range(2)]
        out = [zeros((2,), cpu(i)) for i in range(2)]
        store.pull("w", out)
        store.push("w", [good[0], failed(cpu(1))])
        store.pull("w", out)
        with pytest.raises(OperatorError, match="no gradient"):
            out[1].wait_to_read()
        for x in out:
            assert x.asnumpy().tolist() == [1.0, 2.0]
        store.push("w", good)
        store.pull("w", out)
        for x in out:  # 1 - 0.5 and 2 - 1, or the sums
            assert x.asnumpy().tolist() == [0.5, 1.0]


def test_compressed_push_that_fails_leaves_a_usable_store() -> None:
    with use_engine("ThreadedEnginePerDevice"):
        store = KVStore("device")
        store.set_gradient_compression({"type": "2bit", "threshold": 0.5})
        store.init("w", array([1.0, 2.0]))
        out = zeros((2,))
        store.push("w", [array([0.5, 0.0]), failed(cpu(1))])
        store.pull("w", out)
        with pytest.raises(OperatorError, match="no gradient"):
            out.wait_to_read()
        store.push("w", [array([0.5, 0.0]), array([0.5, -0.5], ctx=cpu(1))])
        store.pull("w", out)
        assert out.asnumpy().tolist() == [1.0, -0.5]


@pytest.mark.parametrize("stored", ["default", "row_sparse"])
@pytest.mark.parametrize("ignore_sparse", [True, False])
def test_pull_leaves_out_sparse_arrays_not_sparse_values(stored: str, ignore_sparse: bool) -> None:
    store = mx.kv.create("local")
    store.init("a", mx.nd.ones((2, 2)).tostype(stored))
    dense, sparse = mx.nd.zeros((2, 2)), mx.nd.sparse.zeros("row_sparse", (2, 2))
    store.pull("a", out=[dense, sparse], ignore_sparse=ignore_sparse)
    assert dense.asnumpy().tolist() == [[1, 1], [1, 1]]
    filled = 0 if ignore_sparse else 1
    assert sparse.asnumpy().tolist() == [[filled] * 2] * 2
    assert sparse.stype == "row_sparse"


def test_row_numbers_may_be_nested_like_the_arrays() -> None:
    store = mx.kv.create("local")
    store.init(["a", "b"], [mx.nd.ones((4, 1)).tostype("row_sparse")] * 2)
    out = [[mx.nd.sparse.zeros("row_sparse", (4, 1)) for _ in range(2)] for _ in range(2)]
    rows = [[mx.nd.array([0, 1])] * 2, [mx.nd.array([2]), mx.nd.array([3])]]
    store.row_sparse_pull(["a", "b"], out=out, row_ids=rows)
    found = [[x.asnumpy().ravel().tolist() for x in part] for part in out]
    assert found == [[[1, 1, 0, 0]] * 2, [[0, 0, 1, 0], [0, 0, 0, 1]]]
