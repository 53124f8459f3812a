"""A pytest plugin: ordinary tests run on ``gpu(1)`` of the double of CuPy instead of ``cpu(0)``.

``pytest -p tests.kernels.cupy.default_gpu tests/ndarray`` finds what a GPU's path does otherwise
than that of the CPU. `tests.kernels.cupy.sample` takes a part of the tests. A test that by its
meaning needs the CPU is left out: `CPU_TESTS` says which, and why.
"""

from collections.abc import Iterator

import pytest

from tests.kernels.cupy.cpu_tests import CPU_TESTS
from tests.kernels.cupy.deselected import deselect

pytest_plugins = ("tests.kernels.cupy.sample",)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs the CPU."""
    deselect(
        config, items, [item for item in items if any(part in item.nodeid for part in CPU_TESTS)]
    )


@pytest.fixture(autouse=True)
def _default_gpu() -> Iterator[None]:
    """Put a machine with two GPUs behind the contexts, and make the second one the default."""
    # Not before tests/conftest.py has said how many threads NumPy and oneDNN may start.
    import gluonish as mx
    from tests.kernels.cupy.install import gpu_contexts, importable_cupyx
    from tests.kernels.cupy.machine import Machine

    machine = Machine(devices=2)
    machine.capacity = 8 << 30
    with importable_cupyx(), gpu_contexts(machine, "ThreadedEnginePerDevice"), mx.gpu(1):
        yield
