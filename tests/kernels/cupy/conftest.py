"""GPU contexts on a double of CuPy: the real device, engine and arrays, in the host's memory."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.kernels.cupy.install import gpu_contexts, importable_cupyx
from tests.kernels.cupy.machine import Machine


@pytest.fixture
def machine() -> Iterator[Machine]:
    """A machine with two GPUs."""
    with importable_cupyx():
        yield Machine(devices=2)


@pytest.fixture(params=["NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice"])
def gpus(request: pytest.FixtureRequest, machine: Machine) -> Iterator[Any]:
    """Make ``gpu(0)`` and ``gpu(1)`` devices of the machine, with an engine; gives the module."""
    with gpu_contexts(machine, request.param) as cupy:
        yield cupy
