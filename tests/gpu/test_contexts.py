"""Programs on a real device give what ``cpu(0)`` gives, as those on the double of CuPy do."""

from collections.abc import Callable
from typing import Any

import hypothesis
import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.device import device_of
from gluonish.core.devices import gpu_memory_info, num_gpus
from gluonish.engine import use_engine
from tests.kernels.cupy.programs import indexing, mathematics, network, run_program, train
from tests.kernels.cupy.test_order import STEPS

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(300)]

PLACES = (mx.cpu(0), mx.cpu(1), mx.gpu(0), mx.gpu(0))
ON_CPUS = (mx.cpu(0), mx.cpu(1), mx.cpu(2), mx.cpu(2))


def test_numbers_of_the_device() -> None:
    assert num_gpus() >= 1
    free, total = gpu_memory_info(0)
    assert 0 < free <= total


@pytest.mark.parametrize("program", [indexing, mathematics])
def test_arrays_compute_as_on_the_cpu(program: Callable[[mx.Context], list[Any]]) -> None:
    for got, want in zip(program(mx.gpu(0)), program(mx.cpu()), strict=True):
        assert got.context == mx.gpu(0)
        np.testing.assert_allclose(got.asnumpy(), want.asnumpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "int8", "int64", "bool"])
def test_copies_both_ways_keep_every_bit(dtype: str) -> None:
    values = nd.array(np.random.default_rng(2).normal(0, 9, (301, 7)), dtype=dtype)
    back = values.copyto(mx.gpu(0)).copyto(mx.cpu())
    np.testing.assert_array_equal(back.asnumpy(), values.asnumpy())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("flip", [False, True])
def test_products_of_narrow_stacks_equal_those_of_the_reference(dtype: str, flip: bool) -> None:
    random = np.random.default_rng(4)
    shapes = [(3, 24, 40), (3, 16, 24)] if flip else [(3, 40, 24), (3, 24, 16)]
    pair = [nd.array(random.normal(size=shape), dtype=dtype) for shape in shapes]
    near = [x.as_in_context(mx.gpu(0)) for x in pair]
    flips = {"transpose_a": flip, "transpose_b": flip}
    got, want = nd.batch_dot(*near, **flips), nd.batch_dot(*pair, **flips)
    np.testing.assert_allclose(
        got.asnumpy().astype(np.float32), want.asnumpy().astype(np.float32), rtol=2e-2, atol=5e-2
    )


def test_gradient_flows_back_over_devices() -> None:
    x = nd.array([1.0, 2, 3])
    x.attach_grad()
    with autograd.record():
        loss = (x.as_in_context(mx.gpu(0)) ** 2).as_in_context(mx.cpu()).sum()
    loss.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), [2, 4, 6])


@pytest.mark.parametrize("engine", ["NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice"])
@pytest.mark.parametrize("hybrid", [{}, {"active": True}, {"static_alloc": True}])
def test_training_equals_that_on_the_cpu(engine: str, hybrid: dict[str, bool]) -> None:
    with use_engine(engine):
        got, want = train([mx.gpu(0)], **hybrid), train([mx.cpu()], **hybrid)
    for name, value in want.items():
        np.testing.assert_allclose(got[name], value, rtol=1e-3, atol=1e-4, err_msg=name)


def test_hybridized_call_equals_the_eager_one() -> None:
    net = network()
    net.initialize(ctx=mx.gpu(0))
    x = nd.array(np.random.default_rng(1).normal(size=(2, 2, 4, 4)), ctx=mx.gpu(0))
    want = net(x).asnumpy()
    net.hybridize(static_alloc=True)
    for _ in range(3):
        np.testing.assert_allclose(net(x).asnumpy(), want, rtol=1e-4, atol=1e-5)


def test_memory_that_kernels_still_use_is_not_overwritten_by_uploads() -> None:
    size = 1 << 22
    results = []
    for i in range(20):
        x = nd.full((size,), i, ctx=mx.gpu(0))
        for _ in range(5):
            x = x * 1.0
        results.append(x.sum())
        del x
        nd.full((size,), -1.0).as_in_context(mx.gpu(0))
    assert [y.asscalar() for y in results] == [float(i) * size for i in range(20)]


def test_streams_keep_the_order_of_a_prefetching_loop() -> None:
    batches = [np.full((1 << 20,), i, np.float32) for i in range(8)]
    ahead = nd.array(batches[0]).as_in_context(mx.gpu(0))
    sums = []
    for i in range(8):
        here = ahead
        if i < 7:
            ahead = nd.array(batches[i + 1]).as_in_context(mx.gpu(0))
        sums.append((here + 1).sum())
    assert [s.asscalar() for s in sums] == [(i + 1) * float(1 << 20) for i in range(8)]


@hypothesis.settings(max_examples=60)
@hypothesis.given(steps=STEPS)
def test_random_programs_give_what_cpus_give(steps: Any) -> None:
    for got, want in zip(run_program(steps, PLACES), run_program(steps, ON_CPUS), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)
    nd.waitall()


def test_pinned_memory_is_page_locked_and_uploads_from_it_arrive() -> None:
    values = np.arange(1 << 18, dtype=np.float32)
    for i in range(6):
        pinned = nd.array(values + i, ctx=mx.cpu_pinned())
        near = pinned.as_in_context(mx.gpu(0))
        pinned += 1000  # waits for the copy
        np.testing.assert_array_equal((near * 1).asnumpy(), values + i)
    attributes: Any = device_of(mx.gpu(0)).xp.cuda.runtime.pointerGetAttributes
    assert attributes(pinned.handle.ctypes.data).type == 1


def test_positions_select_on_the_device() -> None:
    x = nd.array(np.arange(24).reshape(6, 4), ctx=mx.gpu(0))
    key = nd.array([5, 0, -2], ctx=mx.gpu(0), dtype="int64")
    np.testing.assert_array_equal(x[key].asnumpy(), x.asnumpy()[[5, 0, -2]])
    x[key] = 7
    assert x.asnumpy()[[5, 0, -2]].tolist() == [[7] * 4] * 3
    with pytest.raises(IndexError, match="positions within shape"):
        x[key + 6]


def test_dlpack_shares_memory_both_ways() -> None:
    x = nd.array([1.0, 2, 3], ctx=mx.gpu(0))
    y = nd.from_dlpack(nd.to_dlpack_for_write(x))
    y += 1
    y.wait_to_read()
    np.testing.assert_array_equal(x.asnumpy(), [2, 3, 4])
    z = nd.from_dlpack(x.handle)
    assert z.context == mx.gpu(0)
