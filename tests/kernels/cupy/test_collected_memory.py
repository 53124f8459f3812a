"""Memory of arrays that only the garbage collector finds goes back to the pool, not the driver."""

import gc
from typing import Any

import numpy as np

import gluonish as mx
from gluonish import nd


def test_block_of_an_array_in_a_collected_cycle_serves_the_next_array(gpus: Any) -> None:
    cycle: list[Any] = [nd.ones((8,), ctx=mx.gpu(0))]
    cycle.append(cycle)
    nd.waitall()
    del cycle
    gc.collect()
    np.testing.assert_array_equal(nd.ones((8,), ctx=mx.gpu(0)).asnumpy(), np.ones(8))
