"""`mx.context`, which MXNet 2.0 calls `mx.device`: devices by name, and their number."""

from gluonish.core.context import Context, cpu, cpu_pinned, current_context, gpu
from gluonish.core.device import gpu_count, gpu_memory

__all__ = [
    "Context",
    "Device",
    "cpu",
    "cpu_pinned",
    "current_context",
    "current_device",
    "gpu",
    "gpu_memory_info",
    "num_gpus",
]

# The names of MXNet 2.0.
Device = Context
current_device = current_context


def num_gpus() -> int:
    """Return the number of CUDA devices that CuPy finds; 0 without CuPy."""
    return gpu_count()


def gpu_memory_info(device_id: int = 0) -> tuple[int, int]:
    """Return the free and the total memory of a GPU, in bytes.

    Args:
        device_id: Index of the device, from 0.

    Raises:
        DeviceError: CuPy is not installed, or there is no such device.
    """
    return gpu_memory(device_id)
