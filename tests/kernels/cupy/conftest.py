"""GPU contexts on a double of CuPy: the real device, engine and arrays, in the host's memory."""

from collections.abc import Iterator
from typing import Any

import pytest

from gluonish.kernels.cupy import optimizer
from gluonish.ops.registry import all_operators
from gluonish.ops.support import philox
from tests.kernels.cupy import host_compiler
from tests.kernels.cupy.install import gpu_contexts, importable_cupyx
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.one_device import OneDevice, needs_compiler


@pytest.fixture
def machine() -> Iterator[Machine]:
    """A machine with two GPUs."""
    with importable_cupyx():
        yield Machine(devices=2)


@pytest.fixture(autouse=True)
def kernels_that_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave operators to others where a kernel's source cannot be compiled."""
    if host_compiler.COMPILER is None:
        for op in all_operators():
            for fast in filter(needs_compiler, op.fast_kernels):
                monkeypatch.setattr(fast, "enabled", lambda: False)
        monkeypatch.setattr(philox, "_device_bits", [])
        monkeypatch.setattr(optimizer, "fused_step", lambda *_: None)


@pytest.fixture(autouse=True)
def cudnns_first_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure no convolutions, whose launches tests count, and leave no plans of the double."""
    monkeypatch.setenv("MXNET_CUDNN_AUTOTUNE_DEFAULT", "0")
    monkeypatch.setenv("GLUONISH_CUDNN_CACHE", "0")


@pytest.fixture
def device(machine: Machine) -> Iterator[OneDevice]:
    """The first GPU of the machine, with a stream that is current."""
    made = OneDevice(machine)
    with made.cupy.cuda.Device(0), made.stream:
        yield made


@pytest.fixture
def gpu(machine: Machine) -> Iterator[Machine]:
    """Make the machine's devices those of ``gpu(i)``; gives the machine."""
    with gpu_contexts(machine, "ThreadedEnginePerDevice"):
        yield machine


@pytest.fixture
def compiled(device: OneDevice, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sources that the first GPU compiles from now on."""
    made: list[str] = []
    plain = device.cupy.RawModule

    def counted(*, code: str, options: tuple[str, ...]) -> Any:
        made.append(code)
        return plain(code=code, options=options)

    monkeypatch.setattr(device.cupy, "RawModule", counted)
    return made


@pytest.fixture(params=["NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice"])
def gpus(request: pytest.FixtureRequest, machine: Machine) -> Iterator[Any]:
    """Make ``gpu(0)`` and ``gpu(1)`` devices of the machine, with an engine; gives the module."""
    with gpu_contexts(machine, request.param) as cupy:
        yield cupy
