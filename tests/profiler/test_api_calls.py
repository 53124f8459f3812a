from collections import Counter
from typing import Any

import pytest

import gluonish as mx
from gluonish import profiler
from gluonish.kvstore import KVStoreBase
from gluonish.ndarray import NDArray
from gluonish.profiler.recorder import recorder
from gluonish.profiler.state import recording
from gluonish_engine import Engine


def calls(category: str = "api") -> Counter[str]:
    return Counter(e.name for e in recorder.events() if e.category == category)


def test_operators_methods_and_waits_are_recorded() -> None:
    x = mx.nd.ones((2, 3))
    with recording():
        y = mx.nd.relu(x) + x
        y.asnumpy()
        y.copyto(mx.cpu(1)).wait_to_read()
        mx.nd.waitall()
        found, waits = calls(), calls("wait")
    assert found["invoke:relu"] == found["invoke:broadcast_add"] == 1
    assert found["NDArray.asnumpy"] == found["NDArray.copyto"] == 1
    assert found["NDArray.wait_to_read"] == 1
    assert waits["wait_all"] == 1
    assert waits["wait"] >= 2


def test_training_is_recorded() -> None:
    net = mx.gluon.nn.Dense(2, in_units=3)
    net.initialize()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd")
    with recording():
        with mx.autograd.record():
            loss = net(mx.nd.ones((4, 3))).sum()
        loss.backward()
        trainer.step(4)
        found = calls()
    assert found["Trainer.step"] == found["NDArray.backward"] == 1


def test_stores_of_others_are_recorded() -> None:
    class OwnStore(KVStoreBase):
        def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
            """Do nothing."""

    store = OwnStore()
    with recording():
        store.pushpull(1, None)
        mx.nd.sparse.zeros("row_sparse", (2, 2)).asnumpy()
        found = calls()
    assert found["OwnStore.pushpull"] == 1
    assert sum(count for name, count in found.items() if name.endswith(".asnumpy")) >= 1


def test_calls_that_raise_are_recorded() -> None:
    with recording():
        with pytest.raises(mx.MXNetError):
            mx.nd.dot(mx.nd.ones((2, 3)), mx.nd.ones((2, 3)))
        assert calls()["invoke:dot"] == 1


def test_methods_are_their_own_again_at_the_end() -> None:
    before = dict(vars(NDArray)), [dict(vars(kind)) for kind in Engine.__subclasses__()]
    with recording():
        assert vars(NDArray)["asnumpy"] is not before[0]["asnumpy"]
    assert before == (dict(vars(NDArray)), [dict(vars(kind)) for kind in Engine.__subclasses__()])


def test_nothing_is_recorded_without_the_option() -> None:
    with recording():
        profiler.set_config(profile_api=False, continuous_dump=False)
        mx.nd.ones((2,)).asnumpy()
        assert not calls()
        assert not calls("wait")
