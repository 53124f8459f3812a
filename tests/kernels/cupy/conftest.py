"""GPU contexts on a double of CuPy: the real device, engine and arrays, in the host's memory."""

import sys
import weakref
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from gluonish import engine as engine_module
from gluonish.core import device as device_module
from gluonish.kernels.cupy import CuPySupport
from gluonish.ops import philox
from gluonish.ops.registry import all_operators
from tests.kernels.cupy import host_kernels
from tests.kernels.cupy.double import make_cupy, make_special
from tests.kernels.cupy.linear_algebra import errstate
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.one_device import OneDevice, needs_compiler


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine with two GPUs, and a double of cupyx with what the kernels import from it."""
    machine = Machine(devices=2)
    modules: list[Any] = [ModuleType("cupyx"), ModuleType("cupyx.scipy"), make_special(machine)]
    modules[0].scipy, modules[1].special = modules[1:]
    modules[0].errstate = errstate
    for module in modules:
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return machine


@pytest.fixture(autouse=True)
def kernels_that_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave operators to others where a kernel's source cannot be compiled."""
    if host_kernels.COMPILER is None:
        for op in all_operators():
            for fast in filter(needs_compiler, op.fast_kernels):
                monkeypatch.setattr(fast, "enabled", lambda: False)
        monkeypatch.setattr(philox, "_device_words", [])


@pytest.fixture
def device(machine: Machine) -> Iterator[OneDevice]:
    """The first GPU of the machine, with a stream that is current."""
    made = OneDevice(machine)
    with made.cupy.cuda.Device(0), made.stream:
        yield made


@pytest.fixture(params=["NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice"])
def gpus(
    request: pytest.FixtureRequest, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Any]:
    """Make ``gpu(0)`` and ``gpu(1)`` devices of the machine, with an engine; gives the module."""
    cupy = make_cupy(machine)
    kept = {c: d for c, d in device_module._devices.items() if not c.is_gpu}
    monkeypatch.setattr(device_module, "_devices", kept)
    monkeypatch.setattr(device_module, "_gpu_support", [CuPySupport(lambda: cupy)])
    monkeypatch.setattr(engine_module, "_streams", {})
    monkeypatch.setattr(engine_module, "_engines", weakref.WeakSet())
    engine = engine_module.make_engine(request.param)
    monkeypatch.setattr(engine_module, "_engine", engine)
    yield cupy
    engine.shutdown(timeout_s=20)
    machine.allocator = None  # finalizers of its memory hold the machine, and this the device
