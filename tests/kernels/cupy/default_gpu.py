"""A pytest plugin: ordinary tests run on ``gpu(1)`` of the double of CuPy instead of ``cpu(0)``.

``pytest -p tests.kernels.cupy.default_gpu -o addopts= tests/ndarray`` finds what the path of a GPU
does otherwise than that of the CPU. A test that by its meaning needs the CPU is left out: `CPU`
says which, and why.
"""

from collections.abc import Iterator

import pytest

import gluonish as mx
from tests.kernels.cupy.install import gpu_contexts, importable_cupyx
from tests.kernels.cupy.machine import Machine

__all__ = ["CPU"]

# Parts of node ids, and why those tests need the CPU.
CPU: dict[str, str] = {}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs the CPU."""
    left_out = [item for item in items if any(part in item.nodeid for part in CPU)]
    if left_out:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


@pytest.fixture(autouse=True)
def _default_gpu() -> Iterator[Machine]:
    """Put a machine with two GPUs behind the contexts, and make the second one the default."""
    machine = Machine(devices=2)
    machine.capacity = 8 << 30
    with importable_cupyx(), gpu_contexts(machine, "ThreadedEnginePerDevice"), mx.gpu(1):
        yield machine
