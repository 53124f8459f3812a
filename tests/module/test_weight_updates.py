from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError
from gluonish.kvstore import KVStoreBase, create
from gluonish.module.weight_updates import choose_store
from tests.module.networks import assert_same, batch, bound, numpy_of

TWO = [mx.cpu(0), mx.cpu(1)]


@KVStoreBase.register
class AddingStore(KVStoreBase):
    """A store of a user's, which adds up and can do nothing else."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def broadcast(self, key: Any, value: Any, out: Any, priority: int = 0) -> None:
        for target in out:
            value.copyto(target)

    def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
        self.calls.append((key, priority))
        total = value[0].copy()
        for x in value[1:]:
            total += x.as_in_context(total.context)
        for target in value if out is None else out:
            total.copyto(target)

    @staticmethod
    def is_capable(capability: str) -> bool:
        return False

    type = "adding"
    rank = 0
    num_workers = 1


def stepped(**settings: Any) -> dict[str, Any]:
    module = bound(context=TWO)
    module.init_optimizer(optimizer_params={"learning_rate": 0.1, "momentum": 0.9}, **settings)
    for seed in range(3):
        module.forward_backward(batch(seed=seed))
        module.update()
    return numpy_of(module.get_params()[0])


def test_a_store_that_only_adds_leaves_updates_to_the_devices() -> None:
    store = AddingStore()
    assert_same(stepped(kvstore=store), stepped(), 1e-6)
    assert store.calls[:4] == [
        ("fc1_weight", 0),
        ("fc1_bias", -1),
        ("fc2_weight", -2),
        ("fc2_bias", -3),
    ]
    assert_same(stepped(kvstore="AddingStore"), stepped(), 1e-6)


def test_a_store_without_compression_is_not_asked_for_it() -> None:
    module = bound(context=TWO, compression_params={"type": "2bit"})
    with pytest.raises(ArgumentError, match="which has no gradient compression"):
        module.init_optimizer(kvstore=AddingStore())


def test_a_store_given_serves_one_device_too() -> None:
    store = create("local")
    assert choose_store(store, 1, {}) == (store, True)
    assert choose_store("local", 1, {}) == (None, False)
    assert choose_store(None, 2, {}) == (None, False)


def test_large_weights_are_not_updated_in_a_local_store() -> None:
    """16 M elements are the limit; views of one element make no such array."""
    large = mx.nd.broadcast_to(mx.nd.zeros((1,)), shape=(1,))
    assert choose_store("local", 2, {"w": large})[1] is True
    sized = type("Sized", (), {"size": (16 << 20) + 1})()
    assert choose_store("local", 2, {"w": sized})[1] is False  # type: ignore[dict-item]
    assert choose_store("device", 2, {"w": sized})[1] is True  # type: ignore[dict-item]


def test_the_environment_takes_updates_out_of_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MXNET_UPDATE_ON_KVSTORE", "0")
    assert choose_store("local", 2, {})[1] is False


def test_arrays_are_gathered_once_while_none_moves() -> None:
    module = bound(context=TWO)
    module.init_optimizer()
    seen = []
    for rows in (8, 8, 4):
        module.forward_backward(batch(rows))
        module.update()
        seen.append(module._updates._members)
    assert seen[0] is seen[1]
    assert all(x.weights[0] is y.weights[0] for x, y in zip(seen[0], seen[2], strict=True))
    np.testing.assert_equal(len(seen[2]), 4)
