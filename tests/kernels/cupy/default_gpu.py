"""A pytest plugin: ordinary tests run on ``gpu(1)`` of the double of CuPy instead of ``cpu(0)``.

``pytest -p tests.kernels.cupy.default_gpu -o addopts= tests/ndarray`` finds what the path of a GPU
does otherwise than that of the CPU. A test that by its meaning needs the CPU is left out: `CPU`
says which, and why.
"""

import sys
import weakref
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

import gluonish as mx
from gluonish import engine as engine_module
from gluonish.core import device as device_module
from gluonish.kernels.cupy import CuPySupport
from tests.kernels.cupy.double import make_cupy, make_special
from tests.kernels.cupy.linear_algebra import errstate
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
def _default_gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """Put a machine with two GPUs behind the contexts, and make the second one the default."""
    machine = Machine(devices=2)
    machine.capacity = 8 << 30
    cupy = make_cupy(machine)
    modules: list[Any] = [ModuleType("cupyx"), ModuleType("cupyx.scipy"), make_special(machine)]
    modules[0].scipy, modules[1].special = modules[1:]
    modules[0].errstate = errstate
    for module in modules:
        monkeypatch.setitem(sys.modules, module.__name__, module)
    kept = {c: d for c, d in device_module._devices.items() if not c.is_gpu}
    monkeypatch.setattr(device_module, "_devices", kept)
    monkeypatch.setattr(device_module, "_gpu_support", [CuPySupport(lambda: cupy)])
    monkeypatch.setattr(engine_module, "_streams", {})
    monkeypatch.setattr(engine_module, "_engines", weakref.WeakSet())
    engine = engine_module.make_engine("ThreadedEnginePerDevice")
    monkeypatch.setattr(engine_module, "_engine", engine)
    with mx.gpu(1):
        yield machine
    engine.shutdown(timeout_s=20)
