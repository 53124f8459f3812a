"""What a GPU is to prove of sums over all ranks' devices: the row of benchmarks/gpu_run, here.

Several processes: tests/kvstore/distributed/test_nccl_exchange.py.
"""

from types import SimpleNamespace
from typing import Any

import pytest

import gluonish as mx
from benchmarks.gpu_run.launch_rows import nccl_exchange
from benchmarks.gpu_run.timing import HostTimer
from tests.kernels.cupy.nccl_double import make_nccl

pytestmark = pytest.mark.timeout(120)


def test_the_row_of_one_device_passes_on_the_double(gpus: Any) -> None:
    alone = SimpleNamespace(rank=0, allgather=lambda value: [value])
    nccl, groups = make_nccl(alone)
    place: Any = SimpleNamespace(
        mx=mx,
        nccl=nccl,
        pick=lambda large, small: small,
        timer=lambda: HostTimer(mx.nd.waitall),
    )
    noted: list[str] = []
    nccl_exchange(place, lambda name, *values, **more: noted.append(name))
    assert set(groups) == {3}, "three arrays a group"
    assert len(groups) > 4
    assert len(noted) == 1
