"""CUDA graphs of a real device: what networks give with them is what they give without."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.config import (
    GLUONISH_CUDA_MOVE,
    MXNET_ENABLE_CUDA_GRAPHS,
    MXNET_GPU_WORKER_NSTREAMS,
)
from gluonish.tools.env_checks import CHECKS
from tests.kernels.cupy.graph_programs import (
    GPU,
    NETS,
    Attention,
    both,
    graphs,
    inference,
    made,
    training,
)

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(300)]


ONE_STREAM = MXNET_GPU_WORKER_NSTREAMS.value == 1
# Graphs of ten calls, whose first ones run as they are and are captured: on each stream anew.
LEAST = 8 if ONE_STREAM else 2


@pytest.mark.skipif(not ONE_STREAM, reason="its few calls launch no graph on several streams")
def test_variable_acts() -> None:
    assert CHECKS["MXNET_ENABLE_CUDA_GRAPHS"]()


def near(got: list[Any], want: list[Any]) -> None:
    assert len(got) == len(want)
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", NETS)
@pytest.mark.parametrize("run", [inference, training])
def test_ten_steps_on_changing_batches(run: Any, name: str) -> None:
    got, want, launches = both(lambda: run(*NETS[name], 10))
    near(got, want)
    assert launches >= LEAST


def test_other_random_numbers_at_each_call() -> None:
    with MXNET_ENABLE_CUDA_GRAPHS.override(True), mx.autograd.train_mode():
        net, x = made(Attention), nd.ones((2, 4, 8), ctx=GPU)
        found = [net(x).asnumpy().tobytes() for _ in range(6)]
    assert len(set(found)) == 6


def test_memory_of_the_pool_does_not_matter() -> None:
    def run() -> list[Any]:
        net, x = made(Attention), nd.ones((2, 4, 8), ctx=GPU)
        found = []
        for _ in range(8):
            found.append(net(x).asnumpy())
            kept = [nd.full((size,), np.nan, ctx=GPU) for size in (1, 64, 1024, 1 << 18) * 8]
            nd.waitall()
            del kept
            GPU.empty_cache()
        return found

    got, want, launches = both(run)
    near(got, want)
    assert launches >= LEAST // 2


def test_operators_that_no_graph_can_hold_run_between_graphs() -> None:
    class Net(mx.gluon.nn.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope():
                self.first, self.last = mx.gluon.nn.Dense(8, flatten=False), mx.gluon.nn.Dense(3)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            x = F.relu(self.first(x))
            square = F.batch_dot(x, x, transpose_b=True) + F.expand_dims(F.eye(4), 0)
            return self.last(F.linalg_inverse(square) * 2 + 1)

    got, want, launches = both(lambda: inference(Net, (2, 4, 5), 10))
    near(got, want)
    assert launches >= LEAST


def elementwise() -> mx.gluon.nn.HybridBlock:
    return mx.gluon.nn.HybridLambda(lambda F, x: F.sum(F.tanh(x) * 2 + 1, axis=1))


def stem() -> mx.gluon.nn.HybridBlock:
    """Three channels that a launch of ours pads, and the first layers of a ResNet."""
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Conv2D(16, 3, strides=2, padding=1, in_channels=3, use_bias=False))
    net.add(mx.gluon.nn.BatchNorm(in_channels=16), mx.gluon.nn.Activation("relu"))
    net.cast("bfloat16")
    return net


def bits_of_calls(make: Any, batches: list[Any]) -> tuple[list[Any], int]:
    """Return the sums of outputs on arrays that take turns, and how many of these are moved."""
    with MXNET_ENABLE_CUDA_GRAPHS.override(True):
        before = {id(replay) for replay in tuple(graphs()._living)}
        net, found = made(make), []
        for i in range(2 * len(batches)):
            found.append(net(batches[i % len(batches)]).astype("float32").sum(axis=0).asnumpy())
        replays = [x for x in tuple(graphs()._living) if id(x) not in before]
        return found, sum(len(replay.moves) for replay in replays)


@pytest.mark.skipif(not ONE_STREAM, reason="its few calls launch no graph on several streams")
@pytest.mark.parametrize(
    ("make", "shape", "dtype"),
    [(elementwise, (2048, 1024), "float32"), (stem, (56, 3, 128, 128), "bfloat16")],
)
def test_graphs_that_read_arrays_where_they_are_give_the_bits_of_copies(
    make: Any, shape: tuple[int, ...], dtype: str
) -> None:
    """Arrays at five addresses; all launches of the first network that read them are ours."""
    random = np.random.default_rng(3)
    batches = [nd.array(random.standard_normal(shape), ctx=GPU, dtype=dtype) for _ in range(5)]
    with GLUONISH_CUDA_MOVE.override(False):
        want, copied = bits_of_calls(make, batches)
    got, moved = bits_of_calls(make, batches)
    assert not copied
    assert moved or make is stem
    for one, other in zip(got, want, strict=True):
        np.testing.assert_array_equal(one.view("u4"), other.view("u4"))


@pytest.mark.skipif(not ONE_STREAM, reason="its few calls launch no graph on several streams")
def test_variable_of_moving_arrays_acts() -> None:
    assert CHECKS["GLUONISH_CUDA_MOVE"]()


def test_graphs_go_with_their_network() -> None:
    with MXNET_ENABLE_CUDA_GRAPHS.override(True):
        net, x = made(Attention), nd.ones((2, 4, 8), ctx=GPU)
        for _ in range(4):
            net(x)
        assert any(replay._graph is not None for replay in graphs()._living)
        del net
    GPU.empty_cache()
    np.testing.assert_array_equal(nd.ones((3,), ctx=GPU).asnumpy(), np.ones(3))
