"""The rehearsal's place: gluonish on the double of CuPy that the tests have, without CUDA."""

import importlib
import sys
from types import ModuleType
from typing import Any

_CAPACITY = 256 << 20  # few, as rows fill it


class Rehearsal:
    """A machine, and the double of CuPy on it.

    Args:
        capacity: Bytes of the device's memory, which is the host's.

    Attributes:
        machine: What stands for the device.
        cupy: The double.
    """

    def __init__(self, capacity: int = _CAPACITY) -> None:
        self.machine = importlib.import_module("tests.kernels.cupy.machine").Machine(devices=1)
        self.machine.capacity = capacity
        self.cupy = importlib.import_module("tests.kernels.cupy.double").make_cupy(self.machine)
        self._installed = False

    def install(self) -> None:
        """Let ``gpu(0)`` be the double's, in this process, for good."""
        if self._installed:
            return
        self._installed = True
        self._install_cupyx()
        device_module = importlib.import_module("gluonish.core.device")
        support = importlib.import_module("gluonish.kernels.cupy").CuPySupport
        importlib.import_module("gluonish")
        device_module._gpu_support[:] = [support(lambda: self.cupy, lambda cupy: None)]

    def _install_cupyx(self) -> None:
        double = importlib.import_module("tests.kernels.cupy.double")
        algebra = importlib.import_module("tests.kernels.cupy.linear_algebra")
        special = double.make_special()
        modules: list[Any] = [ModuleType("cupyx"), ModuleType("cupyx.scipy"), special]
        modules[0].scipy, modules[1].special = modules[1:]
        modules[0].errstate = algebra.errstate
        sys.modules.update({module.__name__: module for module in modules})
        sys.modules["cupy"] = self.cupy

    def launches(self) -> int:
        """Return how many kernels the machine's streams were given so far."""
        return int(self.machine.counts.launches)
