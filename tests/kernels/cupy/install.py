"""Put the double of CuPy behind GPU contexts, for a while."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import pytest

from gluonish import engine as engine_module
from gluonish.core import device as device_module
from gluonish.kernels.cupy import CuPySupport
from tests.kernels.cupy.double import make_cupy, make_special
from tests.kernels.cupy.linear_algebra import errstate
from tests.kernels.cupy.machine import Machine


def support_of(cupy: Any) -> CuPySupport:
    """Return the support of GPUs by a double of CuPy, which has no libraries to load."""
    return CuPySupport(lambda: cupy, load_libraries=lambda cupy: None)


@contextmanager
def importable_cupyx() -> Iterator[None]:
    """Let kernels import what they need of cupyx."""
    modules: list[Any] = [ModuleType("cupyx"), ModuleType("cupyx.scipy"), make_special()]
    modules[0].scipy, modules[1].special = modules[1:]
    modules[0].errstate = errstate
    with pytest.MonkeyPatch.context() as patch:
        for module in modules:
            patch.setitem(sys.modules, module.__name__, module)
        yield


@contextmanager
def gpu_contexts(machine: Machine, engine: str) -> Iterator[Any]:
    """Make the devices of a machine those of ``gpu(i)``, with a new engine; gives the module."""
    cupy = make_cupy(machine)
    kept = {c: d for c, d in device_module._devices.items() if c.device_type == "cpu"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(device_module, "_devices", kept)
        patch.setattr(device_module, "_made", dict(kept))
        patch.setattr(device_module, "_gpu_support", [support_of(cupy)])
        patch.setattr(engine_module, "_streams", {})
        patch.setattr(engine_module, "_engines", [])
        made = engine_module.make_engine(engine)
        patch.setattr(engine_module, "_engine", made)
        yield cupy
        made.shutdown(timeout_s=20)
        machine.allocator = None  # finalizers of its memory hold the machine, and this the device
