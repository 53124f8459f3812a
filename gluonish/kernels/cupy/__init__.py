"""The CuPy back end: GPU contexts on streams, and kernels that CuPy lacks or that are faster."""

from gluonish.kernels.cupy.device import GPUDevice
from gluonish.kernels.cupy.stream import DeviceStream
from gluonish.kernels.cupy.support import CuPySupport

__all__ = ["CuPySupport", "DeviceStream", "GPUDevice"]
