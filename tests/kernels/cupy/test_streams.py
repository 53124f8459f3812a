"""MXNET_GPU_WORKER_NSTREAMS: several compute streams, and what they must and must not wait for."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.config import MXNET_ENABLE_CUDA_GRAPHS, MXNET_GPU_WORKER_NSTREAMS
from gluonish.gluon import nn
from tests.kernels.cupy.machine import Race
from tests.kernels.cupy.programs import (
    computes_in_memory_of_an_upload,
    stages_through_pinned_memory,
    uploads_into_used_memory,
)

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(params=[1, 2, 3])
def streams(request: pytest.FixtureRequest) -> Any:
    with MXNET_GPU_WORKER_NSTREAMS.override(request.param):
        yield request.param


def launched_on(device: Any) -> list[int]:
    """Count the launches of each compute stream while some operators run."""
    every = (device.compute, *device.compute.siblings)
    counts = [0] * len(every)

    def watch(place: int, stream: Any) -> Any:
        launch = type(stream).launch

        def counted(fn: Any, name: str) -> None:
            counts[place] += 1
            launch(stream, fn, name)

        return counted

    engine = mx.engine.current_engine()
    lanes = [lane for lane in engine._stream_lanes if lane.stream in every]
    watched = [
        type("Watched", (), {"launch": staticmethod(watch(i, lane.stream))})()
        for i, lane in enumerate(lanes)
    ]
    for lane, double in zip(lanes, watched, strict=True):
        for name in ("record", "wait_event", "synchronize_event", "event_done"):
            setattr(double, name, getattr(lane.stream, name))
        lane.stream = double
    xs = [nd.ones((8,), ctx=device.context) for _ in range(6)]
    for x in xs:
        x += 1
    nd.waitall()
    return counts


def test_operators_take_the_streams_in_turn(gpus: Any, streams: int) -> None:
    device: Any = nd.zeros((1,), ctx=mx.gpu(0))._device
    nd.waitall()
    assert len(device.compute.siblings) == streams - 1
    if type(mx.engine.current_engine()).__name__ == "NaiveEngine":
        return
    counts = launched_on(device)
    assert len(counts) == streams
    assert max(counts) - min(counts) <= 1
    assert sum(counts) == 12


@pytest.mark.parametrize(
    "program",
    [uploads_into_used_memory, computes_in_memory_of_an_upload, stages_through_pinned_memory],
)
def test_memory_is_used_again_only_when_every_stream_is_through(
    gpus: Any, streams: int, program: Any
) -> None:
    program()
    nd.waitall()


@pytest.mark.parametrize("seed", range(3))
def test_results_are_those_of_one_stream(gpus: Any, streams: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    arrays = [nd.array(random.integers(-3, 4, 5), ctx=mx.gpu(0)) for _ in range(4)]
    expected = [x.asnumpy() for x in arrays]
    for _ in range(60):
        a, b, out = random.integers(0, 4, 3)
        factor = float(random.integers(-1, 2))
        arrays[out] = arrays[a] * factor + arrays[b]
        expected[out] = expected[a] * np.float32(factor) + expected[b]
        expected[out] = np.clip(expected[out], -100, 100)
        arrays[out] = nd.clip(arrays[out], -100, 100)
    for x, y in zip(arrays, expected, strict=True):
        np.testing.assert_array_equal(x.asnumpy(), y)


class Net(nn.HybridBlock):
    def hybrid_forward(self, F: Any, x: Any) -> Any:
        y = F.softmax(x * 2)
        return F.softmax(F.batch_dot(y, y)) + 1


class Looping(nn.HybridBlock):
    def hybrid_forward(self, F: Any, x: Any) -> Any:
        step = lambda row, state: (F.softmax(row * state), F.softmax(state + row) * 2)  # noqa: E731
        out, _ = F.contrib.foreach(step, x, F.ones((8,)))
        return out


def convolution() -> nn.HybridBlock:
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3, in_channels=3), nn.BatchNorm(in_channels=4), nn.Activation("relu"))
    return net


@pytest.mark.parametrize("graphs", [False, True])
@pytest.mark.parametrize(
    "options", [{}, {"static_alloc": True}, {"static_alloc": True, "static_shape": True}]
)
@pytest.mark.parametrize(
    ("make", "shape"), [(Net, (2, 8, 8)), (Looping, (3, 8)), (convolution, (2, 3, 8, 8))]
)
def test_calls_of_a_network_do_not_disturb_each_other(
    gpus: Any, streams: int, make: Any, shape: Any, options: Any, graphs: bool
) -> None:
    net = make()
    net.initialize(ctx=[mx.gpu(0), mx.cpu()])
    xs = [nd.random.normal(shape=shape) for _ in range(8)]
    expected = [net(x).asnumpy() for x in xs]
    with MXNET_ENABLE_CUDA_GRAPHS.override(graphs):
        net.hybridize(**options)
        on_gpu = [x.as_in_context(mx.gpu(0)) for x in xs]
        nd.waitall()
        for _ in range(3):
            results = [net(x) for x in on_gpu]
            for result, value in zip(results, expected, strict=True):
                np.testing.assert_allclose(result.asnumpy(), value, rtol=1e-4, atol=1e-5)


def test_double_finds_streams_that_keep_nothing(gpus: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if type(mx.engine.current_engine()).__name__ == "NaiveEngine":
        pytest.skip("the naive engine synchronizes after each launch")
    with MXNET_GPU_WORKER_NSTREAMS.override(2):
        device: Any = nd.zeros((1,), ctx=mx.gpu(0))._device
    for stream in device.compute.siblings:
        monkeypatch.setattr(stream, "_after", None)
        monkeypatch.setattr(stream, "_keeps", False)

    def program() -> None:
        for _ in range(40):
            x = nd.ones((8,), ctx=mx.gpu(0)) * 2
            y = nd.ones((8,), ctx=mx.gpu(0)) + x
            del x, y
        nd.waitall()

    with pytest.raises((Race, mx.MXNetError)):
        program()
