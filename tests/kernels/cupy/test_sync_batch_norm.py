"""SyncBatchNorm on two GPUs of the double, called by one thread or by two."""

import threading
from typing import Any

import numpy as np
import pytest

import gluonish as mx

pytestmark = pytest.mark.timeout(120)
LONG_S = 60


def made(data: Any, ctx: Any) -> list[Any]:
    arrays = [mx.nd.array(x, ctx=ctx) for x in (data, [1.0, 2.0, 3.0], [0.5, 0.0, 1.0])]
    for x in arrays:
        x.attach_grad()
    return [*arrays, mx.nd.zeros((3,), ctx=ctx), mx.nd.ones((3,), ctx=ctx)]


@pytest.mark.parametrize("in_threads", [False, True])
def test_gpus_together_equal_one_cpu(gpus: Any, in_threads: bool) -> None:
    if not in_threads and type(mx.engine.current_engine()).__name__ == "NaiveEngine":
        pytest.skip("the naive engine needs a thread for each device")
    data, heads = np.random.default_rng(0).normal(1, 2, (2, 6, 3, 4)).astype(np.float32)
    whole = made(data, mx.cpu())
    with mx.autograd.record():
        expected = mx.nd.BatchNorm(*whole, fix_gamma=False)
    expected.backward(mx.nd.array(heads))
    given = [made(x, mx.gpu(i)) for i, x in enumerate(np.split(data, 2))]
    outputs: list[Any] = [None, None]

    def forward(i: int) -> None:
        with mx.autograd.record():
            y = mx.nd.contrib.SyncBatchNorm(*given[i], fix_gamma=False, ndev=2, key="gpus")
            outputs[i] = y * 1

    def backward(i: int) -> None:
        outputs[i].backward(mx.nd.array(np.split(heads, 2)[i], ctx=mx.gpu(i)))

    for step in (forward, backward):
        threads = [threading.Thread(target=step, args=(i,)) for i in range(2)]
        for i, thread in enumerate(threads):
            thread.start() if in_threads else step(i)
        for thread in threads[: 2 * in_threads]:
            thread.join(LONG_S)
    data_grads = np.concatenate([x[0].grad.asnumpy() for x in given])
    np.testing.assert_allclose(
        np.concatenate([y.asnumpy() for y in outputs]), expected.asnumpy(), 1e-5, 1e-5
    )
    np.testing.assert_allclose(data_grads, whole[0].grad.asnumpy(), 1e-4, 1e-5)
    for i in (1, 2):
        found = sum(x[i].grad.asnumpy() for x in given)
        np.testing.assert_allclose(found, whole[i].grad.asnumpy(), 1e-4, 1e-4)
    for i in (3, 4):
        for x in given:
            np.testing.assert_allclose(x[i].asnumpy(), whole[i].asnumpy(), 1e-5, 1e-5)
    mx.nd.waitall()
