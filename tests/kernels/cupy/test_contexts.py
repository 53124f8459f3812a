"""Programs on ``gpu(i)`` give what they give on ``cpu(0)``, with every dependency enforced.

They run through the real device, engine and arrays on the double of CuPy, whose race detector fails
a program whose order nothing enforces, whatever its results.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.gluon import nn
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.programs import indexing, mathematics, network, train

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def gpu(gpus: Any) -> mx.Context:
    return mx.gpu(0)


def test_array_made_on_a_gpu_lies_there_and_comes_back(gpu: mx.Context) -> None:
    values = np.arange(6, dtype=np.float64).reshape(2, 3)
    x = nd.array(values, ctx=gpu)
    assert x.context == gpu
    assert x.dtype == np.float32
    assert not isinstance(x.handle, np.ndarray)
    np.testing.assert_array_equal(x.asnumpy(), values)


def test_source_may_change_after_the_array_is_made(gpu: mx.Context, machine: Machine) -> None:
    values = np.ones(4, np.float32)
    x = nd.array(values, ctx=gpu)
    values[:] = 7
    np.testing.assert_array_equal(x.asnumpy(), np.ones(4))


def test_array_without_elements_makes_no_transfer(gpu: mx.Context, machine: Machine) -> None:
    assert nd.array(np.zeros((0, 3)), ctx=gpu).asnumpy().shape == (0, 3)
    assert machine.transfers == 0


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int8", "int64", "float64"])
def test_dtype_is_converted_on_the_way_up_and_kept_on_the_way_down(
    gpu: mx.Context, dtype: str
) -> None:
    x = nd.array([1.5, 2, -3], ctx=gpu, dtype=dtype)
    want = nd.array([1.5, 2, -3], dtype=dtype)
    assert x.asnumpy().dtype == want.asnumpy().dtype
    np.testing.assert_array_equal(x.asnumpy(), want.asnumpy())


def test_current_context_decides(gpu: mx.Context) -> None:
    with gpu:
        made = [nd.zeros((2,)), nd.ones((2,)), nd.full((2,), 3), nd.random.uniform(shape=(2,))]
    assert {x.context for x in made} == {gpu}
    np.testing.assert_array_equal(made[2].asnumpy(), [3, 3])


def test_random_numbers_are_those_of_the_cpu(gpu: mx.Context) -> None:
    drawn = []
    for ctx in (mx.cpu(), gpu):
        mx.random.seed(5, ctx)
        drawn.append(nd.random.normal(shape=(20,), ctx=ctx).asnumpy())
    np.testing.assert_allclose(drawn[0], drawn[1], rtol=1e-6)


@pytest.mark.parametrize("program", [indexing, mathematics])
def test_arrays_compute_as_on_the_cpu(
    gpu: mx.Context, program: Callable[[mx.Context], list[Any]]
) -> None:
    for got, want in zip(program(gpu), program(mx.cpu()), strict=True):
        assert got.context == gpu
        np.testing.assert_allclose(got.asnumpy(), want.asnumpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("route", [[0, 1], [1, 0], ["c", 0], [0, "c"], [0, 1, "c", 1, 0, 0]])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_copies_between_all_kinds_of_devices(gpus: Any, route: list[Any], dtype: str) -> None:
    places = [mx.cpu() if at == "c" else mx.gpu(at) for at in route]
    x = nd.array([[1, 2], [3, 4]], ctx=places[0]) * 2
    for place in places[1:]:
        target = nd.zeros((2, 2), ctx=place, dtype=dtype)
        assert x.copyto(target) is target
        x = target.as_in_context(place) + 1
        assert x.context == place
    np.testing.assert_array_equal(x.asnumpy(), np.array([[2, 4], [6, 8]]) + len(route) - 1)


def test_mixed_devices_are_refused(gpu: mx.Context) -> None:
    with pytest.raises(
        mx.MXNetError, match=r"expected arrays on one device, got cpu\(0\), gpu\(0\)"
    ):
        nd.ones((2,)) + nd.ones((2,), ctx=gpu)


def test_gradient_flows_back_over_devices(gpus: Any) -> None:
    x = nd.array([1.0, 2, 3])
    x.attach_grad()
    with autograd.record():
        near = x.as_in_context(mx.gpu(0)) ** 2
        loss = (near.as_in_context(mx.gpu(1)) * 3).as_in_context(mx.cpu()).sum()
    loss.backward()
    assert x.grad.context == mx.cpu()
    np.testing.assert_allclose(x.grad.asnumpy(), [6, 12, 18])


def _same(got: dict[str, Any], want: dict[str, Any]) -> None:
    assert got.keys() == want.keys()
    for name, value in want.items():
        np.testing.assert_allclose(got[name], value, rtol=1e-4, atol=1e-5, err_msg=name)


@pytest.mark.parametrize(
    "hybrid",
    [{}, {"active": True}, {"static_alloc": True}, {"static_alloc": True, "static_shape": True}],
)
def test_training_on_a_gpu_equals_that_on_the_cpu(gpu: mx.Context, hybrid: dict[str, bool]) -> None:
    _same(train([gpu], **hybrid), train([mx.cpu()], **hybrid))


def test_training_on_two_gpus_equals_that_on_two_cpus(gpus: Any) -> None:
    _same(train([mx.gpu(0), mx.gpu(1)]), train([mx.cpu(0), mx.cpu(1)]))


def test_hybridized_call_equals_the_eager_one(gpu: mx.Context, monkeypatch: Any) -> None:
    monkeypatch.setenv("MXNET_EXEC_BULK_EXEC_INFERENCE", "0")  # one engine job an operator
    net = network()
    net.initialize(ctx=gpu)
    x = nd.array(np.random.default_rng(1).normal(size=(2, 2, 4, 4)), ctx=gpu)
    want = net(x).asnumpy()
    net.hybridize(static_alloc=True)
    for _ in range(3):
        np.testing.assert_allclose(net(x).asnumpy(), want, rtol=1e-5, atol=1e-6)


def test_parameters_move_with_reset_ctx_and_through_files(gpu: mx.Context, tmp_path: Any) -> None:
    net = nn.Dense(2, in_units=3)
    net.initialize()
    net.collect_params().reset_ctx(gpu)
    assert net.weight.list_ctx() == [gpu]
    net.save_parameters(str(tmp_path / "net.params"))
    other = nn.Dense(2, in_units=3)
    other.load_parameters(str(tmp_path / "net.params"), ctx=mx.cpu())
    np.testing.assert_array_equal(other.weight.data().asnumpy(), net.weight.data(gpu).asnumpy())


def test_array_prints_and_pickles(gpu: mx.Context) -> None:
    assert repr(nd.ones((2,), ctx=gpu)).endswith("[1. 1.]\n<NDArray 2 @gpu(0)>")


def test_waitall_waits_for_the_device(gpu: mx.Context, machine: Machine) -> None:
    x = nd.ones((3,), ctx=gpu) + 1
    nd.waitall()
    streams = [s for s in machine.streams if s._clock]
    assert streams
    assert all(machine.host.get(s._name, 0) == s._clock[s._name] for s in streams)
    del x


def test_failure_of_the_device_is_raised_at_the_wait(gpu: mx.Context, machine: Machine) -> None:
    if type(mx.engine.current_engine()).__name__ == "NaiveEngine":
        pytest.skip("the naive engine synchronizes in the push, which keeps the error for the wait")
    x = nd.ones((3,), ctx=gpu)
    machine.broken = RuntimeError("an illegal memory access was encountered")
    with pytest.raises(mx.MXNetError, match="illegal memory access"):
        x.asnumpy()
    machine.broken = None


@pytest.mark.parametrize("number", [0, 1])
def test_shapes_that_follow_from_values_are_found_on_the_gpu(gpus: Any, number: int) -> None:
    x = mx.np.array([0.0, 3.0, 0.0, 4.0], ctx=mx.gpu(number))
    places = mx.npx.nonzero(x)
    assert places.context == mx.gpu(number)
    np.testing.assert_array_equal(places.asnumpy(), [[1], [3]])
    y = nd.array([[1, 2], [3, 4], [5, 6]], ctx=mx.gpu(number))
    chosen = nd.contrib.boolean_mask(y, nd.array([0, 1, 1], ctx=mx.gpu(number)))
    np.testing.assert_array_equal(chosen.asnumpy(), [[3, 4], [5, 6]])
