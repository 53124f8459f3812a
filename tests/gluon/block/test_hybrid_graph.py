import sys
import threading
from typing import Any

import numpy as np
import pytest

from gluonish.autograd import pause, record, train_mode
from gluonish.core.context import cpu
from gluonish.core.errors import ParameterError
from gluonish.core.random_state import seed
from gluonish.gluon.block import hybrid_graph
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.block.hybrid_graph import HybridGraph
from gluonish.gluon.block.tracing import is_symbolic
from gluonish.gluon.nn import (
    ELU,
    GELU,
    BatchNorm,
    Dense,
    Dropout,
    Embedding,
    HybridSequential,
    LeakyReLU,
)
from gluonish.ndarray import NDArray, ones


class Forward(HybridBlock):
    def forward(self, x: Any) -> Any:
        return x


def _graph(net: HybridBlock) -> HybridGraph:
    net.hybridize()
    net(ones((2, 3)))
    (graph,) = net._graphs.values()
    return graph  # type: ignore[return-value]


def test_a_block_is_symbolic_if_all_in_it_compute_by_hybrid_forward() -> None:
    net = HybridSequential()
    net.add(Dense(2))
    assert is_symbolic(net)
    net.add(Forward())
    assert not is_symbolic(net)


def test_parameters_are_looked_up_again_only_when_their_arrays_are_new() -> None:
    net = Dense(2, in_units=3)
    net.initialize()
    graph = _graph(net)
    x = ones((1, 3))
    graph.run([x])
    bound = graph._bound[x._device]
    program = graph._programs[x._device]
    net.weight.set_data(ones((2, 3)))
    graph.run([x])
    assert graph._bound[x._device] is bound
    assert graph._programs[x._device] is program
    net.cast("float64")
    graph.run([x.astype("float64")])
    assert graph._bound[x._device].work[0].dtype == np.float64


@pytest.mark.parametrize(
    "x",
    [ones((1, 3)), ones((2, 3), dtype="float64"), ones((2, 3), ctx=cpu(1))],
    ids=["shape", "dtype", "device"],
)
def test_other_data_are_another_call(x: NDArray) -> None:
    net = ELU()
    graph, before = _graph(net), ones((2, 3))
    program = graph._programs[before._device]
    np.testing.assert_array_equal(graph.run([x]).asnumpy(), x.asnumpy())
    assert graph._programs[x._device] is not program
    np.testing.assert_array_equal(graph.run([before]).asnumpy(), before.asnumpy())


@pytest.mark.parametrize("mode", [record, train_mode])
def test_another_mode_is_another_call(mode: Any) -> None:
    graph, x = _graph(Dropout(0.5)), ones((2, 3))
    with mode():
        assert not np.array_equal(graph.run([x]).asnumpy(), x.asnumpy())
    np.testing.assert_array_equal(graph.run([x]).asnumpy(), x.asnumpy())


def test_a_recorded_call_is_recorded_each_time() -> None:
    net = Dense(2, in_units=3)
    net.initialize()
    graph, x = _graph(net), ones((2, 3))
    for _ in range(2):
        graph.run([x])
        with record(train_mode=False):
            assert graph.run([x])._edge is not None


def test_threads_in_different_modes_share_a_graph() -> None:
    net = Dense(2, in_units=3)
    net.initialize()
    net.hybridize()
    x = ones((1, 3))
    expected = net(x).asnumpy()
    wrong: list[object] = []

    def work(train: bool) -> None:
        try:
            for _ in range(300):
                with record() if train else pause():
                    y = net(x)
                if (y.asnumpy() != expected).any() or (y._edge is not None) != train:
                    wrong.append(y)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(bool(i % 2),), daemon=True) for i in range(4)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        sys.setswitchinterval(before)
    assert not any(thread.is_alive() for thread in threads)
    assert wrong == []


def test_named_parameters_tell_arguments_from_auxiliary_states() -> None:
    net = BatchNorm(prefix="bn_", in_channels=3)
    net.initialize()
    assert list(_graph(net).named_parameters()) == [
        "arg:bn_gamma",
        "arg:bn_beta",
        "aux:bn_running_mean",
        "aux:bn_running_var",
    ]


@pytest.mark.parametrize("shape", [(7,), (3, 700)])
def test_a_hybridized_network_draws_what_it_draws_without(shape: tuple[int, ...]) -> None:
    net = HybridSequential()
    net.add(GELU(), Dropout(0.5), ELU(), LeakyReLU(0.1), Dropout(0.3))

    def results() -> list[Any]:
        seed(5)
        with record():
            return [net(ones(shape)).asnumpy() for _ in range(2)]

    eager = results()
    net.hybridize()
    np.testing.assert_allclose(results(), eager, rtol=1e-6)


def test_a_shape_that_does_not_follow_from_the_inputs_is_refused() -> None:
    class Open(HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.w = self.params.get("w", shape=(0, 3), allow_deferred_init=True)

        def hybrid_forward(self, F: Any, x: Any, w: Any) -> Any:
            return F.dot(x, w, transpose_b=True)

    net = Open()
    net.initialize()
    net.hybridize()
    with pytest.raises(ParameterError, match=r"_w: expected a .*shape.*pass in_units"):
        net(ones((2, 3)))


def test_the_first_recorded_call_has_the_memory_of_gradients_committed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    committed: list[tuple[int, ...]] = []
    monkeypatch.setattr(
        hybrid_graph, "commit_soon", lambda arrays: committed.extend(x.shape for x in arrays)
    )
    net = Dense(2)
    net.bias.grad_req = "null"
    net.initialize()
    net.hybridize()
    with record():
        net(ones((2, 3)))
    assert committed == [(2, 3)]  # of the weight, whose shape was not known before


def test_a_call_that_is_not_recorded_commits_no_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hybrid_graph, "commit_soon", lambda arrays: pytest.fail("no backward pass"))
    net = Dense(2)
    net.initialize()
    _graph(net)


def test_a_recorded_call_commits_no_sparse_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    committed: list[object] = []
    monkeypatch.setattr(hybrid_graph, "commit_soon", committed.extend)
    net = Embedding(4, 2, sparse_grad=True)
    net.initialize()
    net.hybridize()
    with record():
        net(ones((3,)))
    assert not committed
