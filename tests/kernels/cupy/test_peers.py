"""Copies between two GPUs, and what MXNET_ENABLE_GPU_P2P makes of them; on the double of CuPy."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.config import MXNET_ENABLE_GPU_P2P
from tests.kernels.cupy.machine import Machine

pytestmark = pytest.mark.timeout(120)


@pytest.mark.parametrize("direct", [False, True])
def test_direct_copies_are_opened_once_a_pair_where_the_variable_allows(
    gpus: Any, machine: Machine, direct: bool
) -> None:
    with MXNET_ENABLE_GPU_P2P.override(direct):
        first = nd.array([1.0, 2.0], ctx=mx.gpu(0))
        for _ in range(2):
            np.testing.assert_array_equal(first.copyto(mx.gpu(1)).asnumpy(), [1.0, 2.0])
    ways = [entry for entry in machine.log if entry[0] == "way"]
    assert ways == ([("way", 1, 0)] if direct else [])
    assert sum(entry[0] == "peer0to1" for entry in machine.log) == 2


def test_gradients_of_two_gpus_are_added_up_by_a_store(gpus: Any, machine: Machine) -> None:
    store = mx.kv.create("device")
    store.init("w", nd.zeros((3,), ctx=mx.gpu(0)))
    values = [nd.array([1.0, 2.0, 3.0], ctx=mx.gpu(i)) * (i + 1) for i in range(2)]
    store.pushpull("w", values)
    for value in values:
        np.testing.assert_array_equal(value.asnumpy(), [3.0, 6.0, 9.0])
