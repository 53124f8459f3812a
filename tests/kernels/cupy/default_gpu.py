"""A pytest plugin: ordinary tests run on ``gpu(1)`` of the double of CuPy instead of ``cpu(0)``.

``pytest -p tests.kernels.cupy.default_gpu tests/ndarray`` finds what a GPU's path does otherwise
than that of the CPU. ``--gpu-share 0.1 --gpu-seed 7`` takes a tenth of the tests, which the number
chooses. A test that by its meaning needs the CPU is left out: `CPU_TESTS` says which, and why.
"""

import zlib
from collections.abc import Iterator

import pytest

from tests.kernels.cupy.cpu_tests import CPU_TESTS


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the sample."""
    parser.addoption("--gpu-share", type=float, default=1.0, help="part of the tests, up to 1")
    parser.addoption("--gpu-seed", type=int, default=0, help="which tests that part is")


def _is_chosen(item: pytest.Item, seed: int, share: float) -> bool:
    return zlib.crc32(f"{seed} {item.nodeid}".encode()) < share * 2**32


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs the CPU, and what is not in the sample."""
    share, seed = config.getoption("--gpu-share"), config.getoption("--gpu-seed")
    left_out = {
        item
        for item in items
        if any(part in item.nodeid for part in CPU_TESTS) or not _is_chosen(item, seed, share)
    }
    if left_out:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=list(left_out))


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
