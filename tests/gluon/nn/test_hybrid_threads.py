"""One hybridized block called from eight threads at once gives each what it gives one alone."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import numpy as np
import pytest

from gluonish import autograd
from gluonish.engine import use_engine
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.rnn import GRU, LSTM
from gluonish.model_zoo.registry import get_model
from gluonish.ndarray import NDArray, array
from tests.gluon.nn.rows import LAYERS, LOSSES, Row, normal

THREADS = 8
CALLS = 3
TIMEOUT_S = 60
ENGINES = ("NaiveEngine", "ThreadedEnginePerDevice")
NETWORKS = {
    "resnet18_v1": Row(lambda _: get_model("resnet18_v1", classes=7), normal(3, 32, 32)),
    "lstm": Row(lambda _: LSTM(8, num_layers=2, layout="NTC"), normal(5, 6)),
    "gru": Row(lambda _: GRU(8, bidirectional=True, layout="NTC"), normal(5, 6)),
}
ALL = {
    **{f"{name}-0": rows[0] for name, rows in {**LAYERS, **LOSSES}.items()},
    **NETWORKS,
}


def _call(block: HybridBlock, row: Row, values: list[Any], *, record: bool) -> list[NDArray]:
    """Return the output, and when recorded the gradients of the inputs."""
    inputs = [array(x) for x in values]
    if not record:
        return [block(*inputs)]
    for x in inputs[: row.differentiable]:
        x.attach_grad()
    with autograd.record(train_mode=False):
        y = block(*inputs)
    if row.differentiable:
        y.backward()
    return [y, *[x.grad for x in inputs[: row.differentiable]]]


@pytest.mark.parametrize("record", [False, True])
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ALL)
def test_each_thread_gets_what_one_alone_gets(name: str, engine: str, record: bool) -> None:
    row = ALL[name]
    seeds = range(THREADS * CALLS)
    values = [row.inputs(np.random.default_rng(seed), 2 + seed % 2) for seed in seeds]
    with use_engine(engine):
        block = row.make(True)
        block.initialize()
        block.hybridize(static_alloc=True)
        wanted = [[x.asnumpy() for x in _call(block, row, v, record=record)] for v in values]
        block.hybridize(static_alloc=True)  # plans are made anew, by the threads
        start = Barrier(THREADS, timeout=TIMEOUT_S)

        def job(thread: int) -> list[list[NDArray]]:
            start.wait()
            own = values[thread * CALLS : (thread + 1) * CALLS]
            return [_call(block, row, v, record=record) for v in own]

        with ThreadPoolExecutor(THREADS) as pool:
            found = [x for f in pool.map(job, range(THREADS), timeout=TIMEOUT_S) for x in f]
        # Only now: what was held meanwhile is as it was delivered.
        for got, want in zip(found, wanted, strict=True):
            for x, y in zip(got, want, strict=True):
                np.testing.assert_allclose(x.asnumpy(), y, rtol=1e-4, atol=1e-5)
