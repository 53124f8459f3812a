"""The order in which a device runs the blocks of a launch changes no bit of a training program."""

from collections.abc import Iterator

import pytest

from tests.kernels.cupy import host_kernels
from tests.kernels.cupy.equal_runs import KINDS, trained
from tests.kernels.cupy.install import gpu_contexts, importable_cupyx
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.one_device import COMPILED

pytestmark = [COMPILED, pytest.mark.timeout(200)]


@pytest.fixture(autouse=True)
def gpus(machine: Machine) -> Iterator[None]:
    with importable_cupyx(), gpu_contexts(machine, "ThreadedEnginePerDevice"):
        yield


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("kind", KINDS)
def test_order_of_blocks_changes_no_bit_of_training(kind: str, dtype: str) -> None:
    forth = trained(kind, dtype)
    with host_kernels.backwards():
        back = trained(kind, dtype)
    assert len({*forth[:3]}) == 3
    assert back == forth
