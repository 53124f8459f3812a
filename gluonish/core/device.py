"""Devices: how arrays are allocated, filled and copied where a context points.

Every context has one `Device`, found by `device_of`. The CPU's arrays are NumPy's; a GPU's are
CuPy's and its module is imported at the first use of a ``gpu`` context.
"""

from types import ModuleType
from typing import Any, Protocol

import numpy as np

from gluonish.core.context import Context
from gluonish.core.errors import DeviceError
from gluonish.core.spec import Shape

__all__ = [
    "CPUDevice",
    "Device",
    "GPUSupport",
    "device_of",
    "gpu_count",
    "gpu_memory",
    "register_gpu_support",
]


class Device(Protocol):
    """Memory and array library of one context.

    Attributes:
        context: The context.
        xp: NumPy or CuPy; kernels are written for either.
        xp_name: ``"numpy"`` or ``"cupy"``.
        lane: Engine lane of its compute work.
        copy_lane: Engine lane of copies that end here.
    """

    context: Context
    xp: ModuleType
    xp_name: str
    lane: tuple[str, int, str]
    copy_lane: tuple[str, int, str]

    def empty(self, shape: Shape, dtype: np.dtype[Any]) -> Any:
        """Return an array of undefined values here."""

    def from_host(self, source: np.ndarray[Any, Any], out: Any) -> None:
        """Copy a host array into ``out``, which lies here, converting its dtype."""

    def to_host(self, source: Any) -> np.ndarray[Any, Any]:
        """Return a copy on the host of an array that lies here."""


class CPUDevice:
    """A CPU context: NumPy arrays in ordinary memory."""

    __slots__ = ("context", "copy_lane", "lane", "xp", "xp_name")

    def __init__(self, context: Context) -> None:
        self.context = context
        self.xp: ModuleType = np
        self.xp_name = "numpy"
        self.lane = ("cpu", context.device_id, "compute")
        self.copy_lane = ("cpu", context.device_id, "copy")

    def empty(self, shape: Shape, dtype: np.dtype[Any]) -> Any:
        """Return an array of undefined values."""
        return np.empty(shape, dtype)

    def from_host(self, source: np.ndarray[Any, Any], out: Any) -> None:
        """Copy ``source`` into ``out``, converting its dtype."""
        np.copyto(out, source, casting="unsafe")

    def to_host(self, source: Any) -> np.ndarray[Any, Any]:
        """Return a copy of ``source``."""
        return np.array(source, order="C")


_devices: dict[Context, Device] = {}


def device_of(context: Context) -> Device:
    """Return the device of a context, making it at the first use.

    Raises:
        DeviceError: if a GPU is asked for and CuPy or the device is missing; the message says what
            to install.
    """
    found = _devices.get(context)
    if found is None:
        found = _make_device(context)
        found = _devices.setdefault(context, found)
    return found


class GPUSupport(Protocol):
    """What the CuPy back end offers; it lies in a layer above and registers itself."""

    def make_device(self, context: Context) -> Device:
        """Return the device of a GPU context."""

    def count(self) -> int:
        """Return how many GPUs there are, 0 without CuPy."""

    def memory(self, device_id: int) -> tuple[int, int]:
        """Return free and total memory in bytes."""


_gpu_support: list[GPUSupport] = []


def register_gpu_support(support: GPUSupport) -> None:
    """Make a back end known that serves ``gpu`` contexts."""
    _gpu_support[:] = [support]


def _support() -> GPUSupport:
    if not _gpu_support:
        raise DeviceError(
            "gpu: expected the CuPy back end, got none registered; import gluonish.ndarray"
        )
    return _gpu_support[0]


def gpu_count() -> int:
    """Return how many GPUs there are, 0 without CuPy."""
    return _support().count() if _gpu_support else 0


def gpu_memory(device_id: int) -> tuple[int, int]:
    """Return free and total memory of a GPU, in bytes.

    Raises:
        DeviceError: if CuPy or the device is missing.
    """
    return _support().memory(device_id)


def _make_device(context: Context) -> Device:
    return _support().make_device(context) if context.is_gpu else CPUDevice(context)
